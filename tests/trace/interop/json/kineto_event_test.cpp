#include "trace/interop/json/kineto_event.h"

#include <gtest/gtest.h>

#include <optional>

#include "trace/interop/json/json_events.h"

namespace shardlens::trace::interop {
namespace {

std::optional<KinetoEvent> parsed(const std::string& json) {
  const std::string padded = json + std::string(JsonEvents::kPadding, ' ');
  KinetoParser parser;
  KinetoEvent event;
  if (!parser.parse(std::string_view(padded).substr(0, json.size()), event)) return std::nullopt;
  return event;
}

TEST(MicrosecondsToNs, KeepsEveryDigit) {
  EXPECT_EQ(microseconds_to_ns("4458676522690.655"), 4458676522690655);
  EXPECT_EQ(microseconds_to_ns("1694128201436208"), 1694128201436208000);
  EXPECT_EQ(microseconds_to_ns("1623212388426902.5"), 1623212388426902500);
  EXPECT_EQ(microseconds_to_ns("0.0015"), 2);
  EXPECT_EQ(microseconds_to_ns("0.0004"), 0);
  EXPECT_EQ(microseconds_to_ns("-3.25"), -3250);
  EXPECT_EQ(microseconds_to_ns("1.5e3"), 1'500'000);
  EXPECT_EQ(microseconds_to_ns("none"), 0);
}

TEST(KinetoEvents, ReadAKernelOfACollective) {
  // clang-format off
  const auto event = parsed(
      R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllGather_RING_LL", "pid": 0, "tid": 7,
          "ts": 10.5, "dur": 21.953, "args": {"External id": 4802, "device": 1, "stream": 7,
          "correlation": 15270, "grid": [11, 1, 1], "Collective name": "_allgather_base",
          "In msg nelems": 25136, "Out msg nelems": 201088, "dtype": "BFloat16",
          "Process Group Name": "3", "Process Group Ranks": "[0, 1]"}})");
  // clang-format on
  ASSERT_TRUE(event);
  EXPECT_EQ(event->category, KinetoCategory::kKernel);
  EXPECT_EQ(event->name, "ncclDevKernel_AllGather_RING_LL");
  EXPECT_EQ(event->start_ns, 10'500);
  EXPECT_EQ(event->duration_ns, 21'953);
  EXPECT_EQ(event->device, 1);
  EXPECT_EQ(event->stream, 7);
  EXPECT_EQ(event->correlation, 15270u);
  EXPECT_EQ(event->collective, "_allgather_base");
  EXPECT_EQ(event->out_elements, 201088);
  EXPECT_EQ(event->data_type, "BFloat16");
  EXPECT_EQ(event->group, "3");
  EXPECT_EQ(event->group_ranks, "[0, 1]");
}

TEST(KinetoEvents, ReadWhatAnOperatorGathersIntoWhat) {
  const auto asked = [](const std::string& op, const std::string& sizes) {
    return *parsed(R"({"ph":"X","cat":"cpu_op","name":")" + op +
                   R"(","ts":1,"dur":1,"args":{"Input Dims":)" + sizes + "}}");
  };
  const auto gather = asked("c10d::_allgather_base_", "[[129000], [500, 129], [], [], []]");
  EXPECT_EQ(gather.out_elements, 129000);
  EXPECT_EQ(gather.in_elements, 64500);
  EXPECT_EQ(gather.input_elements, -1) << "of the one tensor";
  EXPECT_EQ(asked("c10d::_reduce_scatter_base_", "[[10], [20], []]").in_elements, 20);
  EXPECT_EQ(asked("c10d::_allgather_base_", "[[129000]]").out_elements, -1);
  EXPECT_EQ(asked("c10d::_allgather_base_", "[]").out_elements, -1);
  EXPECT_EQ(asked("c10d::_allgather_base_", "[[9999999999,9999999999],[1]]").out_elements, -1);
  EXPECT_EQ(asked("aten::add", "[[1000], [500]]").out_elements, -1);
  EXPECT_EQ(asked("c10d::alltoall_base_", "[[30], [20], [], [], []]").in_elements, 20);
}

TEST(KinetoEvents, ReadListsOfTensors) {
  const auto asked = [](const std::string& op, const std::string& sizes) {
    return *parsed(R"({"ph":"X","cat":"cpu_op","name":")" + op +
                   R"(","ts":1,"dur":1,"args":{"Input Dims":)" + sizes + "}}");
  };
  EXPECT_EQ(asked("c10d::allreduce_", "[[[34304]], [], []]").input_elements, 34304);
  EXPECT_EQ(asked("c10d::allreduce_", "[[[]], [], []]").input_elements, 1) << "a scalar";
  EXPECT_EQ(asked("c10d::allreduce_coalesced_", "[[[3], [4, 5]], [], []]").input_elements, 23);
  EXPECT_EQ(asked("c10d::allgather_", "[[], [[10]], [], [], []]").input_elements, 10);
  const auto gather =
      asked("c10d::allgather_into_tensor_coalesced_", "[[[6], [8]], [[3], [4]], [], []]");
  EXPECT_EQ(gather.out_elements, 14);
  EXPECT_EQ(gather.in_elements, 7);
  EXPECT_EQ(asked("gloo:all_reduce", "[[3], [4]]").input_elements, 7);
  EXPECT_EQ(asked("gloo:all_reduce", "[[]]").input_elements, 1);
  EXPECT_EQ(asked("gloo:send", "[[64, 512]]").input_elements, 32768);
  EXPECT_EQ(asked("gloo:scatter", "[]").input_elements, -1);
  EXPECT_EQ(asked("gloo:all_reduce", "[[9999999999,9999999999]]").input_elements, -1);
}

