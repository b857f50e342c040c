#include "app/cli/job/sweep_job.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>

#include "app/cli/job/progress_line.h"
#include "app/cli/job/watched_job.h"
#include "app/cli/terminal/output.h"
#include "app/report/tuning/sweep_report.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep_loop.h"
#include "trace/base/number_text.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using std::chrono::steady_clock;
using trace::base::Result;

class SweepLoop {
 public:
  SweepLoop(sweep::Sweep& sweep, launch::StopSignals& signals) : sweep_(sweep), signals_(signals) {}

  // False: the user stopped it.
  Result<bool> run_all();
  void announce_stopped();

 private:
  Result<launch::JobStatus> run(sweep::Slot slot, const launch::JobRequest& request);
  void tell(sweep::Slot slot);

  sweep::Sweep& sweep_;
  launch::StopSignals& signals_;
  bool is_asked_to_stop_ = false;  // while the last run ended
  std::string which_;              // "Run 2 of 6, bucket_cap_mb=4"
  std::optional<ProgressLine> line_;
  std::set<std::size_t> announced_;  // points that are not run again
};

// What is left of the run at hand by its own steps, as long as no other has ended.
std::optional<double> seconds_left(const sweep::WorkLeft& left, const RunProgress& progress,
                                   steady_clock::time_point begun) {
  const double elapsed = std::chrono::duration<double>(steady_clock::now() - begun).count();
  if (left.seconds) return std::max(0.0, *left.seconds - elapsed);
  if (progress.steps_total == 0 || progress.steps_done == 0) return std::nullopt;
  const double whole = elapsed * static_cast<double>(progress.steps_total) /
                       static_cast<double>(progress.steps_done);
  return std::max(0.0, whole * left.runs - elapsed);
}

void SweepLoop::announce_stopped() {
  const auto next = sweep_.next();
  const int round = next ? next->round : sweep_.plan().repeats;
  const auto states = sweep::states_at(sweep_.plan(), sweep_.results(), round);
  for (std::size_t point = 0; point < states.size(); ++point) {
    if (states[point].stopped_early.empty() || !announced_.insert(point).second) continue;
    print_message(sweep::point_text(sweep_.plan().points, point) +
                  " cannot win any more and is not run again: " + states[point].stopped_early);
  }
}

void SweepLoop::tell(sweep::Slot slot) {
  const auto& plan = sweep_.plan();
  const auto& results = sweep_.results();
  const auto& result = results.at(slot);
  std::string text = which_ + (result.measure ? ": " : " failed: " + result.failure);
  if (result.measure) {
    text += ui::present::format_duration(result.measure->step_ns).text() + " per step";
  } else if (result.is_to_be_retried()) {
    text += ". It is run once more in the end";
  }
  const auto left = sweep::work_left(plan, results);
  const auto best = sweep::verdict_of(plan, results).best;
  if (left.runs > 0 && best) text += ", best so far " + sweep::point_text(plan.points, *best);
  if (left.runs > 0 && left.seconds) {
    text += ", " + ui::present::format_seconds_left(*left.seconds);
  }
  line_->say(text);
  line_.reset();
}

Result<launch::JobStatus> SweepLoop::run(sweep::Slot slot, const launch::JobRequest& request) {
  const auto left = sweep::work_left(sweep_.plan(), sweep_.results());
  const std::size_t done = sweep::runs_made(sweep_.results());
  which_ = "Run " + std::to_string(done + 1) + " of " +
           std::to_string(done + static_cast<std::size_t>(left.runs)) + ", " +
           sweep::point_text(sweep_.plan().points, slot.point);
  TRY_ASSIGN(const auto job, launch::JobSession::start(request));
  line_.emplace(which_, ProgressLine::Elsewhere::kIsSilent);
  const auto begun = steady_clock::now();
  const auto show = [&](RunProgress progress) {
    progress.seconds_left = seconds_left(left, progress, begun);
    line_->show(progress);
  };
  auto watched =
      watch_job(*job, signals_, OnSignal::kKill,
                {.show = show, .say = [&](const std::string& message) { line_->say(message); }});
  is_asked_to_stop_ = watched.is_asked_to_stop;
  return std::move(watched.status);
}

Result<bool> SweepLoop::run_all() {
  const auto whole = sweep::run_to_end(
      sweep_, {.wants_to_stop =
                   [&] { return is_asked_to_stop_ || signals_.wait(std::chrono::milliseconds(0)); },
               .run = [&](sweep::Slot slot, const auto& request) { return run(slot, request); },
               .counted =
                   [&](sweep::Slot slot) {
                     tell(slot);
                     announce_stopped();
                   }});
  line_.reset();
  return whole;
}

void announce(const sweep::Sweep& sweep, const SweepDisplay& display) {
  const auto& plan = sweep.plan();
  const auto left = sweep::work_left(plan, sweep.results());
  std::string text = "Sweep \"" + plan.name + "\": ";
  if (sweep.found() == 0) {
    const std::size_t points = plan.points.settings.size();
    text += std::to_string(points) + (points == 1 ? " point, " : " points, ") +
            (plan.repeats == 1 ? "once" : std::to_string(plan.repeats) + " times") +
            " each: " + trace::base::counted(static_cast<std::size_t>(left.runs), "run");
    if (points > 1) text += " in random order (--seed " + std::to_string(plan.seed) + ")";
  } else if (left.runs == 0) {
    text += "all " + trace::base::counted(sweep.found(), "run") +
            " are there already (--overwrite records them anew, --repeat adds more)";
  } else {
    text += trace::base::counted(sweep.found(), "run") + " of before, " +
            std::to_string(left.runs) + " to go";
    if (left.seconds) text += ", " + ui::present::format_seconds_left(*left.seconds);
  }
  print_message(text);
  for (const auto& banner : display.banners) print_message(banner);
}

}  // namespace

int run_sweep(sweep::Sweep& sweep, launch::StopSignals& signals, const SweepDisplay& display) {
  announce(sweep, display);
  SweepLoop loop(sweep, signals);
  loop.announce_stopped();
  const auto whole = loop.run_all();
  report::SweepReport report{
      .plan = sweep.plan(),
      .verdict = sweep::verdict_of(sweep.plan(), sweep.results()),
      .predictions =
          sweep::SweepPredictor(session::learn_run).predict(sweep.plan(), sweep.results()),
      .status = !whole   ? "failed"
                : *whole ? "done"
                         : "stopped",
      .reason = whole ? "" : whole.error().message,
      .banners = display.banners};
  if (whole && !*whole) report.reason = "stopped by the user";
  print_result(display.as_json ? report::dump_json(report::sweep_json(report))
                               : report::sweep_text(report));
  const int code = whole ? kDone : report_error(whole.error());
  if (code != kDone || !*whole) {
    print_message("What is finished is kept. Go on with: " + display.command_to_go_on);
    return code;
  }
  const bool has_all = std::ranges::none_of(report.verdict.points, [](const auto& point) {
    return point.standing == sweep::Standing::kFailed || point.standing == sweep::Standing::kNotRun;
  });
  return has_all ? kDone : kFailed;
}

}  // namespace shardlens::app::cli
