#include "trainer/comm/communicator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <string>

#include "tests/trainer/comm/rank_threads.h"

namespace shardlens::trainer::comm {
namespace {

using testing::HasSubstr;
using trace::model::CollectiveFunction;
using trace::model::TagKind;

CollectiveTag named(const char* name) { return {TagKind::kNamed, -1, name}; }

float rank_value(const Communicator& communicator) {
  return static_cast<float>(communicator.rank() + 1);
}

TEST(Communicator, ReducesOverAllRanks) {
  on_ranks(2, [](Communicator& communicator, profiler::recorder::Recorder&) {
    auto sum = torch::full({1000}, rank_value(communicator));
    auto most = torch::full({1}, rank_value(communicator));
    const auto first = communicator.all_reduce(sum, bucket_tag(0));
    const auto second = communicator.all_reduce(most, named("stop"), c10d::ReduceOp::MAX);
    first->wait();
    second->wait();
    EXPECT_TRUE(torch::equal(sum, torch::full({1000}, 3.f)));
    EXPECT_EQ(most.item<float>(), 2.f);
  });
}

TEST(Communicator, BroadcastsAndGathers) {
  on_ranks(2, [](Communicator& communicator, profiler::recorder::Recorder&) {
    auto value = torch::full({3}, rank_value(communicator));
    communicator.broadcast(value, 1, named("value"))->wait();
    EXPECT_TRUE(torch::equal(value, torch::full({3}, 2.f)));
    auto all = torch::zeros({2});
    communicator.all_gather(all, torch::full({1}, rank_value(communicator)), named("all"))->wait();
    EXPECT_TRUE(torch::equal(all, torch::tensor({1.f, 2.f})));
    communicator.barrier(named("end"));
  });
}

TEST(Communicator, WorksWithASingleRankInNoTime) {
  const auto recordings =
      on_ranks(1, [](Communicator& communicator, profiler::recorder::Recorder&) {
        auto sum = torch::ones({4});
        communicator.all_reduce(sum, bucket_tag(0))->wait();
        communicator.barrier(named("end"));
        EXPECT_TRUE(torch::equal(sum, torch::ones({4})));
      });
  const auto& rows = recordings.at(0).rows.collectives;
  ASSERT_EQ(rows.size(), 2u);
  for (const auto& row : rows) EXPECT_EQ(row.end_ns, row.start_ns);
}

// Else what is freed next, and with it a step's highest memory, would depend on the machine's load.
TEST(Communicator, NobodyHoldsTensorsOfACollectiveThatWasWaitedFor) {
  on_ranks(2, [](Communicator& communicator, profiler::recorder::Recorder&) {
    for (int i = 0; i < 3000; ++i) {
      const torch::Tensor sent = torch::ones({1});
      communicator.broadcast(sent, 0, bucket_tag(0))->wait();
      ASSERT_EQ(sent.use_count(), 1u) << "in round " << i;
      communicator.all_reduce(sent, bucket_tag(0))->wait();
      ASSERT_EQ(sent.use_count(), 1u) << "in round " << i;
    }
  });
}

TEST(Communicator, HandsItsResultToFutures) {
  on_ranks(2, [](Communicator& communicator, profiler::recorder::Recorder&) {
    auto sum = torch::ones({8});
    const auto doubled =
        communicator.all_reduce(sum, bucket_tag(0))
            ->getFuture()
            ->then([](c10::ivalue::Future& f) { return f.value().toTensorVector()[0] * 2; },
                   c10::TensorType::get());
    doubled->wait();
    EXPECT_TRUE(torch::equal(doubled->value().toTensor(), torch::full({8}, 4.f)));
  });
}

TEST(Communicator, RecordsEveryCollectiveWithWhatItIs) {
  const auto recordings =
      on_ranks(2, [](Communicator& communicator, profiler::recorder::Recorder&) {
        communicator.all_reduce(torch::ones({256}), bucket_tag(7))->wait();
        communicator
            .all_gather(torch::zeros({2}, torch::kInt64), torch::ones({1}, torch::kInt64),
                        named("counts"))
            ->wait();
        communicator.set_default_tag(named("from elsewhere"));
        std::vector<torch::Tensor> tensors{torch::ones({4}, torch::kBFloat16)};
        communicator.process_group()->allreduce(tensors)->wait();
      });
  for (const Recording& recording : recordings) {
    const auto& rows = recording.rows.collectives;
    ASSERT_EQ(rows.size(), 3u);
    EXPECT_EQ(rows[0].function, CollectiveFunction::kAllReduce);
    EXPECT_EQ(rows[0].bytes, 1024);
    EXPECT_EQ(rows[0].tag_kind, TagKind::kBucket);
    EXPECT_EQ(rows[0].tag_index, 7);
    EXPECT_EQ(recording.text(rows[0].data_type), "float32");
    EXPECT_EQ(rows[1].function, CollectiveFunction::kAllGather);
    EXPECT_EQ(rows[1].bytes, 16) << "the total over ranks";
    EXPECT_EQ(recording.text(rows[1].tag_name), "counts");
    EXPECT_EQ(recording.text(rows[2].tag_name), "from elsewhere");
    EXPECT_EQ(recording.text(rows[2].data_type), "bfloat16");
    for (std::size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].sequence, static_cast<std::int64_t>(i));
      EXPECT_LE(rows[i].enqueued_ns, rows[i].start_ns);
      EXPECT_LT(rows[i].start_ns, rows[i].end_ns);
    }
    ASSERT_EQ(recording.rows.process_groups.size(), 1u);
    EXPECT_EQ(recording.text(recording.rows.process_groups[0].backend), "gloo");
    EXPECT_EQ(recording.rows.process_groups[0].ranks, (std::vector<int>{0, 1}));
  }
}

