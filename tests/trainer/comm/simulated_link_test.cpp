#include <gtest/gtest.h>
#include <time.h>

#include <barrier>
#include <chrono>
#include <map>
#include <string>
#include <thread>

#include "tests/trainer/comm/rank_threads.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::comm {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// 0.08 Gbit/s = 10 bytes per µs.
CommunicatorOptions slow_link() {
  CommunicatorOptions options;
  options.simulated_link = trace::job::SimulatedLink{1000, 0.08};
  return options;
}
constexpr std::int64_t kValues = 500'000;  // 2 MB: 200 ms over the link with 2 ranks
constexpr milliseconds kTransfer{201};

double cpu_seconds_of_process() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

TEST(SimulatedLink, TakesAtLeastLatencyAndTrafficOverBandwidth) {
  const auto recordings = on_ranks(
      2,
      [](Communicator& communicator, profiler::recorder::Recorder&) {
        auto sum = torch::full({kValues}, 1.f + static_cast<float>(communicator.rank()));
        const auto before = steady_clock::now();
        communicator.all_reduce(sum, bucket_tag(0))->wait();
        const auto took = steady_clock::now() - before;
        EXPECT_GE(took, kTransfer);
        EXPECT_LT(took, 20 * kTransfer) << "it ends at all, and in the order of the formula";
        EXPECT_TRUE(torch::equal(sum, torch::full({kValues}, 3.f)));
      },
      slow_link());
  for (const Recording& recording : recordings) {
    ASSERT_EQ(recording.rows.collectives.size(), 1u);
    const trace::model::Collective& row = recording.rows.collectives[0];
    EXPECT_GE(row.end_ns - row.start_ns, std::chrono::nanoseconds(kTransfer).count());
    ASSERT_EQ(recording.rows.process_groups.size(), 1u);
    EXPECT_EQ(recording.text(recording.rows.process_groups[0].backend), "gloo, simulated link");
  }
}

TEST(SimulatedLink, CountsFromTheStartOfTheLastRank) {
  std::atomic<std::int64_t> late_start{0};
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        auto sum = torch::ones({kValues});
        if (communicator.rank() == 1) {
          std::this_thread::sleep_for(milliseconds(150));
          late_start = steady_clock::now().time_since_epoch().count();
        }
        communicator.all_reduce(sum, bucket_tag(0))->wait();
        const auto end = steady_clock::now().time_since_epoch();
        EXPECT_GE(end.count() - late_start.load(), std::chrono::nanoseconds(kTransfer).count());
      },
      slow_link());
}

TEST(SimulatedLink, CarriesCollectivesOneAfterAnotherInOrder) {
  const auto recordings = on_ranks(
      2,
      [](Communicator& communicator, profiler::recorder::Recorder&) {
        std::vector<torch::Tensor> tensors;
        std::vector<c10::intrusive_ptr<c10d::Work>> works;
        const auto before = steady_clock::now();
        for (int i = 0; i < 3; ++i) {
          tensors.push_back(torch::full({kValues / 4}, static_cast<float>(i)));
          works.push_back(communicator.all_reduce(tensors.back(), bucket_tag(i)));
        }
        works.back()->wait();
        EXPECT_GE(steady_clock::now() - before, 3 * milliseconds(51));
        for (int i = 0; i < 3; ++i) {
          EXPECT_TRUE(works[static_cast<std::size_t>(i)]->isCompleted());
          EXPECT_EQ(tensors[static_cast<std::size_t>(i)][0].item<float>(),
                    2.f * static_cast<float>(i));
        }
      },
      slow_link());
  for (const Recording& recording : recordings) {
    const auto& rows = recording.rows.collectives;
    ASSERT_EQ(rows.size(), 3u);
    for (std::size_t i = 1; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].tag_index, static_cast<int>(i));
      EXPECT_GE(rows[i].start_ns, rows[i - 1].end_ns);
    }
  }
}

TEST(SimulatedLink, IsSharedByTheGroupsOfARank) {
  on_ranks(
      2,
      [](Communicator& world, profiler::recorder::Recorder&) {
        const auto other = world.create_group("gather", {0, 1});
        auto of_world = torch::ones({kValues});
        auto of_other = torch::ones({kValues});
        world.barrier({});
        const auto before = steady_clock::now();
        const auto first = world.all_reduce(of_world, bucket_tag(0));
        other->all_reduce(of_other, bucket_tag(1))->wait();
        first->wait();
        EXPECT_GE(steady_clock::now() - before, 2 * milliseconds(200) + milliseconds(1));
        EXPECT_EQ(of_other[0].item<float>(), 2.f);
        other->shutdown();
      },
      slow_link());
}

// Two nodes of two ranks. What the link carries of both pairs of replicas is 2 · 2 MB.
TEST(SimulatedLink, BetweenNodesIsPassedByWhoSpansThemAndSharedByThem) {
  CommunicatorOptions options = slow_link();
  options.simulated_link->nodes = 2;
  const auto recordings = on_ranks(
      4,
      [](Communicator& world, profiler::recorder::Recorder&) {
        const int rank = world.rank();
        const auto node = world.create_group("node", {rank / 2 * 2, rank / 2 * 2 + 1});
        const auto replicas = world.create_group("replicas", {rank % 2, rank % 2 + 2});
        auto sum = torch::ones({kValues});
        node->all_reduce(sum, bucket_tag(0))->wait();
        EXPECT_EQ(sum[0].item<float>(), 2.f);
        const auto before = steady_clock::now();
        replicas->all_reduce(sum, bucket_tag(1))->wait();
        EXPECT_GE(steady_clock::now() - before, 2 * milliseconds(200) + milliseconds(1));
        EXPECT_EQ(sum[0].item<float>(), 4.f);
        node->shutdown();
        replicas->shutdown();
      },
      options);
  for (const Recording& recording : recordings) {
    std::map<std::string, std::string> backends;
    for (const auto& group : recording.rows.process_groups) {
      backends[recording.text(group.name)] = recording.text(group.backend);
    }
    EXPECT_EQ(backends, (std::map<std::string, std::string>{{"world", "gloo, simulated link"},
                                                            {"node", "gloo"},
                                                            {"replicas", "gloo, simulated link"}}));
  }
}

TEST(SimulatedLink, BurnsNoProcessorAndLetsTheCallerCompute) {
  std::barrier together(2);
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        auto sum = torch::ones({4 * kValues});  // 0.8 s
        together.arrive_and_wait();
        const double cpu_before = cpu_seconds_of_process();
        const auto work = communicator.all_reduce(sum, bucket_tag(0));
        const auto computed = torch::ones({64, 64}).matmul(torch::ones({64, 64}));
        EXPECT_EQ(computed[0][0].item<float>(), 64.f);
        EXPECT_FALSE(work->isCompleted()) << "computation and transfer ran side by side";
        work->wait();
        EXPECT_LT(cpu_seconds_of_process() - cpu_before, 0.4) << "of at least 0.8 s";
        together.arrive_and_wait();
      },
      slow_link());
}

}  // namespace
}  // namespace shardlens::trainer::comm
