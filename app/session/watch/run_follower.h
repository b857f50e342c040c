// One opened run on its way to the screen: reads what was committed, keeps the analysis, the log
// and the timeline of one step. Slow calls: a worker owns it. Not thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/base/result.h"
#include "trace/explore/step_painter.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/kept_file.h"
#include "ui/state/snapshot.h"

namespace shardlens::app::session {

// Which step the timeline shows when the user has not chosen one. Pure; any thread.
// The latest complete step whose details have all arrived: `detail_until_ns` holds, by rank, the
// end of the latest span, collective or operator seen; for steps up to `settled` nothing more is
// awaited. Falls back to the latest complete step when the run records no details. -1: none yet.
std::int64_t followed_step(const std::vector<trace::analysis::StepFigures>& steps,
                           const std::vector<std::int64_t>& detail_until_ns,
                           std::int64_t settled = -1);

// The measured step with full detail whose time is nearest the median: what a finished run opens
// at. Falls back to steps without detail, then to the latest step. -1: there is none.
std::int64_t typical_step(const std::vector<trace::analysis::StepFigures>& steps);

// The figures of step `index`, or null.
const trace::analysis::StepFigures* find_step(
    const std::vector<trace::analysis::StepFigures>& steps, std::int64_t index);

// How the library calls it; empty where that is not known.
struct RunLabel {
  std::string ordinal, name;
  bool operator==(const RunLabel&) const = default;
};

class RunFollower {
 public:
  static trace::base::Result<std::unique_ptr<RunFollower>> open(const std::filesystem::path& run);

  // Reads what was committed up to `until_ns`; true if anything was new. An `until_ns` before what
  // was read already starts from the beginning again. The end of a run whose figures were kept is
  // there at once, without its events.
  trace::base::Result<bool> advance(std::int64_t until_ns = INT64_MAX);
  // Reads the run's status again; true if it changed.
  trace::base::Result<bool> refresh_info();

  // Once a run has ended and was read to its end, its figures are kept with it. False: its files
  // may still be written, so that this is to be called again.
  bool keep();

  // -1: follow the latest. No value: the typical step (see typical_step).
  void select_step(std::optional<std::int64_t> step);

  // The step that view() will show. It changes with time alone, too: the details of a step follow
  // its row within a moment.
  std::int64_t step_to_show(std::int64_t now_ns) const;

  // What panels need of it. `during_replay` hides how the run ended until everything was read;
  // `is_own_job`: this program runs it, so that it lives whatever its files say.
  trace::base::Result<std::shared_ptr<const ui::state::RunView>> view(std::int64_t now_ns,
                                                                      bool during_replay,
                                                                      const RunLabel& label,
                                                                      bool is_own_job = false);

  const trace::model::RunInfo& info() const { return info_; }
  // Another run has its place by now, and is to be opened.
  bool is_replaced() const { return reader_->is_replaced(); }
  trace::base::Result<trace::store::RunReader::CommitRange> commit_range() {
    return reader_->commit_range();
  }

 private:
  RunFollower(std::unique_ptr<trace::store::RunReader> reader, trace::model::RunInfo info,
              trace::store::RunStamp stamp);

  bool has_ended() const;
  bool restore();          // false: nothing was kept
  bool note_unreadable();  // false: nothing new
  void start_over();
  void absorb(const trace::model::Batch& batch);
  void note_detail(int rank, std::int64_t start_ns, std::int64_t end_ns);
  void note_arrivals();
  void add_log(const std::vector<trace::model::LogLine>& lines);
  const std::vector<trace::analysis::StepFigures>& steps() const;
  trace::analysis::RunFigures figures() const;
  trace::base::Result<void> update_timeline(const trace::analysis::RunFigures& figures,
                                            std::int64_t step);
  void add_diagnosis(ui::state::RunView& view, std::int64_t now_ns) const;
  void add_rank_logs(ui::state::RunView& view) const;

  std::unique_ptr<trace::store::RunReader> reader_;
  trace::model::RunInfo info_;
  trace::store::RunStamp stamp_;  // from before its info was read
  const std::uint64_t inode_;     // when it was opened
  std::string file_system_warning_;
  trace::analysis::RunAnalysis analysis_;
  std::optional<trace::analysis::RunFigures>
      kept_;                            // in place of the analysis', which has no steps
  trace::store::RunStamp known_stamp_;  // of a run whose figures are kept
  trace::explore::StepPainter painter_;
  std::int64_t read_until_ns_ = INT64_MIN;
  std::vector<trace::model::LogLine> log_;     // in order of time
  std::vector<std::int64_t> detail_until_ns_;  // by rank

  struct Arrival {
    std::int64_t step = -1;
    std::int64_t wall_ns = 0;
  };
  std::deque<Arrival> arrivals_;  // of complete steps, the last few

  std::optional<std::int64_t> wanted_step_;  // as given to select_step()
  std::shared_ptr<const trace::timeline::StepPicture> timeline_;
  std::int64_t timeline_start_ns_ = 0, timeline_end_ns_ = 0;
  bool timeline_is_stale_ = false;  // rows arrived that belong to it
};

}  // namespace shardlens::app::session
