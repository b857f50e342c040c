#include "app/cli/job/sweep_job.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <utility>

#include "app/cli/job/progress_line.h"
#include "app/cli/job/run_job.h"
#include "app/cli/terminal/output.h"
#include "app/report/report_json.h"
#include "app/report/tuning/search_report.h"
#include "app/report/tuning/sweep_report.h"
#include "app/search/search_words.h"
#include "app/session/runs/run_banners.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep.h"
#include "trace/base/number_text.h"
#include "trace/job/huggingface/find_model.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using std::chrono::steady_clock;
using trace::base::Result;
using SearchEnded = Result<std::optional<search::Ending>>;

// The jobs of a sweep or a search, one after another, each behind a line of its own.
class JobsInTurn {
 public:
  using SecondsLeft = std::function<std::optional<double>(const RunProgress&)>;

  explicit JobsInTurn(launch::StopSignals& signals) : signals_(signals) {}

  bool wants_to_stop() { return is_asked_to_stop_ || signals_.wait(std::chrono::milliseconds(0)); }
  // `which`: "Run 2 of 6, bucket_cap_mb=4"; `left`: of all of them, as far as it is known.
  Result<launch::JobStatus> run(std::string which, const launch::JobRequest& request,
                                const SecondsLeft& left = {}) {
    which_ = std::move(which);
    TRY_ASSIGN(const auto job, launch::JobSession::start(request));
    line_.emplace(which_, ProgressLine::Elsewhere::kIsSilent);
    auto watched = watch_job(*job, signals_, [&](RunProgress progress) {
      if (left) progress.seconds_left = left(progress);
      line_->show(progress);
    });
    is_asked_to_stop_ = watched.is_asked_to_stop;
    return std::move(watched.status);
  }
  // What came of the last one.
  void tell(const std::string& text) {
    line_->say(which_ + text);
    line_.reset();
  }

