// What a GPU kernel does, by its name. Pure functions, any thread.
#pragma once

#include <cstdint>
#include <string_view>

namespace shardlens::trace::timeline {

enum class KernelClass : std::uint8_t {
  kMatrixProduct,
  kAttention,
  kConvolution,
  kNormalization,
  kElementwise,
  kReduction,
  kSoftmax,
  kOptimizer,
  kEmbedding,  // and other gathers and scatters by index
  kCommunication,
  kCopy,  // and fills, casts, layouts
  kOther,
};

// Of names as they stand in traces, mangled or not. Of a kernel that is several things the more
// telling one: a fused attention is made of matrix products.
KernelClass kernel_class_of(std::string_view name);
// "matrix product", "copy and fill", …
std::string_view to_string(KernelClass);

}  // namespace shardlens::trace::timeline
