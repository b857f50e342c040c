// Computes in 16 bits where that is safe while it lives, as torch.autocast does. The training
// thread, around forward and loss, and autograd's, around what is computed again.
#pragma once

#include <ATen/autocast_mode.h>

#include "trace/job/settings/choices.h"

namespace shardlens::trainer::tensor {

// The type that `precision` computes in.
inline at::ScalarType compute_type(trace::job::Precision precision) {
  if (precision == trace::job::Precision::kBf16) return at::kBFloat16;
  return precision == trace::job::Precision::kFp16 ? at::kHalf : at::kFloat;
}

class AutocastScope {
 public:
  // `type` float32: computes as everything is.
  AutocastScope(at::DeviceType device, at::ScalarType type)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        previous_type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, type != at::kFloat);
    if (type != at::kFloat) at::autocast::set_autocast_dtype(device, type);
    at::autocast::increment_nesting();
  }
  ~AutocastScope() {
    // The outermost scope drops the cached low-precision weights: they are stale after a step.
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(device_, previous_type_);
    at::autocast::set_autocast_enabled(device_, was_enabled_);
  }
  AutocastScope(const AutocastScope&) = delete;
  AutocastScope& operator=(const AutocastScope&) = delete;

 private:
  at::DeviceType device_;
  bool was_enabled_;
  at::ScalarType previous_type_;
};

}  // namespace shardlens::trainer::tensor
