#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <chrono>
#include <thread>

#include "tests/trainer/comm/rank_threads.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::comm {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;

CommunicatorOptions with_timeout(seconds timeout) {
  CommunicatorOptions options;
  options.timeout = timeout;
  return options;
}

std::string reduce_and_catch(Communicator& communicator, int index) {
  return message_thrown_by([&] {
    auto tensor = torch::ones({64});
    communicator.all_reduce(tensor, bucket_tag(index))->wait();
  });
}

TEST(CommunicatorFailure, ARankThatDoesNotArriveIsNoticedAtTheTimeout) {
  std::barrier both_done(2);
  const auto recordings = on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        EXPECT_EQ(reduce_and_catch(communicator, 2), "");
        if (communicator.rank() == 0) {
          EXPECT_THAT(
              reduce_and_catch(communicator, 3),
              AllOf(HasSubstr("collective 1 (all_reduce of 256 bytes float32 for bucket 3)"),
                    HasSubstr("rank 0"), HasSubstr("within 1 s")));
        }
        both_done.arrive_and_wait();
      },
      with_timeout(seconds(1)));
  ASSERT_EQ(recordings[0].rows.collectives.size(), 1u) << "the failed one did not end";
  EXPECT_EQ(recordings[0].rows.collectives[0].tag_index, 2);
  ASSERT_TRUE(recordings[0].rows.pending.has_value());
  ASSERT_EQ(recordings[0].rows.pending->size(), 1u);
  EXPECT_EQ(recordings[0].rows.pending->front().tag_index, 3);
}

TEST(CommunicatorFailure, ASkippedCollectiveFailsOnEveryRank) {
  std::barrier both_done(2);
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        if (communicator.rank() == 1) {
          communicator.inject_next(trace::job::InjectedFault::kSkipCollective);
          EXPECT_EQ(reduce_and_catch(communicator, 0), "") << "left out without a word";
          EXPECT_THAT(reduce_and_catch(communicator, 1),
                      HasSubstr("collective 0 (all_reduce of 256 bytes float32 for bucket 1)"));
        } else {
          EXPECT_THAT(reduce_and_catch(communicator, 0),
                      HasSubstr("collective 0 (all_reduce of 256 bytes float32 for bucket 0)"));
        }
        both_done.arrive_and_wait();
      },
      with_timeout(seconds(1)));
}

TEST(CommunicatorFailure, UnequalSizesFailAndOverwriteNothing) {
  std::barrier both_done(2);
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        if (communicator.rank() == 1) {
          communicator.inject_next(trace::job::InjectedFault::kUnequalSize);
        }
        auto tensor = torch::ones({64});
        const auto message =
            message_thrown_by([&] { communicator.all_reduce(tensor, bucket_tag(0))->wait(); });
        EXPECT_THAT(message, HasSubstr(communicator.rank() == 1 ? "260 bytes" : "256 bytes"));
        EXPECT_TRUE(torch::equal(tensor, torch::ones({64})));
        both_done.arrive_and_wait();
      },
      with_timeout(seconds(1)));
}

// As sharded strategies ask for them, and DDP as it begins.
TEST(CommunicatorFailure, UnequalSizesFailWhateverIsAskedFor) {
  using Collective = void (*)(Communicator&, torch::Tensor all, torch::Tensor own);
  const std::pair<const char*, Collective> collectives[] = {
      {"all_gather",
       [](Communicator& communicator, torch::Tensor all, torch::Tensor own) {
         communicator.all_gather(all, own, bucket_tag(0))->wait();
       }},
      {"reduce_scatter",
       [](Communicator& communicator, torch::Tensor all, torch::Tensor own) {
         communicator.reduce_scatter(own, all, bucket_tag(0), c10d::ReduceOp::SUM)->wait();
       }},
      {"all_gather", [](Communicator& communicator, torch::Tensor all, torch::Tensor own) {
         std::vector<std::vector<torch::Tensor>> outputs{all.view({-1}).chunk(2)};
         std::vector<torch::Tensor> inputs{own};
         communicator.process_group()->allgather(outputs, inputs)->wait();
       }}};
  for (const auto& [name, start] : collectives) {
    std::barrier both_done(2);
    on_ranks(
        2,
        [&](Communicator& communicator, profiler::recorder::Recorder&) {
          if (communicator.rank() == 1)
            communicator.inject_next(trace::job::InjectedFault::kUnequalSize);
          const auto all = torch::ones({64}), own = torch::ones({32});
          const auto message = message_thrown_by([&] { start(communicator, all, own); });
          EXPECT_THAT(message,
                      AllOf(HasSubstr(name),
                            HasSubstr(communicator.rank() == 1 ? "264 bytes" : "256 bytes")));
          EXPECT_TRUE(torch::equal(communicator.rank() == 1 ? all : own,
                                   torch::ones({communicator.rank() == 1 ? 64 : 32})));
          both_done.arrive_and_wait();
        },
        with_timeout(seconds(1)));
  }
}

TEST(CommunicatorFailure, AFaultThatMeetsNoCollectiveIsSaid) {
  const auto recordings =
      on_ranks(2, [&](Communicator& communicator, profiler::recorder::Recorder&) {
        if (communicator.rank() == 1)
          communicator.inject_next(trace::job::InjectedFault::kUnequalSize);
        communicator.barrier(bucket_tag(0));  // has no size
      });
  EXPECT_TRUE(recordings[0].rows.log.empty());
  ASSERT_EQ(recordings[1].rows.log.size(), 1u);
  EXPECT_THAT(recordings[1].rows.log[0].text, HasSubstr("no collective came to show"));
}

TEST(CommunicatorFailure, CollectivesAfterAFailedOneFailAtOnce) {
  std::barrier both_done(2);
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        if (communicator.rank() == 0) {
          EXPECT_NE(reduce_and_catch(communicator, 0), "");
          const auto before = steady_clock::now();
          EXPECT_THAT(reduce_and_catch(communicator, 1),
                      AllOf(HasSubstr("bucket 1) was not started"), HasSubstr("bucket 0) failed")));
          EXPECT_LT(steady_clock::now() - before, seconds(2));
        }
        both_done.arrive_and_wait();
      },
      with_timeout(seconds(2)));
}

TEST(CommunicatorFailure, ARankThatLeavesIsNoticedBeforeTheTimeout) {
  const auto before = steady_clock::now();
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        EXPECT_EQ(reduce_and_catch(communicator, 0), "");
        if (communicator.rank() == 1) return;  // shuts down
        EXPECT_THAT(reduce_and_catch(communicator, 1), HasSubstr("closed its connection"));
      },
      with_timeout(seconds(300)));
  EXPECT_LT(steady_clock::now() - before, seconds(60));
}

TEST(CommunicatorFailure, ShutdownDoesNotWaitForARankThatNeverComes) {
  std::barrier both_done(2);
  const auto before = steady_clock::now();
  on_ranks(
      2,
      [&](Communicator& communicator, profiler::recorder::Recorder&) {
        if (communicator.rank() == 0) {
          auto tensor = torch::ones({64});
          const auto work = communicator.all_reduce(tensor, bucket_tag(0));
          communicator.shutdown();
          communicator.shutdown();
          EXPECT_NE(message_thrown_by([&] { work->wait(); }), "");
          EXPECT_THAT(reduce_and_catch(communicator, 1), HasSubstr("after the end"));
        }
        both_done.arrive_and_wait();
      },
      with_timeout(seconds(300)));
  EXPECT_LT(steady_clock::now() - before, seconds(60));
}

}  // namespace
}  // namespace shardlens::trainer::comm
