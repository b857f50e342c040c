// What a sweep compares: settings that differ in a few knobs, as a grid or a list. Any thread.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/launch/device_probe.h"
#include "trace/base/result.h"
#include "trace/job/settings/settings.h"
#include "trace/model/run_info.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::sweep {

struct SweepPoints {
  std::vector<const trace::job::Knob*> varied;  // in the order in which they were named
  std::vector<trace::job::Settings> settings;   // of each point, all of them
};

inline constexpr std::size_t kMostPoints = 1000;

// The product of several "key=value,value,…", the last key changing fastest. Values that contain
// commas are separated by ";"; of values that contain "=" a comma is a part. A key that comes again
// adds values. Errors (kUsage): unknown keys, bad values, too many points, points given twice.
trace::base::Result<SweepPoints> grid_of(const trace::job::Settings& base,
                                         const std::vector<std::string>& axes);
// Each list changes `base` by itself. Errors as above.
trace::base::Result<SweepPoints> points_of(const trace::job::Settings& base,
                                           const std::vector<trace::store::SettingTexts>& lists);

// "bucket_cap_mb=4, overlap_comm=false"
std::string point_text(const SweepPoints& points, std::size_t point);
// Of the knobs that vary, those that the point's strategy obeys; the text of these alone.
std::vector<const trace::job::Knob*> obeyed_knobs(const SweepPoints& points, std::size_t point);
std::string obeyed_text(const SweepPoints& points, std::size_t point);

// What each point comes to. Errors: why it cannot be run, or not be measured.
using PointJobs = std::vector<trace::base::Result<trace::model::RunInfo>>;
PointJobs jobs_of(const SweepPoints& points, const launch::CudaProbe& cuda);
// The same on this machine, whose GPUs are asked for if a point may need one.
PointJobs jobs_of(const SweepPoints& points);
// Caps of buckets that the model's gradients never reach, as the largest that they do; `auto` as
// what it comes to. Without a model that is known: as they are.
trace::job::Settings with_reached_caps(trace::job::Settings settings);
// The points that do the same as one before them, whatever was written (`bucket_cap_mb` says
// nothing to a sharded run): for each that one, else its own place. For jobs without errors.
std::vector<std::size_t> doubles_of(const PointJobs& jobs);
// Leave points out, with their jobs, and say which and why, a line each. Refused: of those from
// `first` on. Doubles: see doubles_of().
std::vector<std::string> leave_out_refused(SweepPoints& points, PointJobs& jobs, std::size_t first);
std::vector<std::string> leave_out_doubles(SweepPoints& points, PointJobs& jobs);

}  // namespace shardlens::app::sweep
