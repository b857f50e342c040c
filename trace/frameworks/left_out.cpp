#include "trace/frameworks/left_out.h"

#include <algorithm>
#include <array>

#include "trace/job/shape/strategy.h"

namespace shardlens::trace::frameworks {

namespace {

// Of these groups, but not how a model is to be parallelised.
constexpr std::array<std::string_view, 12> kOfTheProgram{"device",
                                                         "evaluate_every",
                                                         "evaluation_batches",
                                                         "sample_tokens",
                                                         "seed",
                                                         "sample_prompt",
                                                         "epochs",
                                                         "on_nonfinite",
                                                         "oversubscribe",
                                                         "loss_every",
                                                         "use_orig_params",
                                                         "sample_temperature"};

// What is trained changes buckets, units and memory, but is done to the model before.
constexpr std::string_view kAdapters = "adapters are a part of the model: wrap it by peft before";
constexpr KnobReason kOfTheModel[] = {
    {"lora_rank", kAdapters},
    {"lora_alpha", kAdapters},
    {"lora_dropout", kAdapters},
    {"lora_target_modules", kAdapters},
    {"base_dtype", "load what is frozen in that type before"},
    {"frozen_blocks", "set requires_grad to False in their parameters before"},
};

bool is_of_parallelism(const job::Knob& knob) {
  if (knob.name == "uneven_inputs") return true;  // how ranks end together, besides the data
  switch (knob.group) {
    case job::KnobGroup::kParallelism:
    case job::KnobGroup::kPrecisionAndMemory:
    case job::KnobGroup::kOptimization:
      return std::ranges::find(kOfTheProgram, knob.name) == kOfTheProgram.end();
    default:
      return false;
  }
}

// What says nothing beside the other settings.
bool is_idle(const job::Knob& knob, const job::Settings& settings) {
  if (knob.name == "base_dtype") return settings.lora_rank == 0;
  if (knob.name == "initial_loss_scale") return !job::scales_loss(settings);
  if (knob.name == "reshard_after_forward") return true;  // follows from the strategy
  return !ignored_with(knob, settings).empty();
}

}  // namespace

std::string reason_of_knob(std::span<const KnobReason> reasons, std::string_view knob,
                           std::string_view otherwise) {
  const auto found = std::ranges::find(reasons, knob, &KnobReason::knob);
  return std::string(found == reasons.end() ? otherwise : found->text);
}

std::vector<LeftOut> left_out(const job::Settings& settings,
                              const std::vector<std::string_view>& written,
                              const std::function<std::string(std::string_view)>& reason) {
  std::vector<LeftOut> all;
  for (const job::Knob* knob : job::differing_knobs({}, settings)) {
    if (!is_of_parallelism(*knob) || is_idle(*knob, settings)) continue;
    if (std::ranges::find(written, knob->name) != written.end()) continue;
    std::string why = reason_of_knob(kOfTheModel, knob->name, "");
    if (why.empty()) why = reason(knob->name);
    all.push_back({knob->name, value_text(settings, *knob), std::move(why)});
  }
  return all;
}

}  // namespace shardlens::trace::frameworks
