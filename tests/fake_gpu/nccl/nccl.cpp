// NCCL as PyTorch calls it: collectives are kernels that wait for the other ranks and move nothing.
#include <nccl.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/nccl/nccl_calls.h"

namespace fake = shardlens::fake_gpu;

namespace {

ncclResult_t create(ncclComm_t* communicator, std::uint64_t id, int ranks, int rank,
                    const ncclConfig_t* config) {
  auto joined = fake::Rendezvous::join(id, ranks, rank);
  if (joined == nullptr) return ncclSystemError;
  auto created = std::make_unique<ncclComm>();
  const char* name = config == nullptr ? nullptr : config->commName;
  created->profiled = std::make_unique<fake::ProfiledCommunicator>(id, ranks, rank, name);
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
  fake::start_group();
  return ncclSuccess;
}
ncclResult_t ncclGroupEnd() { return fake::end_group(); }

ncclResult_t ncclAllReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t, ncclComm_t communicator, cudaStream_t stream) {
  const double ranks = communicator->ranks->ranks();
  return fake::enter({communicator, "AllReduce", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", count,
                      type, 2 * (ranks - 1) / ranks, send, receive, 0, stream, false});
}
ncclResult_t ncclAllGather(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           ncclComm_t communicator, cudaStream_t stream) {
  return fake::enter({communicator, "AllGather", "ncclDevKernel_AllGather_RING_LL", count, type,
                      communicator->ranks->ranks() - 1.0, send, receive, 0, stream, false});
}
ncclResult_t ncclReduceScatter(const void* send, void* receive, std::size_t count,
                               ncclDataType_t type, ncclRedOp_t, ncclComm_t communicator,
                               cudaStream_t stream) {
  return fake::enter({communicator, "ReduceScatter", "ncclDevKernel_ReduceScatter_Sum_f32_RING_LL",
                      count, type, communicator->ranks->ranks() - 1.0, send, receive, 0, stream,
                      false});
}
ncclResult_t ncclBroadcast(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t communicator, cudaStream_t stream) {
  return fake::enter({communicator, "Broadcast", "ncclDevKernel_Broadcast_RING_LL", count, type, 1,
                      send, receive, root, stream, false});
}
ncclResult_t ncclBcast(void* buffer, std::size_t count, ncclDataType_t type, int root,
                       ncclComm_t communicator, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, communicator, stream);
}
ncclResult_t ncclReduce(const void* send, void* receive, std::size_t count, ncclDataType_t type,
                        ncclRedOp_t, int root, ncclComm_t communicator, cudaStream_t stream) {
  return fake::enter({communicator, "Reduce", "ncclDevKernel_Reduce_Sum_f32_RING_LL", count, type,
                      1, send, receive, root, stream, false});
}
// Between two ranks: neither waits for the other.
ncclResult_t ncclSend(const void*, std::size_t count, ncclDataType_t type, int,
                      ncclComm_t communicator, cudaStream_t stream) {
  return fake::enter({communicator, "Send", "ncclDevKernel_SendRecv", count, type, 1, nullptr,
                      nullptr, 0, stream, true});
}
ncclResult_t ncclRecv(void*, std::size_t count, ncclDataType_t type, int, ncclComm_t communicator,
                      cudaStream_t stream) {
  return fake::enter({communicator, "Recv", "ncclDevKernel_SendRecv", count, type, 1, nullptr,
                      nullptr, 0, stream, true});
}

}  // extern "C"
