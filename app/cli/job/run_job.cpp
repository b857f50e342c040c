#include "app/cli/job/run_job.h"

#include <algorithm>

#include "app/cli/job/progress_line.h"
#include "app/cli/job/watched_job.h"
#include "app/cli/terminal/output.h"
#include "app/launch/job_session.h"
#include "app/launch/stop_signals.h"
#include "app/report/report_json.h"
#include "app/report/report_text.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"

namespace shardlens::app::cli {
namespace {

using trace::model::RunStatus;

int print_outcome(const launch::JobStatus& status, const launch::JobSession& job, bool as_json) {
  const bool as_asked = status.went_as_asked();
  const bool failed = status.run.status == RunStatus::kFailed;
  const bool saved = status.save_errors.empty();
  for (const auto& problem : status.save_errors) {
    print_message("error: the run's end could not be saved: " + problem);
  }
  const auto report = report::load_report(job.folder(), {}, &status.run);
  if (!report) {
    if (!as_asked) print_message("error: " + status.run.reason);
    for (const auto& text : status.log_tail) print_message("  " + text);
    return std::max(kFailed, report_error(report.error()));
  }
  // Once only: the text below says it too, but a reader of JSON sees only this.
  if (!as_asked) {
    print_message(failed && as_json ? report::failure_text(*report)
                                    : "error: " + report->figures.info.reason);
  }
  print_result(as_json ? report::dump_json(report::report_json(*report))
                       : report::report_text(*report) + "\n" + job.folder().string() + "\n");
  return as_asked && saved ? kDone : kFailed;
}

}  // namespace

trace::base::Result<int> run_job(const launch::JobRequest& request, bool as_json) {
  launch::StopSignals signals;
  TRY_ASSIGN(const auto job, launch::JobSession::start(request));
  const launch::JobStatus begun = job->poll();
  print_message("Run \"" + begun.run.name +
                "\": " + trace::base::counted(begun.run.world_size, "rank") + " on " +
                begun.run.device + ", " + job->folder().string());
  if (const auto warning = trace::base::network_file_system_warning(job->folder());
      !warning.empty()) {
    print_message("warning: " + warning);
  }
  ProgressLine line(begun.run.name);
  const launch::JobStatus ended =
      watch_job(*job, signals, OnSignal::kStopAfterStep,
                {.show = [&](const RunProgress& progress) { line.show(progress); },
                 .say = [&](const std::string& message) { line.say(message); }})
          .status;
  line.end();
  return print_outcome(ended, *job, as_json);
}

}  // namespace shardlens::app::cli
