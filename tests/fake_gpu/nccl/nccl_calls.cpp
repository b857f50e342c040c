#include "tests/fake_gpu/nccl/nccl_calls.h"

#include <cstdlib>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

#include "tests/fake_gpu/cuda/capture.h"
#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cuda/memory.h"
#include "tests/fake_gpu/cupti/activity.h"

namespace shardlens::fake_gpu {

namespace abi = profiler::nccl;
using Profiled = ProfiledCommunicator;

namespace {

// As 18 links of NVLink 4, one way, if nothing else is asked for.
double bytes_per_ns() {
  constexpr double kNvLink = 300;
  static const char* const set = std::getenv("FAKE_GPU_LINK_GB_PER_S");
  static const double asked = set == nullptr ? 0 : std::atof(set);
  return asked > 0 ? asked : kNvLink;
}

const char* name_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
      return "ncclInt8";
    case ncclUint8:
      return "ncclUint8";
    case ncclInt32:
      return "ncclInt32";
    case ncclInt64:
      return "ncclInt64";
    case ncclFloat16:
      return "ncclFloat16";
    case ncclBfloat16:
      return "ncclBfloat16";
    case ncclFloat64:
      return "ncclFloat64";
    default:
      return "ncclFloat32";
  }
}

std::int64_t bytes_of(ncclDataType_t type) {
  switch (type) {
    case ncclInt8:
    case ncclUint8:
      return 1;
    case ncclFloat16:
    case ncclBfloat16:
      return 2;
    case ncclInt64:
    case ncclUint64:
    case ncclFloat64:
      return 8;
    default:
      return 4;
  }
}

struct Group {
  int depth = 0;
  std::vector<NcclCall> calls;
  void* told = nullptr;  // the plugin's handle, once a call was made
};
thread_local Group group;

void tell_of_group(const NcclCall& call) {
  if (group.told != nullptr) return;
  abi::Event event = Profiled::of_type(abi::kGroupCall);
  event.group_call = {is_capturing(stream_of(call.stream)), group.depth};
  group.told = call.communicator->profiled->start(event);
}

void tell_of_call(NcclCall& call) {
  Profiled& profiled = *call.communicator->profiled;
  const bool is_captured = is_capturing(stream_of(call.stream));
  abi::Event event =
      Profiled::of_type(call.is_point_to_point ? abi::kPointToPointCall : abi::kCollectiveCall);
  if (call.is_point_to_point) {
    event.point_to_point_call = {call.function.c_str(), call.count, name_of(call.type), call.stream,
                                 is_captured};
  } else {
    event.collective_call = {call.function.c_str(), call.count, name_of(call.type), 0,
                             call.stream,           is_captured};
  }
  call.handle = profiled.start(event);
  Profiled::stop(call.handle);
}

// How much of a rank's values the others see: all where there are few.
std::size_t payload_bytes(const NcclCall& call) {
  const std::size_t bytes = call.count * static_cast<std::size_t>(bytes_of(call.type));
  return call.send == nullptr || bytes > kMostKnownBytes ? 0 : bytes;
}

template <typename Value>
void add_up(std::vector<std::byte>& sums, const std::byte* addends) {
  for (std::size_t at = 0; at + sizeof(Value) <= sums.size(); at += sizeof(Value)) {
    Value sum, addend;
    std::memcpy(&sum, &sums[at], sizeof sum);
    std::memcpy(&addend, addends + at, sizeof addend);
    sum += addend;
    std::memcpy(&sums[at], &sum, sizeof sum);
  }
}

void add_up(ncclDataType_t type, std::vector<std::byte>& sums, const std::byte* addends) {
  if (type == ncclFloat32) add_up<float>(sums, addends);
  if (type == ncclInt32) add_up<std::int32_t>(sums, addends);
  if (type == ncclInt64) add_up<std::int64_t>(sums, addends);
}

// What every rank has afterwards, `bytes` having come from each.
std::vector<std::byte> result_of(const NcclCall& call, std::uint64_t number, std::size_t bytes) {
  const Rendezvous& ranks = *call.communicator->ranks;
  const auto payload = [&](int rank) { return ranks.payload_of(number, rank); };
  std::vector<std::byte> result(payload(call.root), payload(call.root) + bytes);
  for (int rank = 1; rank < ranks.ranks(); ++rank) {
    if (call.function == "AllReduce") add_up(call.type, result, payload(rank));
    if (call.function == "AllGather")
      result.insert(result.end(), payload(rank), payload(rank) + bytes);
  }
  return result;
}

