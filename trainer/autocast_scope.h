// Computes in bfloat16 where that is safe while it lives, as torch.autocast does. The training
// thread, around forward and loss.
#pragma once

#include <ATen/autocast_mode.h>

namespace shardlens::trainer {

class AutocastScope {
 public:
  AutocastScope(at::DeviceType device, bool enabled)
      : device_(device),
        was_enabled_(at::autocast::is_autocast_enabled(device)),
        previous_type_(at::autocast::get_autocast_dtype(device)) {
    at::autocast::set_autocast_enabled(device, enabled);
    at::autocast::set_autocast_dtype(device, at::kBFloat16);
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

}  // namespace shardlens::trainer
