#include "app/session/run_record.h"

#include <algorithm>
#include <limits>

#include "trace/analysis/run_analysis.h"
#include "trace/store/run_reader.h"

namespace shardlens::app {

namespace fs = std::filesystem;

RunRecord record_from_figures(const trace::RunFigures& figures) {
  RunRecord record;
  record.info = figures.info;
  record.summary = figures.summary;
  record.pulse = pulse_of(figures);
  for (const auto& rank : figures.ranks) {
    record.peak_memory_bytes =
        std::max(record.peak_memory_bytes, static_cast<double>(rank.peak.total_bytes()));
  }
  for (const auto& step : figures.steps) {
    if (step.index < 0 || !step.complete) continue;
    const auto slot = static_cast<std::size_t>(step.index);
    // Steps come in order, so a gap is at most as long as the run.
    record.losses.resize(slot + 1, std::numeric_limits<double>::quiet_NaN());
    record.losses[slot] = step.loss;
  }
  return record;
}

trace::Result<RunRecord> read_run_record(const fs::path& run) {
  TRY_ASSIGN(const auto reader, trace::RunReader::open(run));
  TRY_ASSIGN(auto info, reader->info());
  info.folder = run.string();
  trace::RunAnalysis analysis(std::move(info));
  TRY_ASSIGN(const auto batches, reader->poll());
  for (const auto& batch : batches) analysis.add(batch);
  return record_from_figures(analysis.figures());
}

RunStamp stamp_of(const fs::path& run) {
  RunStamp stamp;
  std::error_code error;
  const auto add = [&](const fs::path& file) {
    const auto bytes = fs::file_size(file, error);
    if (!error) stamp.bytes += bytes;
    const auto time = fs::last_write_time(file, error);
    if (!error) stamp.newest = std::max(stamp.newest, time);
  };
  if (!fs::is_directory(run, error)) {
    add(run);
    return stamp;
  }
  for (const auto& entry : fs::directory_iterator(run, error)) {
    // Not -shm, which readers touch, nor logs.
    const auto extension = entry.path().extension().string();
    if (extension == ".sqlite" || extension == ".sqlite-wal") add(entry.path());
  }
  return stamp;
}

}  // namespace shardlens::app
