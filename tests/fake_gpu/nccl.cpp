// NCCL as PyTorch calls it: collectives are kernels that wait for the other ranks and move nothing.
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "tests/fake_gpu/activity.h"
#include "tests/fake_gpu/counters.h"
#include "tests/fake_gpu/device.h"
#include "tests/fake_gpu/memory.h"
#include "tests/fake_gpu/nccl_profiler.h"
#include "tests/fake_gpu/rendezvous.h"

namespace fake = shardlens::fake_gpu;
namespace abi = shardlens::profiler::nccl;
using Profiled = fake::ProfiledCommunicator;

struct ncclComm {
  std::shared_ptr<fake::Rendezvous> ranks;
  std::unique_ptr<Profiled> profiled;
  int device = 0;
  int splits = 0;
  std::map<std::string, std::uint64_t> sequences;
};

namespace {

// 18 links of NVLink 4, one way.
constexpr double kBytesPerNs = 300;

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

struct Call {
  ncclComm_t communicator;
  std::string function;
  const char* kernel;
  std::size_t count;  // as the caller gave it
  ncclDataType_t type;
  double parts;  // how many times the count goes through a rank's link
  const void* send;
  void* receive;
  int root;
  cudaStream_t stream;
  bool is_point_to_point;
  void* handle = nullptr;  // the plugin's, of the call
};

struct Group {
  int depth = 0;
  std::vector<Call> calls;
};
thread_local Group group;

void tell_of_call(Call& call) {
  Profiled& profiled = *call.communicator->profiled;
  abi::Event event =
      Profiled::of_type(call.is_point_to_point ? abi::kPointToPointCall : abi::kCollectiveCall);
  if (call.is_point_to_point) {
    event.point_to_point_call = {call.function.c_str(), call.count, name_of(call.type), call.stream,
                                 false};
  } else {
    event.collective_call = {call.function.c_str(), call.count, name_of(call.type), 0,
                             call.stream,           false};
  }
  call.handle = profiled.start(event);
  Profiled::stop(call.handle);
}

// How much of a rank's values the others see: all where there are few.
std::size_t payload_bytes(const Call& call) {
  const std::size_t bytes = call.count * static_cast<std::size_t>(bytes_of(call.type));
  return call.send == nullptr || bytes > fake::kMostKnownBytes ? 0 : bytes;
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
std::vector<std::byte> result_of(const Call& call, std::uint64_t number, std::size_t bytes) {
  const fake::Rendezvous& ranks = *call.communicator->ranks;
  const auto payload = [&](int rank) { return ranks.payload_of(number, rank); };
  std::vector<std::byte> result(payload(call.root), payload(call.root) + bytes);
  for (int rank = 1; rank < ranks.ranks(); ++rank) {
    if (call.function == "AllReduce") add_up(call.type, result, payload(rank));
    if (call.function == "AllGather")
      result.insert(result.end(), payload(rank), payload(rank) + bytes);
  }
  return result;
}

fake::Kernel kernel_of(const Call& call) {
  const double bytes = static_cast<double>(call.count) * static_cast<double>(bytes_of(call.type));
  fake::Kernel kernel{
      call.kernel, fake::transfer_ns(static_cast<std::int64_t>(bytes * call.parts), kBytesPerNs)};
  if (call.is_point_to_point) return kernel;
  const std::uint64_t kind = std::hash<std::string>()(call.function) ^ (call.count << 8) ^
                             static_cast<std::uint64_t>(call.type);
  const std::size_t bytes_of_rank = payload_bytes(call);
  auto entered = call.communicator->ranks->enter(
      kind, [call, bytes_of_rank] { return fake::read_values(call.send, bytes_of_rank); });
  kernel.gate = std::move(entered.gate);
  if (bytes_of_rank > 0) {
    kernel.effect = [call, number = entered.number, bytes_of_rank] {
      fake::write_values(call.receive, result_of(call, number, bytes_of_rank));
    };
  }
  return kernel;
}

void launch(const Call& call) {
  Profiled& profiled = *call.communicator->profiled;
  void* launch = profiled.start(Profiled::of_type(abi::kKernelLaunch));
  fake::counters().collectives++;
  fake::launch_kernel(fake::stream_of(call.stream), kernel_of(call));
  Profiled::stop(launch);
}

// What the kernel was made to do; told after the launch, and always in bytes where nothing is added
// up.
void tell_of_work(const Call& call) {
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
      16,
      "RING",
      "SIMPLE",
      nullptr};
  Profiled::stop(profiled.start(event));
}

// In NCCL's order: calls, launches, the groups, the work.
ncclResult_t carry_out(std::vector<Call> calls) {
  for (const Call& call : calls) launch(call);
  for (const Call& call : calls) tell_of_work(call);
  return ncclSuccess;
}

// A single rank's collective is a copy, of which a plugin is told nothing.
ncclResult_t copy_to_itself(const Call& call) {
  const std::size_t bytes = call.count * static_cast<std::size_t>(bytes_of(call.type));
  if (call.send == call.receive || call.send == nullptr) return ncclSuccess;
  const auto kind = cudaMemcpyDeviceToDevice;
  return cudaMemcpyAsync(call.receive, call.send, bytes, kind, call.stream) == cudaSuccess
             ? ncclSuccess
             : ncclUnhandledCudaError;
}

ncclResult_t enter(Call call) {
  if (call.communicator->ranks->ranks() == 1) return copy_to_itself(call);
  tell_of_call(call);
  if (group.depth > 0) {
    group.calls.push_back(std::move(call));
    return ncclSuccess;
  }
  return carry_out({std::move(call)});
}

ncclResult_t create(ncclComm_t* communicator, std::uint64_t id, int ranks, int rank,
                    const ncclConfig_t* config) {
  auto joined = fake::Rendezvous::join(id, ranks, rank);
  if (joined == nullptr) return ncclSystemError;
  auto created = std::make_unique<ncclComm>();
  const char* name = config == nullptr ? nullptr : config->commName;
  created->profiled = std::make_unique<Profiled>(id, ranks, rank, name);
  created->ranks = std::move(joined);
  created->device = fake::current_device();
  *communicator = created.release();
  return ncclSuccess;
}

std::uint64_t number_of(const ncclUniqueId& id) {
  std::uint64_t number = 0;
  std::memcpy(&number, id.internal, sizeof number);
  return number;
}

std::uint64_t mixed(std::uint64_t id, std::uint64_t with) {
  return (id ^ (with + 0x9e3779b97f4a7c15)) * 0xff51afd7ed558ccd;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}
const char* ncclGetErrorString(ncclResult_t result) {
  return result == ncclSuccess ? "no error" : "an error of the made-up NCCL";
}
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  std::random_device random;
  *id = {};
  const std::uint64_t number = static_cast<std::uint64_t>(random()) << 32 | random();
  std::memcpy(id->internal, &number, sizeof number);
  return ncclSuccess;
}
ncclResult_t ncclCommInitRankConfig(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  return create(communicator, number_of(id), ranks, rank, config);
}
ncclResult_t ncclCommInitRank(ncclComm_t* communicator, int ranks, ncclUniqueId id, int rank) {
  return create(communicator, number_of(id), ranks, rank, nullptr);
}
ncclResult_t ncclCommInitRankScalable(ncclComm_t* communicator, int ranks, int rank, int,
                                      ncclUniqueId* ids, ncclConfig_t* config) {
  return create(communicator, number_of(ids[0]), ranks, rank, config);
}
// Ranks of one colour form a communicator, in the order of their keys.
ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key, ncclComm_t* communicator,
                           ncclConfig_t* config) {
  const auto words = parent->ranks->exchange(static_cast<std::uint64_t>(color) << 32 |
                                             static_cast<std::uint32_t>(key));
  if (words.empty()) return ncclSystemError;
  const int split = parent->splits++;
  *communicator = nullptr;
  if (color == NCCL_SPLIT_NOCOLOR) return ncclSuccess;
  std::vector<std::pair<std::uint32_t, int>> members;
  for (int rank = 0; rank < parent->ranks->ranks(); ++rank) {
    const std::uint64_t word = words[static_cast<std::size_t>(rank)];
    if (static_cast<int>(word >> 32) == color)
      members.emplace_back(static_cast<std::uint32_t>(word), rank);
  }
  std::ranges::sort(members);
  const auto own =
      std::ranges::find(members, parent->ranks->rank(), &std::pair<std::uint32_t, int>::second);
  const std::uint64_t id = mixed(mixed(parent->ranks->id(), static_cast<std::uint64_t>(color)),
                                 static_cast<std::uint64_t>(split));
  return create(communicator, id, static_cast<int>(members.size()),
                static_cast<int>(own - members.begin()), config);
}
ncclResult_t ncclCommFinalize(ncclComm_t) { return ncclSuccess; }
ncclResult_t ncclCommDestroy(ncclComm_t communicator) {
  communicator->ranks->leave();
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommAbort(ncclComm_t communicator) {
  communicator->ranks->abort();
  communicator->ranks->leave();
  delete communicator;
  return ncclSuccess;
}
ncclResult_t ncclCommGetAsyncError(ncclComm_t communicator, ncclResult_t* error) {
  *error = communicator->ranks->has_lost_a_rank() ? ncclRemoteError : ncclSuccess;
  return ncclSuccess;
}
ncclResult_t ncclCommCount(const ncclComm_t communicator, int* count) {
  *count = communicator->ranks->ranks();
  return ncclSuccess;
}
ncclResult_t ncclCommUserRank(const ncclComm_t communicator, int* rank) {
  *rank = communicator->ranks->rank();
  return ncclSuccess;
}
ncclResult_t ncclCommCuDevice(const ncclComm_t communicator, int* device) {
  *device = communicator->device;
  return ncclSuccess;
}
ncclResult_t ncclCommRegister(const ncclComm_t, void*, std::size_t, void** handle) {
  *handle = nullptr;
  return ncclSuccess;
}
ncclResult_t ncclCommDeregister(const ncclComm_t, void*) { return ncclSuccess; }
ncclResult_t ncclRedOpCreatePreMulSum(ncclRedOp_t* operation, void*, ncclDataType_t,
                                      ncclScalarResidence_t, ncclComm_t) {
  *operation = ncclSum;
  return ncclSuccess;
}
ncclResult_t ncclRedOpDestroy(ncclRedOp_t, ncclComm_t) { return ncclSuccess; }

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() {
  if (--group.depth > 0) return ncclSuccess;
  return carry_out(std::exchange(group.calls, {}));
}

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
  const double ranks = communicator->ranks->ranks();
  return enter({communicator, "AllReduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", count, type,
                2 * (ranks - 1) / ranks, send, receive, 0, stream, false});
}
ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return enter({communicator, "AllGather", "ncclDevKernel_AllGather_RING_LL", count, type,
                communicator->ranks->ranks() - 1.0, send, receive, 0, stream, false});
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t, ncclComm_t communicator,
                               cudaStream_t stream) {
  return enter({communicator, "ReduceScatter", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL", count,
                type, communicator->ranks->ranks() - 1.0, send, receive, 0, stream, false});
}
ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t stream) {
  return enter({communicator, "Broadcast", "ncclDevKernel_Broadcast_RING_LL", count, type, 1, send,
                receive, root, stream, false});
}
ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t communicator, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t, int root, ncclComm_t communicator, cudaStream_t stream) {
  return enter({communicator, "Reduce", "ncclDevKernel_Reduce_Sum_f32_RING_LL", count, type, 1,
                send, receive, root, stream, false});
}
// Between two ranks: neither waits for the other.
ncclResult_t ncclSend(const void*, std::size_t count, ncclDataType_t type, int,
                      ncclComm_t communicator, cudaStream_t stream) {
  return enter({communicator, "Send", "ncclDevKernel_SendRecv", count, type, 1, nullptr, nullptr, 0,
                stream, true});
}
ncclResult_t ncclRecv(void*, std::size_t count, ncclDataType_t type, int, ncclComm_t communicator,
                      cudaStream_t stream) {
  return enter({communicator, "Recv", "ncclDevKernel_SendRecv", count, type, 1, nullptr, nullptr, 0,
                stream, true});
}

}  // extern "C"
