// What the library keeps of a run: enough for its row in the ledger; and what was found out about
// one, kept beside it, since all of its events are read for that. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/session/runs/run_liveness.h"
#include "trace/analysis/figures/figures.h"
#include "trace/analysis/noise/noise_model.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/base/result.h"
#include "trace/model/run_info.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/kept_file.h"

namespace shardlens::app::session {

struct LibraryRun {
  trace::model::RunInfo info;
  trace::analysis::RunSummary summary;
  double peak_memory_bytes = 0;     // of tensors, of the rank that needs most
  double peak_total_bytes = 0;      // the same with what is outside PyTorch; 0: not known
  bool is_padded = false;           // see padded_width()
  trace::analysis::RunNoise noise;  // what tells noise from a difference
  std::string hosts, devices;       // that recorded it; "": not known
  // Of complete steps, in order; NaN where it is not known.
  struct Loss {
    std::int64_t step = 0;
    double value = 0;
  };
  std::vector<Loss> losses;
  RunLiveness liveness;
  bool is_bundled = false;
  std::int64_t number = 0;  // given by the library; 0: none
};

// The run as the noise model takes it. It refers to the record, which must outlive it.
trace::analysis::NoiseRun noise_run(const LibraryRun& record);
trace::analysis::NoiseRun noise_run(LibraryRun&&) = delete;
std::vector<trace::analysis::NoiseRun> noise_runs(const std::vector<LibraryRun>& records);
std::vector<trace::analysis::NoiseRun> noise_runs(std::vector<LibraryRun>&&) = delete;

LibraryRun record_from_figures(const trace::analysis::RunFigures& figures);
// All of a run, from its first commit to its last; ranks whose files cannot be read are named in
// its `unreadable`. Slow.
trace::base::Result<trace::analysis::RunAnalysis> analyse_run(trace::store::RunReader& reader,
                                                              trace::model::RunInfo info);
// Reads the whole run, unless its figures were kept: slow.
trace::base::Result<trace::analysis::RunFigures> read_run_figures(const std::filesystem::path& run);
// Likewise, as a row of the library.
trace::base::Result<LibraryRun> read_library_run(const std::filesystem::path& run);

inline constexpr std::string_view kFiguresCacheFile = "figures.cache";
inline constexpr std::string_view kRecordCacheFile = "ledger.cache";

// The figures of one that has ended, as trace::store::read_kept(). What is known of the run itself
// (`info`) and the size of its files are not among them: words change without any figure.
std::optional<trace::analysis::RunFigures> kept_figures(const std::filesystem::path& run,
                                                        const trace::store::RunStamp& stamp);
// As trace::store::keep(). Nothing is kept of a run that has not ended or could not be read whole.
void keep_figures(const std::filesystem::path& run, const trace::store::RunStamp& stamp,
                  const trace::analysis::RunFigures& figures);

// What the library needs of it, as trace::store::read_kept() and trace::store::keep().
std::optional<LibraryRun> kept_record(const std::filesystem::path& run,
                                      const trace::store::RunStamp& stamp);
void keep_record(const LibraryRun& record, const trace::store::RunStamp& stamp);

}  // namespace shardlens::app::session
