// What a kernel is called where there is little room. Pure.
#pragma once

#include <string>
#include <string_view>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::trace::timeline {

// A demangled name without return type, namespaces, template arguments and parameters:
// "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)" is
// "vectorized_layer_norm_kernel". PyTorch has a few kernels for all operations that go element by
// element, reduce, or take many tensors; there the operation comes first, with the type it is
// given: "Fill<float> · vectorized_elementwise_kernel". So does what a kernel of CUTLASS or Thrust
// runs: "GemmUniversal · device_kernel". Names that are none of C++ stay as they are. Source of the
// names: aten/src/ATen/native/cuda (Loops.cuh, Reduce.cuh, MultiTensorApply.cuh);
// cutlass/device_kernel.h; thrust/system/cuda/detail/core/agent_launcher.h.
std::string kernel_title(std::string_view name);
// What an event of a row is called there: a kernel by its title, everything else by its name.
std::string event_title(RowKind kind, std::string_view name);

}  // namespace shardlens::trace::timeline
