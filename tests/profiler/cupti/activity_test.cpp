#include "profiler/cupti/activity.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "profiler/cupti/activity_join.h"
#include "profiler/cupti/recorder_sink.h"
#include "tests/profiler/cupti/activity_records.h"

namespace shardlens::profiler {
namespace {

// As CUPTI does it: the record somewhere in a buffer of bytes, at no particular alignment.
template <typename Record>
std::optional<Activity> decode_misaligned(const Record& record) {
  alignas(16) std::array<std::uint8_t, sizeof(Record) + 8> buffer{};
  std::memcpy(buffer.data() + 8, &record, sizeof record);
  return decode(*reinterpret_cast<const CUpti_Activity*>(buffer.data() + 8));
}

TEST(CuptiActivity, DecodesAKernel) {
  const auto activity = decode_misaligned(kernel_record(42, "_Z1fIiEvPT_"));
  ASSERT_TRUE(activity);
  const auto& kernel = std::get<KernelActivity>(*activity);
  EXPECT_EQ(kernel.stream, (StreamKey{1, 2, 7}));
  EXPECT_EQ(kernel.start_ns, 1'000);
  EXPECT_EQ(kernel.end_ns, 1'500);
  EXPECT_EQ(kernel.correlation, 42u);
  EXPECT_EQ(readable_name(kernel.name), "void f<int>(int*)");
}

TEST(CuptiActivity, NamesAKernelThatHasNoName) {
  const auto activity = decode_misaligned(kernel_record(1, nullptr));
  ASSERT_TRUE(activity);
  EXPECT_EQ(std::get<KernelActivity>(*activity).name, "kernel");
}

TEST(CuptiActivity, DecodesCopiesAndMemsets) {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.bytes = 4096;
  copy.start = 10;
  copy.end = 30;
  copy.streamId = 3;
  copy.correlationId = 9;
  const auto decoded = std::get<CopyActivity>(decode_misaligned(copy).value());
  EXPECT_EQ(decoded.name, "copy host to device");
  EXPECT_EQ(decoded.bytes, 4096);
  EXPECT_EQ(decoded.correlation, 9u);
  EXPECT_EQ(decoded.stream.stream, 3u);

  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.bytes = 8;
  peer.start = 1;
  peer.end = 2;
  EXPECT_EQ(std::get<CopyActivity>(decode_misaligned(peer).value()).name, "copy peer to peer");

  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.bytes = 16;
  memset.start = 1;
  memset.end = 5;
  const auto set = std::get<CopyActivity>(decode_misaligned(memset).value());
  EXPECT_EQ(set.name, "set memory");
  EXPECT_EQ(set.bytes, 16);
  EXPECT_EQ(set.end_ns, 5);
}

TEST(CuptiActivity, DecodesALaunchAnExternalIdAndOverhead) {
  CUpti_ActivityAPI api{};
  api.kind = CUPTI_ACTIVITY_KIND_DRIVER;
  api.cbid = CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx;
  api.start = 5;
  api.end = 8;
  api.threadId = 99;
  api.correlationId = 42;
  const auto launch = std::get<LaunchActivity>(decode_misaligned(api).value());
  EXPECT_EQ(launch.name, "cuLaunchKernelEx");
  EXPECT_EQ(launch.thread, 99u);
  EXPECT_EQ(launch.correlation, 42u);
  api.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  api.cbid = CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000;
  EXPECT_EQ(std::get<LaunchActivity>(decode_misaligned(api).value()).name, "cudaLaunchKernel");
  EXPECT_TRUE(is_known(api.kind));

  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalKind = kLaunchCorrelation;
  external.externalId = 1'234'567'890'123;
  external.correlationId = 42;
  const auto id = std::get<ExternalActivity>(decode_misaligned(external).value());
  EXPECT_EQ(id.external_id, 1'234'567'890'123u);
  EXPECT_EQ(id.correlation, 42u);

  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.start = 100;
  overhead.end = 160;
  EXPECT_EQ(std::get<OverheadActivity>(decode_misaligned(overhead).value()).end_ns, 160);
}

TEST(CuptiActivity, ChargesOnlyCuptisOwnWorkToTheRecording) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.start = 100;
  overhead.end = 160;
  for (const auto kind :
       {CUPTI_ACTIVITY_OVERHEAD_CUPTI_INSTRUMENTATION, CUPTI_ACTIVITY_OVERHEAD_CUPTI_RESOURCE,
        CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST}) {
    overhead.overheadKind = kind;
    EXPECT_TRUE(decode_misaligned(overhead)) << kind;
  }
  for (const auto kind :
       {CUPTI_ACTIVITY_OVERHEAD_DRIVER_COMPILER, CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING,
        CUPTI_ACTIVITY_OVERHEAD_RUNTIME_TRIGGERED_MODULE_LOADING,
        CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL}) {
    overhead.overheadKind = kind;
    EXPECT_FALSE(decode_misaligned(overhead)) << kind;
  }
}

TEST(CuptiActivity, KnowsWhoseOverheadItIs) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
  overhead.objectId.pt.threadId = 77;
  EXPECT_EQ(std::get<OverheadActivity>(decode_misaligned(overhead).value()).thread, 0u);
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  EXPECT_EQ(std::get<OverheadActivity>(decode_misaligned(overhead).value()).thread, 77u);
}

// "Client is responsible for freeing this memory": CUpti_ActivityOverhead3::overheadData.
TEST(CuptiActivity, TellsWhatARecordLeavesToBeFreed) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  int details = 0;
  overhead.overheadData = &details;
  EXPECT_EQ(left_to_free(reinterpret_cast<const CUpti_Activity&>(overhead)), nullptr)
      << "in CUDA 12.0 to 12.3 the record ends before it";
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_COMMAND_BUFFER_FULL;
  EXPECT_EQ(left_to_free(reinterpret_cast<const CUpti_Activity&>(overhead)), &details);
  overhead.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  EXPECT_EQ(left_to_free(reinterpret_cast<const CUpti_Activity&>(overhead)), nullptr);
}

TEST(CuptiActivity, DecodesWaitsOfTheHostButNotOfStreams) {
  const auto wait = std::get<WaitActivity>(
      decode_misaligned(
          wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 7, 10, 30))
          .value());
  EXPECT_EQ(wait.name, "cuEventSynchronize");
  EXPECT_EQ(wait.stream, 7u);
  EXPECT_EQ(wait.end_ns, 30);
  const auto all = wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                               CUPTI_SYNCHRONIZATION_INVALID_VALUE, 10, 30);
  EXPECT_EQ(std::get<WaitActivity>(decode_misaligned(all).value()).stream, WaitActivity::kNoStream);
  EXPECT_FALSE(decode_misaligned(
      wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 7, 10, 30)));
  EXPECT_TRUE(is_known(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) << "left out on purpose";
}

