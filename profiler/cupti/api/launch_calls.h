// The calls of CUDA that start kernels. Plain values.
#pragma once

#include <cupti.h>

#include <array>
#include <string_view>

namespace shardlens::profiler::cupti {

struct LaunchCall {
  CUpti_CallbackId id;
  std::string_view name;
};

// Called by programs directly, as cuBLAS, NCCL and Triton do.
inline constexpr std::array kDriverLaunchCalls{
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, "cuLaunchKernel"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz, "cuLaunchKernel"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx, "cuLaunchKernelEx"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz, "cuLaunchKernelEx"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel, "cuLaunchCooperativeKernel"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz, "cuLaunchCooperativeKernel"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch, "cuGraphLaunch"},
    LaunchCall{CUPTI_DRIVER_TRACE_CBID_cuGraphLaunch_ptsz, "cuGraphLaunch"},
};

// What <<<…>>> becomes, with nvcc 13 by __cudaLaunchKernel: most of PyTorch's kernels. The
// runtime's own calls of the driver make no records beside these: none in a trace of Kineto, which
// asks for both kinds.
inline constexpr std::array kRuntimeLaunchCalls{
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_ptsz_v7000, "cudaLaunchKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_v13000, "cudaLaunchKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID___cudaLaunchKernel_ptsz_v13000, "cudaLaunchKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_v11060, "cudaLaunchKernelExC"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernelExC_ptsz_v11060, "cudaLaunchKernelExC"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_v9000,
               "cudaLaunchCooperativeKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaLaunchCooperativeKernel_ptsz_v9000,
               "cudaLaunchCooperativeKernel"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, "cudaGraphLaunch"},
    LaunchCall{CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_ptsz_v10000, "cudaGraphLaunch"},
};

inline bool is_graph_launch(std::string_view name) {
  return name == "cuGraphLaunch" || name == "cudaGraphLaunch";
}

}  // namespace shardlens::profiler::cupti