int free_port() {
  const int handle = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  EXPECT_EQ(bind(handle, reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(getsockname(handle, reinterpret_cast<sockaddr*>(&address), &size), 0);
  close(handle);
  return ntohs(address.sin_port);
}

TEST(Communicator, MeetsAtATcpStoreWithoutAFile) {
  CommunicatorOptions options;
  options.master_address = "127.0.0.1";
  options.master_port = free_port();
  on_ranks(
      2,
      [](Communicator& communicator, profiler::recorder::Recorder&) {
        auto sum = torch::ones({4});
        communicator.all_reduce(sum, bucket_tag(0))->wait();
        EXPECT_TRUE(torch::equal(sum, torch::full({4}, 2.f)));
      },
      options);
}

int patient_threads() {
  int count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    count += sched_getscheduler(std::stoi(thread.path().filename())) == SCHED_BATCH ? 1 : 0;
  }
  return count;
}

// The threads that serve connections; who trains, and Gloo's others, stay as they are.
TEST(Communicator, HasGloosConnectionsServedByThreadsThatPreemptNobody) {
  std::atomic<int> patient{0};
  on_ranks(2, [&](Communicator& communicator, profiler::recorder::Recorder&) {
    communicator.barrier(named("alignment"));
    if (communicator.rank() == 0) patient = patient_threads();
    communicator.barrier(named("alignment"));
    EXPECT_EQ(sched_getscheduler(0), SCHED_OTHER);
  });
  EXPECT_EQ(patient, 2);
}

TEST(Communicator, SaysWhereItCouldNotMeetTheOthers) {
  profiler::RecordedRun run;
  CommunicatorOptions options;
  options.world_size = 2;
  options.store_file = "/no/such/folder/store";
  const auto communicator = Communicator::connect(options, run.recorder());
  ASSERT_FALSE(communicator);
  EXPECT_THAT(communicator.error().message, HasSubstr("/no/such/folder/store"));
}

TEST(Communicator, RefusesASimulatedLinkBetweenMachines) {
  profiler::RecordedRun run;
  CommunicatorOptions options;
  options.single_machine = false;
  options.simulated_link = trace::job::SimulatedLink{10, 1};
  const auto communicator = Communicator::connect(options, run.recorder());
  ASSERT_FALSE(communicator);
  EXPECT_THAT(communicator.error().message, HasSubstr("one machine only"));
}

TEST(Communicator, RefusesASimulatedLinkOnAGpu) {
  profiler::RecordedRun run;
  CommunicatorOptions options;
  options.device = torch::Device(torch::kCUDA, 0);
  options.simulated_link = trace::job::SimulatedLink{10, 1};
  const auto communicator = Communicator::connect(options, run.recorder());
  ASSERT_FALSE(communicator);
  EXPECT_EQ(communicator.error().kind, trace::base::ErrorKind::kUsage);
}

}  // namespace
}  // namespace shardlens::trainer::comm
