#include "tests/combinations/combinations.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <utility>

namespace shardlens::combinations {
namespace {

using testing::Contains;

constexpr std::int64_t kSmallestUnits[] = {1, 1700};

trace::job::Settings base() {
  trace::job::Settings settings;
  settings.device = trace::job::DeviceChoice::kCpu;
  return settings;
}

std::vector<Factor> few_factors() {
  return {
      {{"sharding_strategy=ddp", "sharding_strategy=no_shard", "sharding_strategy=full_shard"}},
      {{"backward_prefetch=pre", "backward_prefetch=post", "backward_prefetch=none"}},
      {{"reshard_after_forward=auto", "reshard_after_forward=true", "reshard_after_forward=false"}},
      {{"gradient_accumulation_steps=1", "gradient_accumulation_steps=2"}},
      {{"sync_each_batch=false", "sync_each_batch=true"}},
      {{"static_graph=false", "static_graph=true"}},
  };
}

std::vector<Combination> few(std::uint64_t seed, std::size_t count) {
  return pairwise_combinations(base(), few_factors(), seed, count);
}

std::vector<std::string> lines_of(const std::vector<Combination>& combinations) {
  std::vector<std::string> lines;
  for (const Combination& each : combinations) lines.push_back(each.line);
  return lines;
}

bool has(const trace::job::Settings& settings, const std::string& value) {
  const auto set = settings_of_line(settings, value);
  return set && *set == settings;
}

// Sixty are what a test can afford.
TEST(Combinations, OfAllKnobsOfTrainingAreValidAndNoMoreThanSixty) {
  const auto drawn = pairwise_combinations(base(), training_factors(kSmallestUnits), 1, 0);
  EXPECT_LE(drawn.size(), 60u);
  EXPECT_GE(drawn.size(), 35u) << "seven strategies times five ways to accumulate";
  for (const Combination& each : drawn) {
    const auto valid = trace::job::validate(each.settings);
    EXPECT_TRUE(valid) << each.line << "\n" << valid.error().message;
    EXPECT_EQ(*settings_of_line(base(), each.line), each.settings) << each.line;
  }
}

TEST(Combinations, AreTheSameForTheSameSeedOnly) {
  EXPECT_EQ(lines_of(few(1, 0)), lines_of(few(1, 0)));
  EXPECT_NE(lines_of(few(1, 0)), lines_of(few(2, 0)));
}

TEST(Combinations, AreAsManyAsAskedAndNotTheSameAgain) {
  EXPECT_EQ(few(1, 3).size(), 3u);
  const auto many = lines_of(few(1, 40));
  EXPECT_EQ(many.size(), 40u);
  EXPECT_GT(std::set<std::string>(many.begin(), many.end()).size(), few(1, 0).size());
}

// Every pair of two small factors, found by trying all, is there, and no other.
TEST(Combinations, HaveEveryPairThatIsValidAndNoOther) {
  const std::vector<Factor> factors = few_factors();
  const auto drawn = pairwise_combinations(base(), factors, 5, 0);
  std::set<std::pair<std::string, std::string>> valid, found;
  std::function<void(std::size_t, trace::job::Settings)> try_all =
      [&](std::size_t factor, const trace::job::Settings& settings) {
        if (factor < factors.size()) {
          for (const std::string& value : factors[factor].values) {
            try_all(factor + 1, *settings_of_line(settings, value));
          }
          return;
        }
        if (!trace::job::validate(settings)) return;
        const auto obeyed = [&](const std::string& value) {
          return has(settings, value) &&
                 trace::job::applies(*trace::job::find_knob(value.substr(0, value.find('='))),
                                     settings.sharding_strategy);
        };
        const bool is_drawn = std::ranges::any_of(drawn, [&](const Combination& each) {
          return std::ranges::all_of(factors, [&](const Factor& one) {
            return std::ranges::all_of(one.values, [&](const std::string& value) {
              return !obeyed(value) || has(each.settings, value);
            });
          });
        });
        for (std::size_t f = 0; f < factors.size(); ++f) {
          for (std::size_t g = f + 1; g < factors.size(); ++g) {
            for (const std::string& one : factors[f].values) {
              for (const std::string& other : factors[g].values) {
                if (!obeyed(one) || !obeyed(other)) continue;
                valid.insert({one, other});
                if (is_drawn) found.insert({one, other});
              }
            }
          }
        }
      };
  try_all(0, base());
  EXPECT_EQ(found, valid);
  EXPECT_THAT(valid, Contains(std::pair<std::string, std::string>("backward_prefetch=post",
                                                                  "sync_each_batch=true")));
  EXPECT_LT(drawn.size(), 20u) << "of " << 3 * 3 * 3 * 2 * 2 * 2;
}

}  // namespace
}  // namespace shardlens::combinations
