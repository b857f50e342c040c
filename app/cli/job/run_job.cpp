#include "app/cli/job/run_job.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

#include "app/cli/terminal/output.h"
#include "app/launch/hang_watch.h"
#include "app/report/report_json.h"
#include "app/report/report_text.h"
#include "trace/analysis/steps/rank_activity.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"

namespace shardlens::app::cli {
namespace {

using trace::model::RunStatus;

constexpr std::chrono::milliseconds kLookEvery{200};
constexpr double kNewest = 0.25;  // the weight of the newest step in the shown step time

void add_steps(const trace::model::Batch& batch, RunProgress& progress) {
  for (const auto& step : batch.steps) {
    if (step.rank != 0 || step.index < progress.steps_done) continue;
    // What a damaged file says.
    if (!trace::analysis::RankActivity::is_plausible_step(step.index) ||
        !trace::base::is_plausible_time(step.start_ns, step.end_ns)) {
      continue;
    }
    const auto duration = static_cast<double>(step.end_ns - step.start_ns);
    progress.step_ns =
        progress.step_ns == 0 ? duration : (1 - kNewest) * progress.step_ns + kNewest * duration;
    progress.steps_done = step.index + 1;
    if (!std::isnan(step.loss) || step.nonfinite) progress.loss = step.loss;
  }
}

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
    if (failed && as_json) {
      print_lines(report::failure_text(*report));
    } else {
      print_message("error: " + report->figures.info.reason);
    }
  }
  print_result(as_json ? report::dump_json(report::report_json(*report))
                       : report::report_text(*report) + "\n" + job.folder().string() + "\n");
  return as_asked && saved ? kDone : kFailed;
}

}  // namespace

std::string stopping_text(std::int64_t loss_every) {
  return (loss_every == 1 ? std::string("Stopping after this step")
                          : "Stopping after the next step whose loss is read, within " +
                                std::to_string(loss_every) + " steps (loss_every)") +
         "; again to kill the ranks at once";
}

WatchedJob watch_job(launch::JobSession& job, launch::StopSignals& signals,
                     const std::function<void(const RunProgress&)>& show,
                     const std::function<void(const std::string&)>& say) {
  launch::JobStatus status = job.poll();
  const trace::job::Settings& settings = status.run.settings;
  RunProgress progress{.steps_total = settings.epochs > 0 ? 0 : settings.steps,
                       .loss = std::numeric_limits<double>::quiet_NaN()};
  launch::HangMonitor files(job.folder(), status.run,
                            [&](const auto& batch) { add_steps(batch, progress); });
  bool asked = false;
  while (status.phase != launch::JobStatus::Phase::kEnded) {
    if (signals.wait(kLookEvery)) {
      if (asked || !say) {
        job.kill_now();
      } else {
        job.request_stop();
        say(stopping_text(status.run.settings.loss_every));
      }
      asked = true;
    }
    status = job.poll();
    if (const auto hang = files.look(status)) job.request_abort(*hang);
    show(progress);
  }
  return {std::move(status), asked};
}

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
      watch_job(
          *job, signals, [&](const RunProgress& progress) { line.show(progress); },
          [&](const std::string& message) { line.say(message); })
          .status;
  line.end();
  return print_outcome(ended, *job, as_json);
}

}  // namespace shardlens::app::cli
