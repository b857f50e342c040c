#include "trace/store/chunk/recently_used.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace shardlens::trace::store {
namespace {

TEST(RecentlyUsed, DoesNotKeepWhatIsHeavierThanAll) {
  RecentlyUsed<int, int> kept(10);
  kept.keep(1, 1, 11);
  EXPECT_EQ(kept.use(1), nullptr);
  EXPECT_EQ(kept.weight(), 0u);
}

// Against a list that is looked through.
TEST(RecentlyUsed, HoldsWhatAPlainListWouldHold) {
  struct Plain {
    int key, value;
    std::size_t weight;
  };
  std::mt19937 random(4);
  RecentlyUsed<int, int> kept(20);
  std::vector<Plain> plain;  // the last used first
  const auto place = [&](int key) { return std::ranges::find(plain, key, &Plain::key); };
  for (int round = 0; round < 5'000; ++round) {
    const int key = static_cast<int>(random() % 12);
    const auto at = place(key);
    if (random() % 8 == 0) {
      kept.forget(key);
      if (at != plain.end()) plain.erase(at);
    } else if (random() % 2 == 0) {
      const std::size_t weight = 1 + random() % 6;
      kept.keep(key, round, weight);
      if (at != plain.end()) plain.erase(at);
      plain.insert(plain.begin(), {key, round, weight});
    } else {
      const int* value = kept.use(key);
      ASSERT_EQ(value != nullptr, at != plain.end());
      if (value != nullptr) {
        EXPECT_EQ(*value, at->value);
        std::rotate(plain.begin(), at, at + 1);
      }
    }
    const auto weight = [&] {
      std::size_t sum = 0;
      for (const Plain& each : plain) sum += each.weight;
      return sum;
    };
    while (weight() > 20) plain.pop_back();
    ASSERT_EQ(kept.weight(), weight());
  }
}

}  // namespace
}  // namespace shardlens::trace::store