TEST(CuptiActivity, DecodesMarkersAndMemory) {
  const auto start = std::get<MarkerActivity>(
      decode_misaligned(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_START, 4, 10, "epoch", "lib"))
          .value());
  EXPECT_EQ(start.part, MarkerActivity::Part::kStart);
  EXPECT_EQ(start.id, 4u);
  EXPECT_EQ(start.thread, 77u);
  EXPECT_EQ(start.name, "epoch");
  EXPECT_EQ(start.domain, "lib");
  const auto end = std::get<MarkerActivity>(
      decode_misaligned(marker_record(CUPTI_ACTIVITY_FLAG_MARKER_END, 4, 20)).value());
  EXPECT_EQ(end.part, MarkerActivity::Part::kEnd);
  EXPECT_EQ(end.name, "");

  const auto release = std::get<MemoryActivity>(
      decode_misaligned(
          memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE, 0xabc, 4096, 55))
          .value());
  EXPECT_TRUE(release.is_release);
  EXPECT_EQ(release.address, 0xabcu);
  EXPECT_EQ(release.bytes, 4096);
  EXPECT_EQ(release.time_ns, 55);
  EXPECT_EQ(release.device, 1u);
  EXPECT_FALSE(
      decode_misaligned(memory_record(CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_INVALID, 1, 1, 1)));
}

TEST(CuptiActivity, LeavesOutKindsThatAreNotRecorded) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  EXPECT_FALSE(decode(record));
  EXPECT_FALSE(is_known(record.kind));
}

}  // namespace
}  // namespace shardlens::profiler
