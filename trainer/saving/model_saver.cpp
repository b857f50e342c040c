#include "trainer/saving/model_saver.h"

#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/saving/trained_part.h"

namespace shardlens::trainer::saving {

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
  const trace::job::Settings& settings = parts_.settings;
  const TrainedJob job{settings, parts_.model, strategy, communicator, parts_.fresh};
  if (saves_adapters_alone(settings)) {
    const auto folder = trace::store::adapter_folder(parts_.run_folder);
    TRY(save_adapters(folder, job));
    return folder;
  }
  huggingface::SaveModelOptions options;
  options.folder = trace::store::model_folder(parts_.run_folder);
  options.shape = parts_.shape;
  options.texts = texts_;
  options.labels = parts_.labels;
  options.on_piece = parts_.on_piece;
  TRY(save_whole(std::move(options), job));
  return trace::store::model_folder(parts_.run_folder);
}

}  // namespace shardlens::trainer::saving
