// Combinations of settings drawn by a seed, each against one process. In the environment:
// SHARDLENS_COMBINATIONS: how many (60; 1,000 take some minutes); SHARDLENS_COMBINATION_SEED: which
// (1); SHARDLENS_COMBINATION: this one alone, as a failure has printed it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "tests/combinations/combinations.h"
#include "tests/trainer/combinations/small_models.h"
#include "tests/trainer/combinations/trained_combination.h"

namespace shardlens::trainer {
namespace {

using combinations::Combination;
using combinations::Factor;

std::string wish(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

std::vector<Combination> wished_combinations(const std::string& seed) {
  const trace::job::Settings base = combination_base();
  if (const std::string line = wish("SHARDLENS_COMBINATION", ""); !line.empty()) {
    const auto settings = combinations::settings_of_line(base, line);
    EXPECT_TRUE(settings) << settings.error().message;
    return {{*settings, line}};
  }
  std::vector<Factor> factors = combinations::training_factors(smallest_units());
  Factor& models = factors.emplace_back();
  for (const std::string& name : SmallModels::names()) models.values.push_back("model=" + name);
  factors.push_back({{"data=builtin", std::string("data=") + kCompletions}});
  Factor& interruptions = factors.emplace_back(Factor{{"resume=none"}});
  for (const std::string who : {kAfterItself, kAfterOneProcess, kThenOneProcess}) {
    const std::string resumed = "save_every=2 resume=" + who;
    interruptions.values.push_back(resumed);
    interruptions.values.push_back(resumed + " checkpoint_format=sharded");
  }
  return combinations::pairwise_combinations(base, factors, std::stoull(seed),
                                             std::stoull(wish("SHARDLENS_COMBINATIONS", "60")));
}

std::string text_of(const std::vector<double>& losses) {
  std::string text;
  for (const double loss : losses) text += " " + std::to_string(loss);
  return text;
}

TEST(GeneratedTruth, EveryCombinationTrainsAsOneProcess) {
  const std::string seed = wish("SHARDLENS_COMBINATION_SEED", "1");
  const SmallModels models;
  std::map<std::string, Curve> expected;  // by what decides about it
  std::map<double, double> worst;         // by tolerance
  for (const Combination& each : wished_combinations(seed)) {
    SCOPED_TRACE("seed " + seed + ", again with SHARDLENS_COMBINATION=\"" + each.line + "\"");
    const trace::job::Settings one = in_one_process(each.settings);
    std::string key;
    for (const trace::job::Knob& knob : trace::job::knobs())
      key += trace::job::value_text(one, knob) + " ";
    auto reference = expected.find(key);
    if (reference == expected.end()) {
      reference = expected.emplace(key, train_combination(one, models)).first;
      ASSERT_EQ(reference->second.error, "");
      const auto [least, most] = std::ranges::minmax(reference->second.losses);
      ASSERT_GT(most - least, 1e-3) << "without learning nothing is compared";
    }
    const Curve curve = train_combination(each.settings, models);
    if (!curve.error.empty()) {
      ADD_FAILURE() << curve.error;
      continue;
    }
    const auto apart = difference(curve, reference->second);
    const double allowed = tolerance(each.settings);
    EXPECT_TRUE(apart && *apart <= allowed)
        << "losses" << text_of(curve.losses) << "\n one process"
        << text_of(reference->second.losses) << "\n evaluations" << text_of(curve.evaluations)
        << "\n one process" << text_of(reference->second.evaluations) << "\n apart "
        << apart.value_or(NAN) << ", allowed " << allowed;
    if (apart) worst[allowed] = std::max(worst[allowed], *apart);
  }
  for (const auto& [allowed, apart] : worst) {
    std::printf("allowed %.0e, worst difference %.1e\n", allowed, apart);
  }
  std::printf("%zu curves of one process\n", expected.size());
}

}  // namespace
}  // namespace shardlens::trainer
