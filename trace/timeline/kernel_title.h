// What a kernel is called where there is little room. Pure.
#pragma once

#include <string>
#include <string_view>

namespace shardlens::trace {

// A demangled name without return type, namespaces, template arguments and parameters:
// "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)" is
// "vectorized_layer_norm_kernel". PyTorch has a few kernels for all operations that go element by
// element, reduce, or take many tensors; there the operation comes first, with the type it is
// given: "Fill<float> · vectorized_elementwise_kernel". Names that are none of C++ stay as they
// are. Source of the names: aten/src/ATen/native/cuda (Loops.cuh, Reduce.cuh,
// MultiTensorApply.cuh).
std::string kernel_title(std::string_view name);

}  // namespace shardlens::trace
