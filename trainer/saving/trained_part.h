// What of a model is trained, how the rest is kept, and what of it is saved, by a job's settings.
// The training thread.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trainer/comm/communicator.h"
#include "trainer/huggingface/save_model_folder.h"
#include "trainer/lora/adapters.h"
#include "trainer/model/model.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::saving {

// Freezes the first blocks, or gives the model adapters and freezes the rest, and keeps what is
// frozen as `base_dtype` says. Before a strategy takes the model over. Error kUsage: adapters are
// wanted for layers that the model does not have.
trace::base::Result<void> choose_trained_part(model::Model& model,
                                              const trace::job::Settings& settings);

// As the job's settings say.
lora::LoraOptions lora_options(const trace::job::Settings& settings);

// What is saved. All ranks call it, outside of a step. Throws c10::Error when a collective fails.
struct TrainedJob {
  const trace::job::Settings& settings;
  const model::Model& model;
  const strategy::Strategy& strategy;
  comm::Communicator& communicator;
  // Of the model, what its folder does not have: adapters of that folder are nothing without.
  const std::vector<std::string>& fresh;
};
// Whether a job trains adapters that are not merged.
bool saves_adapters_alone(const trace::job::Settings& settings);
// Adapters alone are written by rank 0, a whole model by all ranks.
bool saves_whole_model(const trace::job::Settings& settings);
// In peft's layout.
trace::base::Result<void> save_adapters(const std::filesystem::path& folder, const TrainedJob& job);
// The whole model, with adapters in its weights, as a folder that transformers loads.
trace::base::Result<void> save_whole(huggingface::SaveModelOptions options, const TrainedJob& job);

}  // namespace shardlens::trainer::saving