// One run of the collective: all ranks are waited for.
Kernel::Entered enter_ranks(const NcclCall& call) {
  const std::uint64_t kind = std::hash<std::string>()(call.function) ^ (call.count << 8) ^
                             static_cast<std::uint64_t>(call.type);
  const std::size_t bytes_of_rank = payload_bytes(call);
  auto entered = call.communicator->ranks->enter(
      kind, [call, bytes_of_rank] { return read_values(call.send, bytes_of_rank); });
  Kernel::Entered run{std::move(entered.gate), nullptr};
  if (bytes_of_rank > 0) {
    run.effect = [call, number = entered.number, bytes_of_rank] {
      write_values(call.receive, result_of(call, number, bytes_of_rank));
    };
  }
  return run;
}

Kernel kernel_of(const NcclCall& call) {
  const double bytes = static_cast<double>(call.count) * static_cast<double>(bytes_of(call.type));
  Kernel kernel{call.kernel,
                transfer_ns(static_cast<std::int64_t>(bytes * call.parts), bytes_per_ns())};
  if (!call.is_point_to_point) kernel.enter = [call] { return enter_ranks(call); };
  return kernel;
}

// What the kernel was made to do; told after the launch, and always in bytes where nothing is added
// up.
void tell_of_work(const NcclCall& call) {
  Profiled& profiled = *call.communicator->profiled;
  if (call.is_point_to_point) {
    abi::Event event = Profiled::of_type(abi::kPointToPoint);
    event.parent = call.handle;
    event.point_to_point = {
        call.function.c_str(), nullptr, name_of(call.type), call.count, 0, 4, nullptr};
    Profiled::stop(profiled.start(event));
    return;
  }
  const bool adds_up = call.function.find("Reduce") != std::string::npos;
  abi::Event event = Profiled::of_type(abi::kCollective);
  event.parent = call.handle;
  event.collective = {
      call.communicator->sequences[call.function]++,
      call.function.c_str(),
      nullptr,
      nullptr,
      adds_up ? call.count : call.count * static_cast<std::size_t>(bytes_of(call.type)),
      0,
      adds_up ? name_of(call.type) : "ncclInt8",
      16,
      17,  // of 32 threads: 512 and one more
      "RING",
      "SIMPLE",
      nullptr};
  Profiled::stop(profiled.start(event));
}

// Whether NCCL's host takes part in what the GPU does, as it does across machines.
bool is_across_machines() {
  static const bool is_set = std::getenv("FAKE_GPU_NETWORK") != nullptr;
  return is_set;
}
// Then a captured call has a function of the host before its kernel. Later ones of the communicator
// have, too: in NCCL those during a replay, here all.
bool is_told_by_host_function(const NcclCall& call) {
  return is_across_machines() &&
         (call.communicator->was_captured || is_capturing(stream_of(call.stream)));
}

void launch(const NcclCall& call) {
  Profiled& profiled = *call.communicator->profiled;
  if (is_capturing(stream_of(call.stream))) call.communicator->was_captured = true;
  // CUDA has a thread of its own for such functions.
  if (is_told_by_host_function(call))
    launch_host(stream_of(call.stream), [call] { std::thread(tell_of_work, call).join(); });
  void* launch = profiled.start(Profiled::of_type(abi::kKernelLaunch));
  launch_kernel(stream_of(call.stream), kernel_of(call));
  Profiled::stop(launch);
}

// In NCCL's order: the group, calls, launches, the work, the group's end.
ncclResult_t carry_out(std::vector<NcclCall> calls) {
  for (const NcclCall& call : calls) launch(call);
  for (const NcclCall& call : calls)
    if (!is_told_by_host_function(call)) tell_of_work(call);
  Profiled::stop(std::exchange(group.told, nullptr));
  return ncclSuccess;
}

// A single rank's collective is a copy, of which a plugin is told nothing.
ncclResult_t copy_to_itself(const NcclCall& call) {
  const std::size_t bytes = call.count * static_cast<std::size_t>(bytes_of(call.type));
  if (call.send == call.receive || call.send == nullptr) return ncclSuccess;
  const auto kind = cudaMemcpyDeviceToDevice;
  return cudaMemcpyAsync(call.receive, call.send, bytes, kind, call.stream) == cudaSuccess
             ? ncclSuccess
             : ncclUnhandledCudaError;
}

}  // namespace

ncclResult_t enter(NcclCall call) {
  if (call.communicator->ranks->ranks() == 1) return copy_to_itself(call);
  tell_of_group(call);
  tell_of_call(call);
  if (group.depth > 0) {
    group.calls.push_back(std::move(call));
    return ncclSuccess;
  }
  return carry_out({std::move(call)});
}

void start_group() { ++group.depth; }

ncclResult_t end_group() {
  if (--group.depth > 0) return ncclSuccess;
  return carry_out(std::exchange(group.calls, {}));
}

}  // namespace shardlens::fake_gpu
