#include "trainer/saving/model_saver.h"

#include <algorithm>

#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/lora/adapter_folder.h"
#include "trainer/lora/adapters.h"

namespace shardlens::trainer::saving {

bool saves_adapters_alone(const trace::job::Settings& settings) {
  return settings.lora_rank > 0 && !settings.merge_lora;
}

bool saves_whole_model(const trace::job::Settings& settings) {
  return trace::job::leaves_model(settings) && !saves_adapters_alone(settings);
}

trace::base::Result<ModelSaver> ModelSaver::create(Parts parts, bool is_first) {
  ModelSaver saver(std::move(parts));
  const Parts& kept = saver.parts_;
  if (!is_first || !saves_whole_model(kept.settings)) return saver;
  const std::string& model = kept.settings.model;
  TRY_ASSIGN(saver.texts_,
             huggingface::read_model_texts(trace::job::is_model_folder(model) ? model : "",
                                           kept.tokenizer, kept.shape));
  return saver;
}

trace::base::Result<std::filesystem::path> ModelSaver::save(
    const strategy::Strategy& strategy, comm::Communicator& communicator) const {
  const bool is_adapter = saves_adapters_alone(parts_.settings);
  const auto folder = is_adapter ? trace::store::adapter_folder(parts_.run_folder)
                                 : trace::store::model_folder(parts_.run_folder);
  TRY(is_adapter ? save_adapters(folder, strategy, communicator)
                 : save_whole(folder, strategy, communicator));
  return folder;
}

trace::base::Result<void> ModelSaver::save_adapters(const std::filesystem::path& folder,
                                                    const strategy::Strategy& strategy,
                                                    comm::Communicator& communicator) const {
  const auto parameters = strategy.local_parameters();
  const lora::LoraOptions options = lora::lora_options(parts_.settings);
  lora::AdapterValues trained = lora::gather_trained(parts_.model, parameters, communicator);
  lora::add_whole(parts_.fresh, parts_.model, options, parameters, communicator, trained);
  const bool classifies = std::ranges::any_of(
      trained, [](const auto& each) { return !lora::is_adapter_parameter(each.first); });
  // A preset's name is that of other weights on a hub.
  const std::string& name = parts_.settings.model;
  const std::string base_model = trace::job::is_model_folder(name) ? name : "";
  return lora::save_adapter(folder, {options, base_model, classifies}, parts_.model, trained,
                            communicator);
}

trace::base::Result<void> ModelSaver::save_whole(const std::filesystem::path& folder,
                                                 const strategy::Strategy& strategy,
                                                 comm::Communicator& communicator) const {
  huggingface::SaveModelOptions options;
  options.folder = folder;
  options.shape = parts_.shape;
  options.texts = texts_;
  options.labels = parts_.labels;
  options.on_piece = parts_.on_piece;
  const auto parameters = strategy.local_parameters();
  if (parts_.settings.lora_rank == 0) {
    return huggingface::save_model_folder(options, parameters, communicator);
  }
  const lora::AdapterValues trained = lora::gather_trained(parts_.model, parameters, communicator);
  const lora::MergedWeights weights(parts_.model, lora::lora_options(parts_.settings), trained);
  options.expand = [&](const strategy::LocalParameter& kept) { return weights.merged(kept); };
  return huggingface::save_model_folder(options, parameters, communicator);
}

}  // namespace shardlens::trainer::saving
