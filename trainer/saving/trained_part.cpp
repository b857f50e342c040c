#include "trainer/saving/trained_part.h"

#include <algorithm>
#include <optional>

#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/lora/adapter_folder.h"
#include "trainer/lora/base_weights.h"

namespace shardlens::trainer::saving {

namespace {

// The first blocks are kept as they are.
void freeze_blocks(model::Model& model, std::int64_t count) {
  const auto blocks = model.blocks();
  for (std::int64_t i = 0; i < std::min(count, static_cast<std::int64_t>(blocks.size())); ++i) {
    for (torch::Tensor& parameter : blocks[static_cast<std::size_t>(i)]->parameters()) {
      parameter.set_requires_grad(false);
    }
  }
}

// Between layers, values are in the type that parameters of fp32 are gathered in.
torch::ScalarType type_between_layers(const trace::job::Settings& settings) {
  const bool gathers = trace::job::strategy_traits(settings.sharding_strategy).has_units;
  if (gathers && settings.param_dtype == trace::job::DataType::kBf16) return torch::kBFloat16;
  return gathers && settings.param_dtype == trace::job::DataType::kFp16 ? torch::kFloat16
                                                                        : torch::kFloat32;
}

trace::base::Result<void> save_merged(const std::filesystem::path& folder, const AdaptedJob& job,
                                      const lora::TrainedValues& trained) {
  const lora::MergedWeights merged(job.model, lora_options(job.settings), trained);
  huggingface::SaveModelOptions options;
  options.folder = folder;
  options.shape = job.shape;
  if (trace::job::is_model_folder(job.settings.model)) options.source = job.settings.model;
  options.expand =
      [&](const strategy::LocalParameter& kept) -> std::optional<strategy::LocalParameter> {
    const auto range = merged.range_of(kept);
    if (!range) return std::nullopt;
    strategy::LocalParameter part = kept;
    part.sizes = range->sizes;
    part.begin = range->begin;
    part.end = range->end;
    part.value = range->values;
    return part;
  };
  return huggingface::save_model_folder(options, job.strategy.local_parameters(), job.communicator);
}

}  // namespace

trace::base::Result<void> choose_trained_part(model::Model& model,
                                              const trace::job::Settings& settings) {
  freeze_blocks(model, settings.frozen_blocks);
  if (settings.lora_rank > 0) TRY(lora::add_adapters(model, lora_options(settings)));
  lora::keep_frozen_as(model, trace::job::kept_types(settings), type_between_layers(settings));
  return {};
}

lora::LoraOptions lora_options(const trace::job::Settings& settings) {
  return {settings.lora_rank, settings.lora_alpha, settings.lora_dropout,
          settings.lora_target_modules, static_cast<std::uint64_t>(settings.seed)};
}

trace::base::Result<void> save_adapted(const std::filesystem::path& folder, const AdaptedJob& job) {
  const lora::TrainedValues trained =
      lora::gather_trained(job.model, job.strategy.local_parameters(), job.communicator);
  if (job.settings.merge_lora) return save_merged(folder, job, trained);
  const bool classifies = std::ranges::any_of(
      trained, [](const auto& each) { return !lora::is_adapter_parameter(each.first); });
  return lora::save_adapter(folder, {lora_options(job.settings), job.settings.model, classifies},
                            job.model, trained, job.communicator);
}

}  // namespace shardlens::trainer::saving
