// Finds steps and phases in the kernels of one stream, where a program has no ranges that tell
// them. One thread; kernels in the order of their start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "profiler/inject/steps/step_sink.h"

namespace shardlens::profiler::inject {

enum class KernelPart : std::uint8_t { kOther, kProduct, kBackward, kOptimizer };
// By name, mangled or not: "…Adam…" and "multi_tensor_apply" update parameters, "…backward…",
// "…_bwd…", "dgrad" compute gradients; else matrix products, attention and convolutions are the
// work of a model.
KernelPart kernel_part_of(std::string_view name);

// A step ends with the last of the optimizer's kernels, that is, once the model works again: by a
// product or by backward, since clipping has many small kernels of its own between those that an
// optimizer may have. In a stream without products as many others decide as no optimizer has
// between its own. The gap to the next kernel belongs to the next step. What comes
// before the first end of a step is set-up or the first step: not told. Forward goes on to the
// first kernel of backward, and backward to the optimizer: with several micro-batches in a step
// the later ones count as backward.
class KernelSteps {
 public:
  // Between two kernels of one optimizer there are fewer others, and in a step there are more.
  static constexpr std::size_t kFewest = 8;

  explicit KernelSteps(StepSink& sink) : sink_(sink) {}

  void add(KernelPart part, std::int64_t start_ns, std::int64_t end_ns);
  // A step has ended: this stream's kernels tell steps.
  bool has_found_steps() const { return is_telling_; }
  // Ends the step whose optimizer was the last that ran.
  void finish();

 private:
  bool works_again(KernelPart part) const;
  void end_step();
  void enter_backward(std::int64_t at_ns);

  StepSink& sink_;
  bool is_telling_ = false;
  bool in_backward_ = false;
  bool has_products_ = false;
  std::size_t others_ = 0;               // since the step began, without those below
  std::size_t others_after_ = 0;         // since the optimizer's last kernel
  std::int64_t optimizer_start_ns_ = 0;  // 0: it has not run in this step
  std::int64_t optimizer_end_ns_ = 0;
};

}  // namespace shardlens::profiler::inject
