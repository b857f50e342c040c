#include "profiler/inject/steps/kernel_steps.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "trace/timeline/words/kernel_class.h"

namespace shardlens::profiler::inject {

using trace::base::Phase;
using trace::timeline::KernelClass;

KernelPart kernel_part_of(std::string_view name) {
  const KernelClass kernel_class = trace::timeline::kernel_class_of(name);
  if (kernel_class == KernelClass::kOptimizer) return KernelPart::kOptimizer;
  std::string text(name.substr(0, 512));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  constexpr std::array<std::string_view, 5> kOfBackward{"backward", "bwd", "dgrad", "wgrad",
                                                        "grad_input"};
  const bool is_backward = std::ranges::any_of(
      kOfBackward, [&](std::string_view part) { return text.find(part) != std::string::npos; });
  if (is_backward) return KernelPart::kBackward;
  const bool is_product = kernel_class == KernelClass::kMatrixProduct ||
                          kernel_class == KernelClass::kAttention ||
                          kernel_class == KernelClass::kConvolution;
  return is_product ? KernelPart::kProduct : KernelPart::kOther;
}

void KernelSteps::add(KernelPart part, std::int64_t start_ns, std::int64_t end_ns) {
  if (part == KernelPart::kOptimizer) {
    if (optimizer_start_ns_ == 0) optimizer_start_ns_ = start_ns;
    optimizer_end_ns_ = std::max(optimizer_end_ns_, end_ns);
    others_after_ = 0;
    return;
  }
  has_products_ |= part == KernelPart::kProduct;
  if (optimizer_start_ns_ == 0) {
    ++others_;
    if (part == KernelPart::kBackward) enter_backward(start_ns);
    return;
  }
  ++others_after_;
  if (!works_again(part)) return;
  if (others_ >= kFewest) {
    end_step();
  } else {
    // Too little work for a step: a few kernels of an optimizer's kind.
    others_ += others_after_;
  }
  others_after_ = 0;
  optimizer_start_ns_ = 0;
  if (part == KernelPart::kBackward) enter_backward(start_ns);
}

bool KernelSteps::works_again(KernelPart part) const {
  if (part == KernelPart::kBackward || part == KernelPart::kProduct) return true;
  return !has_products_ && others_after_ >= kFewest;
}

void KernelSteps::enter_backward(std::int64_t at_ns) {
  if (in_backward_) return;
  in_backward_ = true;
  if (!is_telling_) return;
  sink_.end_phase(at_ns);
  sink_.begin_phase(Phase::kBackward, at_ns);
}

void KernelSteps::end_step() {
  if (is_telling_) {
    sink_.end_phase(optimizer_start_ns_);
    sink_.begin_phase(Phase::kOptimizer, optimizer_start_ns_);
    sink_.end_phase(optimizer_end_ns_);
    sink_.end_step(optimizer_end_ns_);
  }
  is_telling_ = true;
  in_backward_ = false;
  others_ = others_after_;
  sink_.begin_step(optimizer_end_ns_, std::nullopt);
  sink_.begin_phase(Phase::kForward, optimizer_end_ns_);
}

void KernelSteps::finish() {
  if (!is_telling_ || optimizer_start_ns_ == 0 || others_ < kFewest) return;
  sink_.end_phase(optimizer_start_ns_);
  sink_.begin_phase(Phase::kOptimizer, optimizer_start_ns_);
  sink_.end_phase(optimizer_end_ns_);
  sink_.end_step(optimizer_end_ns_);
  is_telling_ = false;
}

}  // namespace shardlens::profiler::inject
