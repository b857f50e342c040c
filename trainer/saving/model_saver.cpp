#include "trainer/saving/model_saver.h"

#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/saving/trained_part.h"

namespace shardlens::trainer {

bool ModelSaver::saves_at_end(const trace::Settings& settings) {
  if (settings.save_model == trace::SaveModel::kAuto) {
    return settings.lora_rank > 0 || trace::is_model_folder(settings.model);
  }
  return settings.save_model == trace::SaveModel::kEnd;
}

trace::Result<std::filesystem::path> ModelSaver::save(const Strategy& strategy,
                                                      Communicator& communicator) const {
  const trace::Settings& settings = parts_.settings;
  if (settings.lora_rank > 0) {
    const auto folder = settings.merge_lora ? trace::model_folder(parts_.run_folder)
                                            : trace::adapter_folder(parts_.run_folder);
    TRY(save_adapted(folder, {settings, parts_.shape, parts_.model, strategy, communicator}));
    return folder;
  }
  SaveModelOptions options;
  options.folder = trace::model_folder(parts_.run_folder);
  options.shape = parts_.shape;
  if (trace::is_model_folder(settings.model)) options.source = settings.model;
  options.labels = parts_.labels;
  TRY(save_model_folder(options, strategy.local_parameters(), communicator));
  return options.folder;
}

}  // namespace shardlens::trainer
