#include "app/session/runs/library_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/session/runs/figures_cache.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/store/read/run_reader.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;

trace::analysis::NoiseRun noise_run(const LibraryRun& record) {
  return {{&record.info, record.hosts, record.devices}, &record.noise};
}

std::vector<trace::analysis::NoiseRun> noise_runs(const std::vector<LibraryRun>& records) {
  std::vector<trace::analysis::NoiseRun> runs;
  for (const LibraryRun& record : records) runs.push_back(noise_run(record));
  return runs;
}

LibraryRun record_from_figures(const trace::analysis::RunFigures& figures) {
  LibraryRun record;
  record.info = figures.info;
  record.summary = figures.summary;
  record.pulse = pulse_of(figures);
  record.is_padded = trace::analysis::padded_width(figures).has_value();
  record.noise = trace::analysis::noise_of(figures);
  auto machine = trace::analysis::machine_of(figures.ranks);
  record.hosts = std::move(machine.hosts);
  record.devices = std::move(machine.devices);
  for (const auto& rank : figures.ranks) {
    record.peak_memory_bytes =
        std::max(record.peak_memory_bytes, static_cast<double>(rank.peak.allocated_bytes()));
    record.peak_total_bytes =
        std::max(record.peak_total_bytes, static_cast<double>(rank.peak.total_bytes()));
  }
  for (const auto& step : figures.steps) {
    // With `loss_every` most steps' losses are not known.
    const bool was_read = !std::isnan(step.loss) || step.nonfinite;
    if (step.complete && was_read) record.losses.push_back({step.index, step.loss});
  }
  return record;
}

trace::base::Result<trace::analysis::RunAnalysis> analyse_run(trace::store::RunReader& reader,
                                                              trace::model::RunInfo info) {
  trace::analysis::RunAnalysis analysis(info);
  TRY_ASSIGN(auto problems,
             trace::store::read_everything(
                 reader, [&](const trace::model::Batch& batch) { analysis.add(batch); }));
  analysis.set_info(trace::store::without_unreadable(std::move(info), std::move(problems),
                                                     reader.readable_ranks()));
  return analysis;
}

trace::base::Result<trace::analysis::RunFigures> read_run_figures(const fs::path& run) {
  const auto stamp = trace::store::run_stamp(run);
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(auto info, reader->info());
  info.folder = run.string();
  if (auto kept = kept_figures(run, stamp)) {
    kept->info = std::move(info);
    return std::move(*kept);
  }
  TRY_ASSIGN(const auto analysis, analyse_run(*reader, std::move(info)));
  auto figures = analysis.figures();
  if (trace::store::is_settled(run, stamp)) keep_figures(run, stamp, figures);
  return figures;
}

trace::base::Result<LibraryRun> read_library_run(const fs::path& run) {
  TRY_ASSIGN(const auto figures, read_run_figures(run));
  return record_from_figures(figures);
}

}  // namespace shardlens::app::session
