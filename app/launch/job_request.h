// What a user asks to have run, checked and completed before anything starts. Any thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "app/launch/device_probe.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"

namespace shardlens::app::launch {

struct JobRequest {
  trace::job::Settings settings;
  std::filesystem::path runs_dir = "runs";
  std::string name;  // "": by what differs from `name_base`, with " 2", " 3", … where it is taken
  bool numbers_name = false;  // does so with this name, too
  trace::job::Settings name_base{};
  bool overwrite = false;                                   // of a run that has the name
  std::optional<trace::model::StepPrediction> predicted{};  // to be kept with the run
  std::vector<std::string> tags{};
  // It is run for its times alone and saves neither checkpoints nor a model: those of a sweep would
  // soon fill the disk. Its settings say nothing of it: a job that is begun with them saves.
  bool is_measured = false;
};

// Whether it runs on the CPU, asked to or of itself.
bool runs_on_cpu(const trace::job::Settings& settings, const CudaProbe& cuda);
// "cpu" or "cuda". Errors (kUsage): no GPU, or more ranks than GPUs without `oversubscribe`.
trace::base::Result<std::string> resolve_device(const trace::job::Settings& settings,
                                                const CudaProbe& cuda);

// Settings that contradict each other, data that is not there, a device that is not there.
// The result is the run's description, still without a folder and a number behind a name that is
// taken. Nothing is created or deleted.
trace::base::Result<trace::model::RunInfo> check_job(const JobRequest& request,
                                                     const CudaProbe& cuda);

// What is trained where nobody says otherwise: the default settings with at most a rank per GPU.
JobRequest default_job(const CudaProbe& cuda);

}  // namespace shardlens::app::launch
