#include "trainer/model_saver.h"

#include "trace/huggingface/find_model.h"
#include "trainer/huggingface/save_model_folder.h"

namespace shardlens::trainer {

namespace {

constexpr const char* kFolder = "model";

}  // namespace

bool ModelSaver::saves_at_end(const trace::Settings& settings) {
  if (settings.save_model == "auto") return trace::is_model_folder(settings.model);
  return settings.save_model == "end";
}

trace::Result<std::filesystem::path> ModelSaver::save(const Strategy& strategy,
                                                      Communicator& communicator) const {
  SaveModelOptions options;
  options.folder = parts_.run_folder / kFolder;
  options.shape = parts_.shape;
  if (trace::is_model_folder(parts_.settings.model)) options.source = parts_.settings.model;
  options.labels = parts_.labels;
  TRY(save_model_folder(options, strategy.local_parameters(), communicator));
  return options.folder;
}

}  // namespace shardlens::trainer
