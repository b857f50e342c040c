#include "app/report/run_report.h"

#include <charconv>
#include <string_view>

#include "app/launch/rank_exit.h"
#include "app/report/report_json.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/run_liveness.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/base/wall_clock.h"
#include "trace/store/read/run_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"

namespace shardlens::app::report {
namespace {

namespace fs = std::filesystem;
using trace::analysis::RunFigures;
using trace::base::Result;

constexpr std::size_t kShownLogLines = 20;

bool parse_step(std::string_view text, std::int64_t& value) {
  const auto step = trace::base::number_from<std::int64_t>(text);
  if (step) value = *step;
  return step && *step >= 0;
}

void measure_over(RunFigures& figures, const std::vector<trace::analysis::StepFigures>& steps) {
  const auto theory = figures.summary.bytes_sent_per_step_theory;
  figures.summary = trace::analysis::summarize(figures.info, steps, figures.ranks);
  figures.summary.bytes_sent_per_step_theory = theory;
  trace::analysis::set_rank_means(steps, figures.ranks);
}

// Steps outside `range` are shown as they are, but count as little as warm-up; who names a range
// wants it measured, also where skip_steps would leave it out.
void restrict_to(RunFigures& figures, StepRange range) {
  std::vector<trace::analysis::StepFigures> steps = figures.steps;
  for (auto& step : steps) {
    step.warmup = !range.holds(step.index);
  }
  measure_over(figures, steps);
}

// "rank 3 failed: …" → 3
int rank_named_first(const std::string& reason) {
  constexpr std::string_view kRank = "rank ";
  int rank = -1;
  if (reason.starts_with(kRank)) {
    std::from_chars(reason.data() + kRank.size(), reason.data() + reason.size(), rank);
  }
  return rank;
}

// All that `report` does: what it cannot read or refuses is damage, too.
Result<void> read_as_report_does(const fs::path& run, trace::store::VerifyReport& verified) {
  const auto cannot = [&](const std::string& why) {
    trace::store::Damage damage;
    damage.file = trace::base::quoted(run);
    damage.what = "no report can be made: " + why;
    verified.damage.push_back(std::move(damage));
  };
  const auto report = load_report(run);
  if (trace::store::StopReading::wanted()) {
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "the check was stopped before its end");
  }
  if (!report) {
    cannot(report.error().message);
    return {};
  }
  for (const std::string& problem : report->figures.info.unreadable) cannot(problem);
  static_cast<void>(report_json(*report));
  return {};
}

}  // namespace

Result<StepRange> parse_step_range(const std::string& text) {
  const auto dots = text.find("..");
  const std::string_view all = text;
  const std::string_view first = all.substr(0, dots);
  const std::string_view last = dots == std::string::npos ? first : all.substr(dots + 2);
  StepRange range;
  const bool good = !all.empty() && all != ".." &&
                    (first.empty() || parse_step(first, range.first)) &&
                    (last.empty() || parse_step(last, range.last)) && range.first <= range.last;
  if (good) return range;
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "--steps " + text +
          " is not a range of steps. Write first..last, both included and numbered as "
          "the run's steps are, as in 10..20.");
}

std::optional<std::int64_t> step_at(const RunFigures& figures, std::int64_t time_ns) {
  for (const auto& step : figures.steps) {
    if (step.start_ns <= time_ns && time_ns < step.end_ns) return step.index;
  }
  return std::nullopt;
}

Result<RunFigures> load_run(const fs::path& run, std::optional<StepRange> range) {
  TRY_ASSIGN(RunReport report, load_report(run, range));
  return std::move(report.figures);
}

Result<RunReport> load_report(const fs::path& run, std::optional<StepRange> range,
                              const trace::model::RunInfo* ended) {
  TRY_ASSIGN(const auto reader, trace::store::RunReader::open(run));
  TRY_ASSIGN(trace::model::RunInfo info, reader->info());
  if (ended != nullptr) {
    info.status = ended->status;
    info.reason = ended->reason;
    info.end_ns = ended->end_ns;
  }
  TRY_ASSIGN(const auto analysis, session::analyse_run(*reader, std::move(info)));
  RunReport report;
  report.figures = analysis.figures();
  report.figures.recorder.bytes_on_disk = reader->bytes_on_disk();
  report.saved_model = trace::store::saved_model(run);
  report.range = range;
  if (range) restrict_to(report.figures, *range);
  if (session::is_abandoned(session::liveness_of(report.figures), trace::base::wall_clock_ns()))
    session::mark_as_cut_off(report.figures.info);
  const trace::model::RunInfo& outcome = report.figures.info;
  if (outcome.status != trace::model::RunStatus::kFailed) return report;
  report.diagnosis = trace::analysis::diagnose_hang(report.figures, analysis.strings());
  report.failed_rank = rank_named_first(outcome.reason);
  if (report.failed_rank >= 0) {
    report.log_tail =
        launch::log_tail(trace::store::rank_log(run, report.failed_rank), kShownLogLines);
  }
  return report;
}

RunFigures whole_run(const RunReport& report) {
  RunFigures figures = report.figures;
  if (report.range) measure_over(figures, figures.steps);
  return figures;
}

Result<trace::store::VerifyReport> check_run(const fs::path& run,
                                             const trace::store::VerifyOptions& options) {
  TRY_ASSIGN(auto report, trace::store::verify_run(run, options));
  if (report.damage.empty()) TRY(read_as_report_does(run, report));
  return report;
}

}  // namespace shardlens::app::report