TEST(KinetoEvents, KnowTheNamesOf2021AndQuotedThreads) {
  const auto kernel = parsed(
      R"({"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":"stream 7","ts":5,"dur":1,"args":{}})");
  EXPECT_EQ(kernel->category, KinetoCategory::kKernel);
  EXPECT_EQ(kernel->thread, "stream 7");
  const auto memory = parsed(
      R"({"ph":"i","s":"t","name":"[memory]","pid":5,"tid":5,"ts":1,
          "args":{"Device Type":1,"Device Id":0,"Bytes":-512,"Total Allocated":4096}})");
  EXPECT_EQ(memory->category, KinetoCategory::kMemory);
  EXPECT_EQ(memory->bytes, -512);
  EXPECT_EQ(memory->total_allocated, 4096);
}

// PyTorch 1.8 to 1.10 have one category for operators and for what is marked.
TEST(KinetoEvents, TellMarksFromTheOperatorsOf2021) {
  const auto category = [](const std::string& name) {
    return parsed(R"({"ph":"X","cat":"Operator","name":")" + name +
                  R"(","pid":5,"tid":"5","ts":1,"dur":1,"args":{}})")
        ->category;
  };
  for (const auto* marked : {"ProfilerStep#5", "Optimizer.step#SGD.step", "nccl:all_reduce",
                             "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__",
                             "DistributedDataParallel.forward"}) {
    EXPECT_EQ(category(marked), KinetoCategory::kAnnotation) << marked;
  }
  for (const auto* called : {"aten::mm", "AddmmBackward", "c10d::allreduce_", "ncclish"}) {
    EXPECT_EQ(category(called), KinetoCategory::kOperator) << called;
  }
}

TEST(KinetoEvents, TellArrowsFromWhatIsNotUnderstood) {
  EXPECT_EQ(parsed(R"({"ph":"s","id":1,"cat":"ac2g","name":"ac2g","ts":1})")->category,
            KinetoCategory::kFlow);
  EXPECT_EQ(parsed(R"({"ph":"X","cat":"cuda_sync","name":"s","ts":1,"dur":1})")->category,
            KinetoCategory::kOther);
}

TEST(KinetoEvents, RefuseWhatIsNoEvent) {
  EXPECT_FALSE(parsed("{}"));
  EXPECT_FALSE(parsed(R"({"ph": })"));
  EXPECT_FALSE(parsed(R"({"ph":"X","args":7})"));
  const auto odd = parsed(R"({"ph":"X","cat":"kernel","name":"k","ts":"x","dur":-4,
                              "args":{"stream":"default","correlation":-1}})");
  ASSERT_TRUE(odd);
  EXPECT_EQ(odd->duration_ns, -1);
  EXPECT_EQ(odd->stream, -1);
}

}  // namespace
}  // namespace shardlens::trace::interop