 private:
  launch::StopSignals& signals_;
  bool is_asked_to_stop_ = false;  // while the last run ended
  std::string which_;
  std::optional<ProgressLine> line_;
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

// `announced`: points of which that was said.
void announce_stopped(const sweep::Sweep& sweep, std::set<std::size_t>& announced) {
  const auto next = sweep.next();
  const int round = next ? next->round : sweep.plan().repeats;
  const auto states = sweep::states_at(sweep.plan(), sweep.results(), round);
  for (std::size_t point = 0; point < states.size(); ++point) {
    if (states[point].stopped_early.empty() || !announced.insert(point).second) continue;
    print_message(sweep::point_text(sweep.plan().points, point) +
                  " cannot win any more and is not run again: " + states[point].stopped_early);
  }
}

std::string what_came_of_it(const sweep::Sweep& sweep, const sweep::Slot& slot) {
  const auto& plan = sweep.plan();
  const auto& results = sweep.results();
  const auto& result = results.at(slot);
  std::string text = result.measure ? ": " : " failed: " + result.failure;
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
  return text;
}

// False: the user stopped it.
Result<bool> run_to_end(sweep::Sweep& sweep, launch::StopSignals& signals) {
  std::set<std::size_t> announced;  // points that are not run again
  announce_stopped(sweep, announced);
  JobsInTurn jobs(signals);
  return sweep::run_to_end(sweep,
                           {.wants_to_stop = [&] { return jobs.wants_to_stop(); },
                            .run =
                                [&](sweep::Slot slot, const launch::JobRequest& request) {
                                  const auto left = sweep::work_left(sweep.plan(), sweep.results());
                                  const std::size_t done = sweep::runs_made(sweep.results());
                                  const std::string which =
                                      "Run " + std::to_string(done + 1) + " of " +
                                      std::to_string(done + static_cast<std::size_t>(left.runs)) +
                                      ", " + sweep::point_text(sweep.plan().points, slot.point);
                                  const auto begun = steady_clock::now();
                                  return jobs.run(which, request, [&](const RunProgress& progress) {
                                    return seconds_left(left, progress, begun);
                                  });
                                },
                            .counted =
                                [&](sweep::Slot slot) {
                                  jobs.tell(what_came_of_it(sweep, slot));
                                  announce_stopped(sweep, announced);
                                }});
}

std::string what_runs(const sweep::SweepPlan& plan, const search::Choice& choice,
                      std::size_t number) {
  std::string text = "Run " + std::to_string(number) + ", " +
                     sweep::obeyed_text(plan.points, choice.slot.point) + " (" +
                     std::string(search::why_text(choice.why));
  if (choice.predicted) {
    text += ", predicted " + search::predicted_text(*choice.predicted, plan.search->goal);
  }
  return text + ")";
}

std::string cost_of_run(const sweep::Sweep& grid, const sweep::Slot& slot) {
  const auto& result = grid.results().at(slot);
  const auto goal = grid.plan().search->goal;
  const auto cost = result.measure ? search::cost_of(*result.measure, goal) : std::nullopt;
  return cost ? ": " + search::cost_text(*cost, goal) : " failed: " + result.failure;
}

SearchEnded run_to_end(search::SearchLoop& loop, const sweep::Sweep& grid,
                       launch::StopSignals& signals) {
  JobsInTurn jobs(signals);
  return loop.run_to_end(
      {.wants_to_stop = [&] { return jobs.wants_to_stop(); },
       .run =
           [&](const search::Choice& choice, const launch::JobRequest& request) {
             return jobs.run(what_runs(grid.plan(), choice, loop.runs().size() + 1), request);
           },
       .counted =
           [&](const search::Choice& choice) { jobs.tell(cost_of_run(grid, choice.slot)); }});
}

std::string reason_of(const SearchEnded& ended) {
  if (!ended) return ended.error().message;
  if (!*ended) return "Stopped by the user.";
  return search::ending_text(**ended) + (**ended == search::Ending::kNoTime
                                             ? " With a larger --budget the same command goes on."
                                             : "");
}

// `ended`: an error, or whether it came to its end.
template <typename Ended>
const char* status_of(const Ended& ended) {
  return !ended ? "failed" : *ended ? "done" : "stopped";
}

template <typename Ended>
int exit_code(const Ended& ended, bool has_results, const SweepDisplay& display) {
  const int code = ended ? kDone : report_error(ended.error());
  if (code == kDone && *ended) return has_results ? kDone : kFailed;
  print_message("What is finished is kept. Go on with: " + display.command_to_go_on);
  return code;
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

void print_left_out(const std::vector<std::string>& points, const std::string& what) {
  constexpr std::size_t kNamed = 4;  // where many are left out
  for (std::size_t i = 0; i < std::min(points.size(), kNamed); ++i) {
    print_message("Left out: " + points[i]);
  }
  if (points.size() <= kNamed) return;
  print_message("… and " + std::to_string(points.size() - kNamed) + " more that " + what);
}

void say_that_nothing_is_saved(const sweep::SweepPoints& points) {
  const bool would_be = std::ranges::any_of(points.settings, [](const auto& settings) {
    return trace::job::saves_checkpoints(settings) || trace::job::leaves_model(settings);
  });
  if (would_be) {
    print_message("The runs are measured and save neither checkpoints nor models");
  }
}

std::vector<std::string> common_banners(const sweep::PointJobs& jobs) {
  std::vector<std::vector<std::string>> banners;
  for (const auto& job : jobs) banners.push_back(session::banners_of(*job));
  return session::banners_in_common(banners);
}

int run_sweep(sweep::Sweep& sweep, launch::StopSignals& signals, const SweepDisplay& display) {
  announce(sweep, display);
  const auto whole = run_to_end(sweep, signals);
  sweep::LearntRuns learnt(session::learn_run);
  report::SweepReport report{
      .plan = sweep.plan(),
      .verdict = sweep::verdict_of(sweep.plan(), sweep.results()),
      .predictions = sweep::predictions_of(sweep.plan(), sweep.results(), learnt),
      .status = status_of(whole),
      .reason = whole ? "" : whole.error().message,
      .banners = display.banners};
  if (whole && !*whole) report.reason = "stopped by the user";
  print_result(display.as_json ? report::dump_json(report::sweep_json(report))
                               : report::sweep_text(report));
  const bool has_all = std::ranges::none_of(report.verdict.points, [](const auto& point) {
    return point.standing == sweep::Standing::kFailed || point.standing == sweep::Standing::kNotRun;
  });
  return exit_code(whole, has_all, display);
}

int run_search(sweep::Sweep& grid, launch::StopSignals& signals,
               const search::ForecastSources& sources, const SweepDisplay& display) {
  const sweep::SweepPlan& plan = grid.plan();
  print_message("Search \"" + plan.name + "\": " + std::to_string(plan.points.settings.size()) +
                " points, at most " + ui::present::format_elapsed(plan.search->budget_seconds) +
                (grid.found() > 0 ? ", " + std::to_string(grid.found()) + " runs of before" : ""));
  for (const auto& banner : display.banners) print_message(banner);
  search::SearchLoop loop(grid, sources);
  const SearchEnded ended = run_to_end(loop, grid, signals);
  const report::SearchReport report{.plan = plan,
                                    .results = grid.results(),
                                    .standing = loop.standing(),
                                    .runs = loop.runs(),
                                    .status = status_of(ended),
                                    .reason = reason_of(ended),
                                    .seconds = loop.seconds(),
                                    .banners = display.banners};
  print_result(display.as_json ? report::dump_json(report::search_json(report))
                               : report::search_text(report));
  return exit_code(ended, report.standing.outcome.has_value(), display);
}

}  // namespace shardlens::app::cli
