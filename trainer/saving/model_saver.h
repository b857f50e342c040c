// When and where a run writes its model, and as what. The training thread.
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

class ModelSaver {
 public:
  struct Parts {
    const trace::job::Settings& settings;
    const std::filesystem::path& run_folder;
    const trace::job::ModelShape& shape;
    const model::Model& model;
    std::vector<std::string> labels;   // names of the classes, if they have some
    std::filesystem::path tokenizer;   // a folder or a file; empty: text is bytes
    std::vector<std::string> fresh;    // parameters that the model's folder does not have
    std::function<void()> on_piece{};  // as of huggingface::SaveModelOptions
  };
  // Where the run is to save its whole model, `is_first`, which writes it, reads what lies beside
  // the weights. Errors: those of huggingface::read_model_texts().
  static trace::base::Result<ModelSaver> create(Parts parts, bool is_first);

  // Writes <run>/model, or <run>/adapter where adapters are trained and not merged; replaces an
  // earlier one. All ranks call it. Returns the folder.
  trace::base::Result<std::filesystem::path> save(const strategy::Strategy& strategy,
                                                  comm::Communicator& communicator) const;

 private:
  explicit ModelSaver(Parts parts) : parts_(std::move(parts)) {}

  Parts parts_;
  huggingface::ModelTexts texts_;
};

}  // namespace shardlens::trainer::saving
