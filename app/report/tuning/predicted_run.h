// What a change of settings would do to a recorded run, from that run alone. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/launch/device_probe.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/tuning/prediction.h"

namespace shardlens::app::report {

struct PredictedRun {
  trace::model::RunInfo info;  // as recorded
  trace::tuning::Prediction prediction;
  trace::tuning::PredictedStep step;           // the one with the median time
  trace::tuning::PredictedStep recorded_step;  // the same one with the recorded settings
  std::optional<double> apart{};               // NoiseModel::apart() of its job in its library
  std::int64_t usable_bytes = 0;               // for tensors of a rank, where it ran; 0: not known
  // Of another program's run: by knob, what is changed in it.
  std::vector<std::pair<const trace::job::Knob*, std::string>> in_program{};

  // None: not known.
  std::optional<bool> fits() const;
};

// What other settings are asked for.
struct AskedSettings {
  // All of them, from those of the run; none: those of the run.
  std::function<trace::job::Settings(const trace::job::Settings& recorded)> from_file;
  std::vector<std::string> assignments;  // after it: "bucket_cap_mb=4"
};

// Many settings at once.
struct AskedPoints {
  AskedSettings start;  // of which all points are changes
  // As of sweep::grid_of(); none: what a search for a faster step tries.
  std::vector<std::string> axes{};
};

struct PredictedPoint {
  trace::job::Settings settings;
  std::vector<const trace::job::Knob*> varied;  // those that say something of it
  std::optional<trace::tuning::Prediction> prediction{};
  std::string refused{};   // why there is none
  std::string bound_by{};  // what bounds the typical step
  std::int64_t usable_bytes = 0;

  std::optional<bool> fits() const;
};

struct PredictedPoints {
  trace::model::RunInfo info;     // as recorded
  std::optional<double> apart{};  // as of PredictedRun
  // Those that take least per token first, then those that do not fit, then those that are refused;
  // one at least is not.
  std::vector<PredictedPoint> ranked;
};

// Files of `shardlens calibrate`.
struct GivenCosts {
  std::filesystem::path beside{};   // "": what is kept beside the run
  std::filesystem::path instead{};  // of what the run measured; "": of nothing
};

// What is not known of a change is left out, by name. Error kUsage: settings that contradict each
// other, a run that nothing can be said about, or nothing but such changes.
trace::base::Result<PredictedRun> predict_run(const std::filesystem::path& run,
                                              const AskedSettings& asked,
                                              const GivenCosts& costs = {});
// The same of many, from a run that is read once. Errors: those of grid_of() or of the run, a knob
// that is set and varied at once, or, where all points are refused, why.
trace::base::Result<PredictedPoints> predict_points(const std::filesystem::path& run,
                                                    const AskedPoints& asked,
                                                    const GivenCosts& costs = {});
// Of a run with all of `settings`, from `run`, to be kept with it. None: nothing changes a step's
// time. Errors as above, whatever would be left out, and a device of another kind than the run's,
// where the job would run on a machine with these GPUs.
trace::base::Result<std::optional<trace::model::StepPrediction>> predict_job(
    const std::filesystem::path& run, trace::job::Settings settings, const launch::CudaProbe& cuda);

}  // namespace shardlens::app::report
