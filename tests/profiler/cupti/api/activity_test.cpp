#include "profiler/cupti/api/activity.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <optional>
#include <utility>
#include <variant>

#include "profiler/cupti/activity_join.h"
#include "profiler/cupti/recorder_sink.h"
#include "tests/profiler/cupti/activity_records.h"

namespace shardlens::profiler::cupti {
namespace {

// As CUPTI does it: the record somewhere in a buffer of bytes, at no particular alignment.
template <typename Record>
std::optional<Activity> decode_misaligned(const Record& record) {
  alignas(16) std::array<std::uint8_t, sizeof(Record) + 8> buffer{};
  std::memcpy(buffer.data() + 8, &record, sizeof record);
  return decode(*reinterpret_cast<const CUpti_Activity*>(buffer.data() + 8));
}

template <typename Decoded, typename Record>
Decoded decoded_as(const Record& record) {
  return std::get<Decoded>(decode_misaligned(record).value());
}

TEST(CuptiActivity, DecodesAKernel) {
  const auto kernel = decoded_as<KernelActivity>(kernel_record(42, "_Z1fIiEvPT_"));
  EXPECT_EQ(kernel.stream, (StreamKey{1, 2, 7}));
  EXPECT_EQ(kernel.start_ns, 1'000);
  EXPECT_EQ(kernel.end_ns, 1'500);
  EXPECT_EQ(kernel.correlation, 42u);
  EXPECT_EQ(readable_name(kernel.name), "void f<int>(int*)");
}

TEST(CuptiActivity, NamesAKernelThatHasNoName) {
  EXPECT_EQ(decoded_as<KernelActivity>(kernel_record(1, nullptr)).name, "kernel");
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
  const auto decoded = decoded_as<CopyActivity>(copy);
  EXPECT_EQ(decoded.name, "copy host to device");
  EXPECT_EQ(decoded.bytes, 4096);
  EXPECT_EQ(decoded.correlation, 9u);
  EXPECT_EQ(decoded.stream.stream, 3u);

  CUpti_ActivityMemcpyPtoP4 peer{};
  peer.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  peer.bytes = 8;
  peer.start = 1;
  peer.end = 2;
  EXPECT_EQ(decoded_as<CopyActivity>(peer).name, "copy peer to peer");

  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.bytes = 16;
  memset.start = 1;
  memset.end = 5;
  const auto set = decoded_as<CopyActivity>(memset);
  EXPECT_EQ(set.name, "set memory");
  EXPECT_EQ(set.bytes, 16);
  EXPECT_EQ(set.end_ns, 5);
}

TEST(CuptiActivity, DecodesLaunchesThroughTheDriverAndTheRuntime) {
  struct Call {
    CUpti_ActivityKind kind;
    CUpti_CallbackId id;
    const char* name;
  };
  for (const Call& call :
       {Call{CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
             "cuLaunchKernelEx"},
        Call{CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000,
             "cudaLaunchKernel"}}) {
    CUpti_ActivityAPI api{};
    api.kind = call.kind;
    api.cbid = call.id;
    api.start = 5;
    api.end = 8;
    api.threadId = 99;
    api.correlationId = 42;
    const auto launch = decoded_as<LaunchActivity>(api);
    EXPECT_EQ(launch.name, call.name);
    EXPECT_EQ(launch.thread, 99u);
    EXPECT_EQ(launch.correlation, 42u);
    EXPECT_TRUE(is_known(call.kind));
  }
}

TEST(CuptiActivity, DecodesAnExternalId) {
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalKind = kLaunchCorrelation;
  external.externalId = 1'234'567'890'123;
  external.correlationId = 42;
  const auto id = decoded_as<ExternalActivity>(external);
  EXPECT_EQ(id.external_id, 1'234'567'890'123u);
  EXPECT_EQ(id.correlation, 42u);
}

TEST(CuptiActivity, DecodesWaitsOfTheHostButNotOfStreams) {
  const auto wait = decoded_as<WaitActivity>(
      wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE, 7, 10, 30));
  EXPECT_EQ(wait.name, "cuEventSynchronize");
  EXPECT_EQ(wait.stream, 7u);
  EXPECT_EQ(wait.end_ns, 30);
  const auto all = wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
                               CUPTI_SYNCHRONIZATION_INVALID_VALUE, 10, 30);
  EXPECT_EQ(decoded_as<WaitActivity>(all).stream, WaitActivity::kNoStream);
  EXPECT_FALSE(decode_misaligned(
      wait_record(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT, 7, 10, 30)));
  EXPECT_TRUE(is_known(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) << "left out on purpose";
}

TEST(CuptiActivity, LeavesOutKindsThatAreNotRecorded) {
  CUpti_Activity record{};
  record.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  EXPECT_FALSE(decode(record));
  EXPECT_FALSE(is_known(record.kind));
}

}  // namespace
}  // namespace shardlens::profiler::cupti
