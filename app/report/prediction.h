// What a change of settings would do to a recorded run, from that run alone. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/run_info.h"
#include "trace/predict/schedule/ddp_schedule.h"

namespace shardlens::app::report {

struct Prediction {
  trace::model::RunInfo info;        // as recorded
  std::vector<std::string> changes;  // "bucket_cap_mb=4", of what acts on a step
  // Means over the steps that tell enough, of the mean over ranks.
  double recorded_step_ns = 0, step_ns = 0;
  struct Interval {
    double low_ns = 0, high_ns = 0;
  };
  std::optional<Interval> interval;  // 95 %; none: too few steps to tell how much they vary
  std::optional<double> recorded_exposed_ns, exposed_ns;
  // Of tensors, at the peak of the rank that needs most; none: the model's shape is not known.
  std::optional<std::int64_t> recorded_peak_bytes, peak_bytes;
  std::int64_t steps = 0;  // that the prediction is made from
  // Of the step whose predicted time is the median.
  std::int64_t step = 0, step_start_ns = 0;
  trace::predict::DdpSchedule schedule;
  std::string bound;               // what the end of backward waits for, as a sentence
  std::vector<std::string> notes;  // what it assumes
};

// `assignments`: "key=value" as after --set. Error kUsage: settings that contradict each other, a
// change or a run that nothing can be said about, by name.
trace::base::Result<Prediction> predict_run(const std::filesystem::path& run,
                                            const std::vector<std::string>& assignments);

}  // namespace shardlens::app::report
