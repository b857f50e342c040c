// What CUDA and NCCL do to a program that is recorded, without a GPU: loads the library that
// CUDA_INJECTION64_PATH names and starts it, as cuInit() does; tells NCCL's plugin of all-reduces,
// as NCCL does; and says which kernels ran (fake_cupti_library.cpp). The first argument is how
// steps can be told: "optimizer" or "pattern". The second, "late": CUPTI comes after the first NVTX
// range, otherwise it is there from the start, as PyTorch links it.
#include <dlfcn.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "profiler/nccl/profiler_abi.h"

namespace {

namespace nccl = shardlens::profiler::nccl;
constexpr int kSteps = 12;
constexpr std::uint64_t kKernelNs = 90'000;

std::uint64_t time_ns = 0;
void (*fake_kernel)(const char* name, std::uint64_t start_ns, std::uint64_t end_ns) = nullptr;

void kernel(const char* name) {
  fake_kernel(name, time_ns, time_ns + kKernelNs);
  time_ns += kKernelNs + 10'000;
}

// One collective of its own group, in NCCL's order of events.
class Communicator {
 public:
  explicit Communicator(const nccl::Profiler* plugin) : plugin_(plugin) {
    int mask = 0;
    plugin_->init(&context_, 0xabcd, &mask, "test", 1, 2, 0, nullptr);
  }
  void all_reduce() {
    nccl::Event call = of_type(nccl::kCollectiveCall);
    call.collective_call = {"AllReduce", 1 << 20, "ncclFloat32", 0, nullptr, false};
    void* task = start(call);
    plugin_->stop_event(task);
    void* launch = start(of_type(nccl::kKernelLaunch));
    kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
    plugin_->stop_event(launch);
    nccl::Event carried = of_type(nccl::kCollective);
    carried.parent = task;
    carried.collective = {0,          "AllReduce", nullptr, nullptr, 1,        0,
                          "ncclInt8", 24,          8,       "NVLS",  "SIMPLE", nullptr};
    plugin_->stop_event(start(carried));
  }

 private:
  static nccl::Event of_type(std::uint64_t type) {
    nccl::Event event;
    std::memset(&event, 0, sizeof event);
    event.type = type;
    return event;
  }
  void* start(nccl::Event event) {
    void* handle = nullptr;
    plugin_->start_event(context_, &handle, &event);
    return handle;
  }

  const nccl::Profiler* plugin_;
  void* context_ = nullptr;
};

void step(Communicator& communicator, bool has_optimizer) {
  for (int i = 0; i < 10; ++i) kernel(i % 2 == 0 ? "sm90_xmma_gemm" : "gelu_kernel");
  kernel("cunn_SoftMaxBackward");
  for (int i = 0; i < 12; ++i) kernel(i % 3 == 0 ? "elementwise_kernel" : "sm90_xmma_gemm");
  communicator.all_reduce();
  kernel(has_optimizer ? "multi_tensor_apply_kernel<FusedAdamMathFunctor>" : "my_update");
  time_ns += 400'000;
}

bool load_cupti() {
  void* library = dlopen(SHARDLENS_FAKE_CUPTI, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) std::fprintf(stderr, "%s\n", dlerror());
  if (library == nullptr) return false;
  fake_kernel = reinterpret_cast<decltype(fake_kernel)>(dlsym(library, "fake_kernel"));
  return fake_kernel != nullptr;
}

// As the first range of a program; a tool that is offered no table of functions leaves it at that.
void use_nvtx(void* handle) {
  using GetExportTable = const void* (*)(std::uint32_t);
  const auto initialize =
      reinterpret_cast<int (*)(GetExportTable)>(dlsym(handle, "InitializeInjectionNvtx2"));
  if (initialize != nullptr) initialize([](std::uint32_t) -> const void* { return nullptr; });
}

}  // namespace

int main(int argc, char** argv) {
  const bool is_late = argc > 2 && std::strcmp(argv[2], "late") == 0;
  if (!is_late && !load_cupti()) return 5;
  const char* library = std::getenv("CUDA_INJECTION64_PATH");
  void* handle = library == nullptr ? nullptr : dlopen(library, RTLD_NOW);
  if (handle == nullptr) {
    std::fprintf(stderr, "no injection: %s\n", library == nullptr ? "not set" : dlerror());
    return 3;
  }
  if (is_late) {
    use_nvtx(handle);
    if (!load_cupti()) return 5;
  }
  const auto initialize = reinterpret_cast<int (*)()>(dlsym(handle, "InitializeInjection"));
  const auto* plugin = static_cast<const nccl::Profiler*>(dlsym(handle, "ncclProfiler_v5"));
  if (initialize == nullptr || plugin == nullptr || initialize() != 1) return 4;
  time_ns = static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                           std::chrono::system_clock::now().time_since_epoch())
                                           .count());
  Communicator communicator(plugin);
  for (int i = 0; i < kSteps; ++i)
    step(communicator, argc > 1 && std::strcmp(argv[1], "optimizer") == 0);
  return 0;
}
