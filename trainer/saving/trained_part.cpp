#include "trainer/saving/trained_part.h"

#include <algorithm>

#include "trace/job/huggingface/find_model.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/strategy.h"
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

bool saves_adapters_alone(const trace::job::Settings& settings) {
  return settings.lora_rank > 0 && !settings.merge_lora;
}

bool saves_whole_model(const trace::job::Settings& settings) {
  return trace::job::leaves_model(settings) && !saves_adapters_alone(settings);
}

trace::base::Result<void> save_adapters(const std::filesystem::path& folder,
                                        const TrainedJob& job) {
  const auto parameters = job.strategy.local_parameters();
  const lora::LoraOptions options = lora_options(job.settings);
  lora::AdapterValues trained = lora::gather_trained(job.model, parameters, job.communicator);
  lora::add_whole(job.fresh, job.model, options, parameters, job.communicator, trained);
  const bool classifies = std::ranges::any_of(
      trained, [](const auto& each) { return !lora::is_adapter_parameter(each.first); });
  // A preset's name is that of other weights on a hub.
  const std::string& name = job.settings.model;
  const std::string base_model = trace::job::is_model_folder(name) ? name : "";
  return lora::save_adapter(folder, {options, base_model, classifies}, job.model, trained,
                            job.communicator);
}

trace::base::Result<void> save_whole(huggingface::SaveModelOptions options, const TrainedJob& job) {
  const auto parameters = job.strategy.local_parameters();
  if (job.settings.lora_rank == 0) {
    return huggingface::save_model_folder(options, parameters, job.communicator);
  }
  const lora::AdapterValues trained = lora::gather_trained(job.model, parameters, job.communicator);
  const lora::MergedWeights weights(job.model, lora_options(job.settings), trained);
  options.expand = [&](const strategy::LocalParameter& kept) { return weights.merged(kept); };
  return huggingface::save_model_folder(options, parameters, job.communicator);
}

}  // namespace shardlens::trainer::saving
