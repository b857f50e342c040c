// A made-up run to look around in: the rows, and the events of any row and step, always the same.
// What workers would make of a file, without one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::inspect {

// When everything made up for tests and pictures begins.
inline constexpr std::int64_t kSampleStart = 1'795'183'331'000'000'000;

struct SampleRunOptions {
  int ranks = 8;
  int steps = 500;
  std::int64_t step_ns = 612'400'000;
  int extra_streams = 0;  // kernels on further streams of each rank, that fold together
};

struct SampleEvent {
  std::int64_t start_ns = 0, end_ns = 0;
  std::string name;
  int level = 0;
  trace::base::TimeClass piece_class = trace::base::TimeClass::kCompute;
  std::int64_t latest_start_ns = 0;
  trace::timeline::EventRef ref = {};
};

class SampleRun {
 public:
  explicit SampleRun(const SampleRunOptions& options = {});

  const trace::timeline::TimelineRows& rows() const { return rows_; }
  const SampleRunOptions& options() const { return options_; }
  // In order of level and start. Empty for rows without events.
  std::vector<SampleEvent> events(int row, std::int64_t step) const;
  std::int64_t step_start(int rank, std::int64_t step) const;
  std::int64_t step_end(int rank, std::int64_t step) const;
  // Bytes, a percentage.
  double area_value(int row, std::int64_t time_ns) const;
  double area_highest(int row) const;

 private:
  int add_row(int rank, trace::timeline::RowKind kind, int levels, std::string label,
              std::string unit = "");
  void add_rank(int rank);

  SampleRunOptions options_;
  trace::timeline::TimelineRows rows_;
  std::vector<std::int64_t> starts_;  // of steps, and the end of the last one
};

// As a worker would answer: never more pieces than pixels.
trace::timeline::TimelinePicture sample_picture(const SampleRun& run,
                                                const trace::timeline::PictureRequest& request);

}  // namespace shardlens::ui::inspect
