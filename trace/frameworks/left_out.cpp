#include "trace/frameworks/left_out.h"

#include <algorithm>
#include <array>

namespace shardlens::trace::frameworks {

namespace {

// Of these groups, but not how a model is to be parallelised.
constexpr std::array<std::string_view, 18> kOfTheProgram{
    "device",          "evaluate_every",     "evaluation_batches", "sample_tokens", "sample_prompt",
    "epochs",          "on_nonfinite",       "loss_every",         "frozen_blocks", "lora_rank",
    "lora_alpha",      "lora_dropout",       "base_dtype",         "seed",          "oversubscribe",
    "use_orig_params", "sample_temperature", "lora_target_modules"};

bool is_of_parallelism(const job::Knob& knob) {
  switch (knob.group) {
    case job::KnobGroup::kParallelism:
    case job::KnobGroup::kPrecisionAndMemory:
    case job::KnobGroup::kOptimization:
      return std::ranges::find(kOfTheProgram, knob.name) == kOfTheProgram.end();
    default:
      return false;
  }
}

}  // namespace

std::vector<LeftOut> left_out(const job::Settings& settings,
                              const std::vector<std::string_view>& written,
                              const std::function<std::string(std::string_view)>& reason) {
  std::vector<LeftOut> all;
  for (const job::Knob* knob : job::differing_knobs({}, settings)) {
    if (!is_of_parallelism(*knob) || !applies(*knob, settings.sharding_strategy)) continue;
    if (std::ranges::find(written, knob->name) != written.end()) continue;
    all.push_back({knob->name, value_text(settings, *knob), reason(knob->name)});
  }
  return all;
}

}  // namespace shardlens::trace::frameworks
