#include "trainer/saving/trained_part.h"

#include <algorithm>
#include <optional>

#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/lora/adapter_folder.h"
#include "trainer/lora/base_weights.h"

namespace shardlens::trainer {

namespace {

// The first blocks are kept as they are.
void freeze_blocks(Model& model, std::int64_t count) {
  const auto blocks = model.blocks();
  for (std::int64_t i = 0; i < std::min(count, static_cast<std::int64_t>(blocks.size())); ++i) {
    for (torch::Tensor& parameter : blocks[static_cast<std::size_t>(i)]->parameters()) {
      parameter.set_requires_grad(false);
    }
  }
}

// Between layers, values are in the type that parameters of fp32 are gathered in.
torch::ScalarType type_between_layers(const trace::Settings& settings) {
  const bool gathers = trace::strategy_traits(settings.sharding_strategy).has_units;
  if (gathers && settings.param_dtype == trace::DataType::kBf16) return torch::kBFloat16;
  return gathers && settings.param_dtype == trace::DataType::kFp16 ? torch::kFloat16
                                                                   : torch::kFloat32;
}

trace::Result<void> save_merged(const std::filesystem::path& folder, const AdaptedJob& job,
                                const TrainedValues& trained) {
  const MergedWeights merged(job.model, lora_options(job.settings), trained);
  SaveModelOptions options;
  options.folder = folder;
  options.shape = job.shape;
  if (trace::is_model_folder(job.settings.model)) options.source = job.settings.model;
  options.expand = [&](const LocalParameter& kept) -> std::optional<LocalParameter> {
    const auto range = merged.range_of(kept);
    if (!range) return std::nullopt;
    LocalParameter part = kept;
    part.sizes = range->sizes;
    part.begin = range->begin;
    part.end = range->end;
    part.value = range->values;
    return part;
  };
  return save_model_folder(options, job.strategy.local_parameters(), job.communicator);
}

}  // namespace

trace::Result<void> choose_trained_part(Model& model, const trace::Settings& settings) {
  freeze_blocks(model, settings.frozen_blocks);
  if (settings.lora_rank > 0) TRY(add_adapters(model, lora_options(settings)));
  keep_frozen_as(model, trace::kept_types(settings), type_between_layers(settings));
  return {};
}

LoraOptions lora_options(const trace::Settings& settings) {
  return {settings.lora_rank, settings.lora_alpha, settings.lora_dropout,
          settings.lora_target_modules, static_cast<std::uint64_t>(settings.seed)};
}

trace::Result<void> save_adapted(const std::filesystem::path& folder, const AdaptedJob& job) {
  const TrainedValues trained =
      gather_trained(job.model, job.strategy.local_parameters(), job.communicator);
  if (job.settings.merge_lora) return save_merged(folder, job, trained);
  const bool classifies = std::ranges::any_of(
      trained, [](const auto& each) { return !is_adapter_parameter(each.first); });
  return save_adapter(folder, {lora_options(job.settings), job.settings.model, classifies},
                      job.model, trained, job.communicator);
}

}  // namespace shardlens::trainer
