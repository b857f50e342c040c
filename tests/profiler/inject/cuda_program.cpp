// A program as they are out there: it trains on two GPUs, knows CUDA and NCCL, and nothing of us.
// It is run on GPUs that compute nothing (tests/fake_gpu), so its kernels are empty. The first
// argument is how steps can be told: "optimizer" or "pattern"; "rank 1": as "pattern", with the
// ranks the other way round; or what it does instead of training, see does_something_else(). The
// second, "ranges": NVTX is used before CUDA is; "work": a kernel runs a second before NCCL is
// used.
#include <cuda_runtime_api.h>
#include <nccl.h>
#include <nvtx3/nvToolsExt.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace {

constexpr int kSteps = 12;

// Sizes that take round times there (activity.cpp, nccl_calls.cpp): a kernel and a collective 100
// µs each, setting the gradients to zero 500 µs.
constexpr unsigned kBlock = 250, kGrid = 39'400;
constexpr std::size_t kValues = 7'387'500;
constexpr std::size_t kGradientBytes = 1'495'500'000;
// Half a second, in which the host gets ahead: from then on no stream waits for it.
constexpr unsigned kSetUpGrid = 200'000'000;

constexpr char kKernels[] = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry set_up() { ret; }
.visible .entry sm90_xmma_gemm() { ret; }
.visible .entry gelu_kernel() { ret; }
.visible .entry elementwise_kernel() { ret; }
.visible .entry cunn_SoftMaxBackward() { ret; }
.visible .entry multi_tensor_apply_kernel() { ret; }
.visible .entry my_update() { ret; }
)";

void must(cudaError_t result) {
  if (result == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(result));
  std::exit(3);
}
void must(ncclResult_t result) {
  if (result == ncclSuccess) return;
  std::fprintf(stderr, "NCCL: %s\n", ncclGetErrorString(result));
  std::exit(4);
}

// What both ranks have: a GPU, its stream, and collectives in it.
class Rank {
 public:
  Rank(const ncclUniqueId& id, int rank) : rank_(rank) {
    must(cudaSetDevice(rank));
    must(cudaStreamCreate(&stream_));
    void* values = nullptr;
    must(cudaMalloc(&values, kGradientBytes));
    values_ = static_cast<float*>(values);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.commName = "test";
    must(ncclCommInitRankConfig(&communicator_, 2, id, rank, &config));
  }
  ~Rank() {
    must(cudaStreamSynchronize(stream_));
    must(ncclCommDestroy(communicator_));
    must(cudaFree(values_));
    must(cudaStreamDestroy(stream_));
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  cudaStream_t stream() const { return stream_; }
  void set_gradients_to_zero() { must(cudaMemsetAsync(values_, 0, kGradientBytes, stream_)); }
  void gather_parameters() {
    const float* own = values_ + static_cast<std::size_t>(rank_) * kValues;
    must(ncclAllGather(own, values_, kValues, ncclFloat32, communicator_, stream_));
  }
  void reduce_gradients() {
    must(ncclAllReduce(values_, values_, kValues, ncclFloat32, ncclSum, communicator_, stream_));
  }

 private:
  int rank_;
  cudaStream_t stream_ = nullptr;
  float* values_ = nullptr;
  ncclComm_t communicator_ = nullptr;
};

class Kernels {
 public:
  explicit Kernels(cudaStream_t stream) : stream_(stream) {
    must(cudaLibraryLoadData(&library_, kKernels, nullptr, nullptr, 0, nullptr, nullptr, 0));
  }
  void launch(const char* name, unsigned grid = kGrid) {
    cudaKernel_t kernel = nullptr;
    must(cudaLibraryGetKernel(&kernel, library_, name));
    must(cudaLaunchKernel(kernel, dim3(grid), dim3(kBlock), nullptr, 0, stream_));
  }

 private:
  cudaStream_t stream_;
  cudaLibrary_t library_ = nullptr;
};

void step(Rank& rank, Kernels& kernels, const char* update) {
  rank.set_gradients_to_zero();
  rank.gather_parameters();
  for (int i = 0; i < 9; ++i) kernels.launch(i % 2 == 0 ? "sm90_xmma_gemm" : "gelu_kernel");
  kernels.launch("cunn_SoftMaxBackward");
  for (int i = 0; i < 12; ++i) kernels.launch(i % 3 == 0 ? "elementwise_kernel" : "sm90_xmma_gemm");
  rank.reduce_gradients();
  kernels.launch(update);
}

// The other rank: a process of its own that nobody records and that takes part in what collectives
// need.
[[noreturn]] void run_peer(int id_end, int number) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const char* variable :
       {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NCCL_PROFILER_PLUGIN"})
    unsetenv(variable);
  ncclUniqueId id;
  if (read(id_end, &id, sizeof id) != sizeof id) std::exit(5);
  {
    Rank rank(id, number);
    for (int i = 0; i < kSteps; ++i) {
      rank.gather_parameters();
      rank.reduce_gradients();
    }
  }
  std::exit(0);
}

void train(int id_end, int number, bool has_optimizer) {
  ncclUniqueId id;
  must(ncclGetUniqueId(&id));
  if (write(id_end, &id, sizeof id) != sizeof id) std::exit(5);
  Rank rank(id, number);
  Kernels kernels(rank.stream());
  kernels.launch("set_up", kSetUpGrid);
  for (int i = 0; i < kSteps; ++i)
    step(rank, kernels, has_optimizer ? "multi_tensor_apply_kernel" : "my_update");
}

// "asks": all that can be found out about a GPU without using it; "one kernel", and the end at
// once; "many kernels", for two seconds.
bool does_something_else(std::string_view what) {
  if (what == "asks") {
    int count = 0;
    must(cudaGetDeviceCount(&count));
    cudaDeviceProp properties;
    must(cudaGetDeviceProperties(&properties, 0));
    must(cudaFree(nullptr));  // makes a context
    must(cudaDeviceSynchronize());
  } else if (what == "one kernel") {
    must(cudaSetDevice(0));
    Kernels(nullptr).launch("my_update");
    must(cudaDeviceSynchronize());
  } else if (what == "many kernels") {
    must(cudaSetDevice(0));
    Kernels kernels(nullptr);
    constexpr int kBursts = 400, kKernelsOfBurst = 400;
    for (int burst = 0; burst < kBursts; ++burst) {
      for (int i = 0; i < kKernelsOfBurst; ++i) kernels.launch("my_update");
      usleep(5'000);
    }
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view told_by = argc > 1 ? argv[1] : "pattern";
  alarm(60);  // whoever runs it is not kept waiting by a peer that never came
  if (does_something_else(told_by)) return 0;
  const int number = told_by == "rank 1" ? 1 : 0;
  int id_ends[2];
  if (pipe(id_ends) != 0) return 5;
  const pid_t peer = fork();
  if (peer == 0) run_peer(id_ends[0], 1 - number);
  const std::string_view before = argc > 2 ? argv[2] : "";
  if (before == "ranges") {
    nvtxRangePushA("before CUDA");
    nvtxRangePop();
  } else if (before == "work") {
    does_something_else("one kernel");
    usleep(1'000'000);
  }
  train(id_ends[1], number, told_by == "optimizer");
  int status = 0;
  return waitpid(peer, &status, 0) == peer && status == 0 ? 0 : 6;
}
