#include "trace/store/chunk/event_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

namespace shardlens::trace::store {
namespace {

bool parents_first(const model::Event& a, const model::Event& b) {
  return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.duration_ns > b.duration_ns;
}

// An operator with those that it calls, told at its end.
void tell(std::mt19937& random, int depth, std::int64_t& now, std::vector<model::Event>& events) {
  const std::int64_t start = now;
  if (depth > 0) {
    for (unsigned i = random() % 4; i > 0; --i) tell(random, depth - 1, now, events);
  }
  now += random() % 3;
  events.push_back({start, now - start, 1, 0, 0, 0});
}

void expect_ordered(std::vector<model::Event> events) {
  for (std::size_t i = 0; i < events.size(); ++i) events[i].correlation = i;
  std::vector<model::Event> sorted = events;
  std::ranges::stable_sort(sorted, parents_first);
  order_events(events, parents_first);
  ASSERT_EQ(events.size(), sorted.size());
  for (std::size_t i = 0; i < events.size(); ++i) {
    ASSERT_EQ(events[i].correlation, sorted[i].correlation) << "event " << i;
  }
}

TEST(EventOrder, IsThatOfAStableSortWhateverTheNesting) {
  std::mt19937 random(7);
  for (const int depth : {0, 1, 3, 6, 9}) {
    std::vector<model::Event> events;
    std::int64_t now = 0;
    for (int i = 0; i < 20; ++i) tell(random, depth, now, events);
    // And one that is very late.
    events.push_back({-5, 1, 1, 0, 0, 0});
    SCOPED_TRACE(depth);
    expect_ordered(std::move(events));
  }
}

TEST(EventOrder, IsThatOfAStableSortWhereAFewAreLateOrNoneIsInItsPlace) {
  std::mt19937 random(3);
  std::vector<model::Event> few_late, in_any_order;
  for (std::int64_t i = 0; i < 1000; ++i) {
    few_late.push_back({i % 100 == 99 ? i / 2 : i / 3 * 3, 3, 1, 0, 0, 0});
  }
  for (int i = 0; i < 3000; ++i) {
    in_any_order.push_back({static_cast<std::int64_t>(random() % 500), 3, 1, 0, 0, 0});
  }
  expect_ordered(std::move(few_late));
  expect_ordered(std::move(in_any_order));
}

TEST(EventOrder, ComparesLittleWhereChildrenComeBeforeTheirParents) {
  std::mt19937 random(7);
  std::vector<model::Event> events;
  std::int64_t now = 0;
  while (events.size() < 20'000) tell(random, 4, now, events);
  std::size_t compared = 0;
  order_events(events, [&](const model::Event& a, const model::Event& b) {
    ++compared;
    return parents_first(a, b);
  });
  EXPECT_LT(compared, 6 * events.size());
}

}  // namespace
}  // namespace shardlens::trace::store
