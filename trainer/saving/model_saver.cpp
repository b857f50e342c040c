#include "trainer/saving/model_saver.h"

#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/saving/trained_part.h"

namespace shardlens::trainer::saving {

bool ModelSaver::saves_at_end(const trace::job::Settings& settings) {
  if (settings.save_model == trace::job::SaveModel::kAuto) {
    return settings.lora_rank > 0 || trace::job::is_model_folder(settings.model);
  }
  return settings.save_model == trace::job::SaveModel::kEnd;
}

trace::base::Result<std::filesystem::path> ModelSaver::save(
    const strategy::Strategy& strategy, comm::Communicator& communicator) const {
  const trace::job::Settings& settings = parts_.settings;
  if (settings.lora_rank > 0) {
    const auto folder = settings.merge_lora ? trace::store::model_folder(parts_.run_folder)
                                            : trace::store::adapter_folder(parts_.run_folder);
    TRY(save_adapted(folder, {settings, parts_.shape, parts_.model, strategy, communicator}));
    return folder;
  }
  huggingface::SaveModelOptions options;
  options.folder = trace::store::model_folder(parts_.run_folder);
  options.shape = parts_.shape;
  if (trace::job::is_model_folder(settings.model)) options.source = settings.model;
  options.labels = parts_.labels;
  TRY(huggingface::save_model_folder(options, strategy.local_parameters(), communicator));
  return options.folder;
}

}  // namespace shardlens::trainer::saving
