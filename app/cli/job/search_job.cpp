#include "app/cli/job/search_job.h"

#include <chrono>
#include <optional>
#include <utility>

#include "app/cli/job/progress_line.h"
#include "app/cli/job/watched_job.h"
#include "app/cli/terminal/exit_code.h"
#include "app/cli/terminal/output.h"
#include "app/report/tuning/search_report.h"
#include "app/session/tuning/prediction_source.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using std::chrono::steady_clock;
using trace::base::Result;

constexpr std::size_t kStart = 0;  // its point

class SearchLoop {
 public:
  SearchLoop(sweep::Sweep& grid, launch::StopSignals& signals, const SearchOrder& order)
      : grid_(grid),
        signals_(signals),
        order_(order),
        forecasts_(grid.plan(), order.goal, session::learn_run) {
    for (const auto& [slot, result] : grid.results()) report.runs.push_back({slot, {}, {}});
  }

  // None: its user stopped it.
  Result<std::optional<search::Ending>> run_to_end();
  void complete();

  report::SearchReport report;

 private:
  search::SearchJob job() const {
    return {&grid_.plan(), order_.goal, kStart, order_.usable_bytes};
  }
  std::vector<search::Belief> beliefs() {
    return search::beliefs_of(job(), grid_.results(), [&](const auto& run, std::size_t point) {
      return forecasts_(run, point);
    });
  }
  double seconds() const {
    return std::chrono::duration<double>(steady_clock::now() - begun_).count();
  }
  Result<bool> run(const search::Choice& choice);

  sweep::Sweep& grid_;
  launch::StopSignals& signals_;
  const SearchOrder& order_;
  search::RunForecasts forecasts_;
  const steady_clock::time_point begun_ = steady_clock::now();
};

Result<bool> SearchLoop::run(const search::Choice& choice) {
  const auto& points = grid_.plan().points;
  std::string which = "Run " + std::to_string(report.runs.size() + 1) + ", " +
                      sweep::point_text(points, choice.slot.point) + " (" +
                      std::string(report::why_text(choice.why));
  if (choice.predicted) {
    which += ", predicted " + report::cost_text(*choice.predicted, order_.goal);
  }
  which += ")";
  TRY_ASSIGN(const auto request, grid_.request_for(choice.slot));
  TRY_ASSIGN(const auto started, launch::JobSession::start(request));
  ProgressLine line(which, ProgressLine::Elsewhere::kIsSilent);
  const launch::JobStatus ended =
      watch_job(*started, signals_, OnSignal::kKill,
                {.show = [&](const RunProgress& progress) { line.show(progress); },
                 .say = [&](const std::string& message) { line.say(message); }});
  TRY_ASSIGN(const bool counts, grid_.take(choice.slot, ended));
  if (!counts) return false;
  report.runs.push_back({choice.slot, choice.why, choice.predicted});
  const auto& result = grid_.results().at(choice.slot);
  const auto cost =
      result.measure ? search::cost_of(*result.measure, order_.goal) : std::optional<double>();
  line.say(which +
           (cost ? ": " + report::cost_text(*cost, order_.goal) : " failed: " + result.failure));
  return true;
}

Result<std::optional<search::Ending>> SearchLoop::run_to_end() {
  while (true) {
    if (signals_.wait(std::chrono::milliseconds(0))) return std::nullopt;
    const auto decision =
        search::decide(job(), grid_.results(), beliefs(), order_.budget_seconds - seconds());
    if (!decision.choice) return decision.ending;
    TRY_ASSIGN(const bool counts, run(*decision.choice));
    if (!counts) return std::nullopt;
  }
}

void SearchLoop::complete() {
  report.plan = grid_.plan();
  report.job = job();
  report.job.plan = &report.plan;
  report.results = grid_.results();
  report.beliefs = beliefs();
  report.outcome = search::outcome_of(report.job, report.results, report.beliefs);
  report.seconds = seconds();
  report.banners = order_.banners;
}

std::string reason_of(const Result<std::optional<search::Ending>>& ended) {
  if (!ended) return ended.error().message;
  if (!*ended) return "Stopped by the user.";
  switch (**ended) {
    case search::Ending::kSettled:
      return "Ended because nothing else that is predicted is likely to win beyond noise.";
    case search::Ending::kNoTime:
      return "Ended because the budget does not hold another run; a larger --budget goes on.";
    case search::Ending::kNoResult:
      break;
  }
  return "Ended because the settings that it starts from cannot be run.";
}

}  // namespace

int run_search(sweep::Sweep& grid, launch::StopSignals& signals, const SearchOrder& order) {
  print_message("Search \"" + grid.plan().name +
                "\": " + std::to_string(grid.plan().points.settings.size()) + " points, at most " +
                ui::present::format_elapsed(order.budget_seconds) +
                (grid.found() > 0 ? ", " + std::to_string(grid.found()) + " runs of before" : ""));
  for (const auto& banner : order.banners) print_message(banner);
  SearchLoop loop(grid, signals, order);
  const auto ended = loop.run_to_end();
  loop.complete();
  loop.report.status = !ended ? "failed" : *ended ? "done" : "stopped";
  loop.report.reason = reason_of(ended);
  print_result(order.as_json ? report::dump_json(report::search_json(loop.report)) + "\n"
                             : report::search_text(loop.report));
  const int code = ended ? kDone : report_error(ended.error());
  if (code != kDone || !*ended) {
    print_message("What is finished is kept. Go on with: " + order.command_to_go_on);
    return code;
  }
  return loop.report.outcome ? kDone : kFailed;
}

}  // namespace shardlens::app::cli
