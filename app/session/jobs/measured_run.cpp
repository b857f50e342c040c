#include "app/session/jobs/measured_run.h"

namespace shardlens::app::session {

sweep::WholeRun measured(const LibraryRun& record) {
  const auto& summary = record.summary;
  sweep::WholeRun whole;
  whole.last_step = summary.last_step;
  whole.steps_measured = summary.steps_measured;
  whole.measure.step_ns = summary.step_ns.mean;
  if (summary.has_detail) whole.measure.exposed_ns = summary.exposed_ns;
  whole.measure.tokens_per_s = summary.tokens_per_s;
  if (record.peak_memory_bytes > 0) whole.measure.peak_tensor_bytes = record.peak_memory_bytes;
  if (record.peak_total_bytes > 0) whole.measure.peak_memory_bytes = record.peak_total_bytes;
  whole.measure.is_padded = record.is_padded;
  whole.measure.seconds = static_cast<double>(record.info.end_ns - record.info.start_ns) / 1e9;
  return whole;
}

trace::base::Result<sweep::WholeRun> measured_run(const std::filesystem::path& run) {
  return read_library_run(run).map(measured);
}

}  // namespace shardlens::app::session
