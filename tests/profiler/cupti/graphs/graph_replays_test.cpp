#include "profiler/cupti/graphs/graph_replays.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "tests/profiler/cupti/fake_sink.h"

namespace shardlens::profiler::cupti {
namespace {

using Numbers = std::vector<std::pair<std::uint64_t, std::int64_t>>;

KernelActivity replayed(std::uint32_t correlation, std::int64_t start_ns) {
  return {{0, 1, 7}, start_ns, start_ns + 5, correlation, 9, "ncclDevKernel"};
}

CapturedLaunch launch(std::uint64_t launch) { return {launch, 5}; }

// Launch and number of each, in the order in which they were handed out.
Numbers numbers_of(const FakeSink& sink) {
  Numbers numbers;
  for (const ReplayedKernel& replay : sink.replayed)
    numbers.emplace_back(replay.launch, replay.number);
  return numbers;
}

void settle(GraphReplays& replays) {
  replays.settle();
  replays.settle();
}

TEST(GraphReplays, AreCountedForEachLaunchByItself) {
  FakeSink sink;
  GraphReplays replays(sink);
  for (std::uint32_t call = 0; call < 2; ++call) {
    replays.add(launch(11), replayed(100 + call, 1'000 + 100 * call));
    replays.add(launch(22), replayed(100 + call, 1'050 + 100 * call));
  }
  replays.add(launch(22), replayed(102, 1'300));
  replays.settle();
  EXPECT_TRUE(sink.replayed.empty()) << "an earlier one may come with the next flush";
  replays.settle();
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {22, 0}, {11, 1}, {22, 1}, {22, 2}}));
  EXPECT_EQ(replays.waiting(), 0u);
}

TEST(GraphReplays, KnowTheCallThatMadeThem) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(LaunchActivity{5, 400, 450, 100, "cudaGraphLaunch"});
  replays.add(launch(11), replayed(100, 1'000));
  replays.add(launch(11), replayed(101, 2'000));
  replays.add(LaunchActivity{5, 2'400, 2'450, 102, "cudaGraphLaunch"});
  settle(replays);
  ASSERT_EQ(sink.replayed.size(), 2u);
  EXPECT_EQ(sink.replayed[0].called_ns, 400);
  EXPECT_EQ(sink.replayed[1].called_ns, 2'000) << "the kernel's, where its call was not recorded";
}

// A call that has not returned while its kernels ran is recorded flushes after them.
TEST(GraphReplays, WaitForTheCallThatMadeThem) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(LaunchActivity{5, 400, 450, 100, "cudaGraphLaunch"});
  replays.add(launch(11), replayed(100, 1'000));
  replays.add(launch(11), replayed(101, 2'000));
  replays.add(launch(11), replayed(102, 3'000));
  for (int flush = 0; flush < 5; ++flush) replays.settle();
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}}));
  replays.add(LaunchActivity{5, 1'400, 5'450, 101, "cudaGraphLaunch"});
  replays.settle();
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {11, 1}}));
  EXPECT_EQ(sink.replayed[1].called_ns, 1'400);
  for (int flush = 0; flush < GraphReplays::kMostFlushes; ++flush) replays.settle();
  ASSERT_EQ(numbers_of(sink), (Numbers{{11, 0}, {11, 1}, {11, 2}})) << "its call never came";
  EXPECT_EQ(sink.replayed[2].called_ns, 3'000);
  replays.add(launch(11), replayed(103, 4'000));
  settle(replays);
  EXPECT_EQ(sink.replayed.size(), 4u) << "nor will those of others";
}

TEST(GraphReplays, AreNumberedInTheOrderOfTheirCallsWhateverOrderTheyComeIn) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(launch(11), replayed(102, 3'000));
  replays.add(launch(11), replayed(100, 1'000));
  replays.settle();
  replays.add(launch(11), replayed(101, 2'000));  // a flush later
  replays.add(launch(11), replayed(103, 4'000));
  replays.settle();
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {11, 1}, {11, 2}}));
  EXPECT_EQ(replays.waiting(), 1u);
  replays.settle(/*is_last=*/true);
  EXPECT_EQ(numbers_of(sink).back(), (std::pair<std::uint64_t, std::int64_t>{11, 3}));
}

// A rank that has not seen one replay would else compare all later ones with the wrong ones of
// others.
TEST(GraphReplays, HaveNoNumberOnceRecordsWereLost) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(launch(11), replayed(100, 1'000));
  replays.settle();
  replays.note_loss();  // found out after the flush that brought the first
  replays.add(launch(11), replayed(102, 3'000));
  settle(replays);
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, -1}, {11, -1}}));
}

TEST(GraphReplays, HaveNoNumberOnceOneComesTooLate) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(launch(11), replayed(101, 2'000));
  replays.add(launch(22), replayed(101, 2'100));
  settle(replays);
  replays.add(launch(11), replayed(100, 1'000));
  replays.add(launch(11), replayed(102, 3'000));
  replays.add(launch(22), replayed(102, 3'100));
  settle(replays);
  replays.add({33, 6}, replayed(103, 4'000));
  settle(replays);
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {22, 0}, {11, -1}, {11, -1}, {22, -1}, {33, 0}}))
      << "of the same order, none is sure; another is";
}

// However the captures went: a rank may have captured more that never ran.
TEST(GraphReplays, LaunchesHaveTheirPlacesInTheOrderInWhichTheyRanFirst) {
  FakeSink sink;
  GraphReplays replays(sink);
  const std::pair<std::uint64_t, std::uint64_t> launches[] = {{77, 5}, {11, 5}, {44, 6},
                                                              {77, 5}, {22, 0}, {33, 5}};
  std::uint32_t call = 100;
  for (const auto& [launch, order] : launches) {
    replays.add({launch, order}, replayed(call, 10 * call));
    ++call;
  }
  settle(replays);
  Numbers places;
  for (const ReplayedKernel& replay : sink.replayed)
    places.emplace_back(replay.launch, replay.place);
  EXPECT_EQ(places, (Numbers{{77, 0}, {11, 1}, {44, 0}, {77, 0}, {22, -1}, {33, 2}}));
}

TEST(GraphReplays, HaveNoNumberOnceALaunchMayHaveNoCounterpart) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(launch(11), replayed(100, 1'000));
  replays.add({22, CapturedLaunch::kUnsure}, replayed(101, 2'000));
  replays.add(launch(11), replayed(102, 3'000));
  settle(replays);
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {22, -1}, {11, -1}}));
}

TEST(GraphReplays, OfOneCallTwoOfTheSameLaunchAreTwo) {
  FakeSink sink;
  GraphReplays replays(sink);
  replays.add(launch(11), replayed(100, 2'000));
  replays.add(launch(11), replayed(100, 1'000));
  settle(replays);
  EXPECT_EQ(numbers_of(sink), (Numbers{{11, 0}, {11, 1}}));
  EXPECT_EQ(sink.replayed[0].kernel.start_ns, 1'000);
}

}  // namespace
}  // namespace shardlens::profiler::cupti
