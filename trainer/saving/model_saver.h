// What of a trained model is saved, and where, by a job's settings. The training thread.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"
#include "trainer/comm/communicator.h"
#include "trainer/huggingface/model_texts.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::saving {

// Whether a job trains adapters that are not merged.
bool saves_adapters_alone(const trace::job::Settings& settings);
// Adapters alone are written by rank 0, a whole model by all ranks.
bool saves_whole_model(const trace::job::Settings& settings);

class ModelSaver {
 public:
  struct Parts {
    const trace::job::Settings& settings;
    const std::filesystem::path& run_folder;
    const trace::job::ModelShape& shape;
    const model::Model& model;
    std::vector<std::string> labels;  // names of the classes, if they have some
    std::filesystem::path tokenizer;  // a folder or a file; empty: text is bytes
    // Parameters that the model's folder does not have: adapters of it are nothing without.
    std::vector<std::string> fresh;
    std::function<void()> on_piece{};  // as of huggingface::SaveModelOptions
  };
  // Where the run is to save its whole model, `is_first`, which writes it, reads what lies beside
  // the weights. Errors: those of huggingface::read_model_texts().
  static trace::base::Result<ModelSaver> create(Parts parts, bool is_first);

  // Writes <run>/model, which transformers loads, with adapters in its weights; or <run>/adapter,
  // in peft's layout, where adapters are trained and not merged. Replaces an earlier one. All ranks
  // call it, outside of a step. Returns the folder. Throws c10::Error when a collective fails.
  trace::base::Result<std::filesystem::path> save(const strategy::Strategy& strategy,
                                                  comm::Communicator& communicator) const;

 private:
  explicit ModelSaver(Parts parts) : parts_(std::move(parts)) {}
  trace::base::Result<void> save_adapters(const std::filesystem::path& folder,
                                          const strategy::Strategy& strategy,
                                          comm::Communicator& communicator) const;
  trace::base::Result<void> save_whole(const std::filesystem::path& folder,
                                       const strategy::Strategy& strategy,
                                       comm::Communicator& communicator) const;

  Parts parts_;
  huggingface::ModelTexts texts_;
};

}  // namespace shardlens::trainer::saving
