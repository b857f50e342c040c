#include "app/cli/job/search_job.h"

#include <chrono>
#include <optional>

#include "app/cli/job/progress_line.h"
#include "app/cli/job/watched_job.h"
#include "app/cli/terminal/output.h"
#include "app/report/tuning/search_report.h"
#include "app/search/search_words.h"
#include "ui/present/format.h"

namespace shardlens::app::cli {
namespace {

using trace::base::Result;
using Ended = Result<std::optional<search::Ending>>;

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

std::string what_came_of_it(const sweep::Sweep& grid, const sweep::Slot& slot) {
  const auto& result = grid.results().at(slot);
  const auto goal = grid.plan().search->goal;
  const auto cost = result.measure ? search::cost_of(*result.measure, goal) : std::nullopt;
  return cost ? ": " + search::cost_text(*cost, goal) : " failed: " + result.failure;
}

Ended run_to_end(search::SearchLoop& loop, const sweep::Sweep& grid, launch::StopSignals& signals) {
  std::string which;
  bool is_asked_to_stop = false;  // while the last run ended
  return loop.run_to_end(
      {.wants_to_stop =
           [&] { return is_asked_to_stop || signals.wait(std::chrono::milliseconds(0)); },
       .run = [&](const search::Choice& choice,
                  const launch::JobRequest& request) -> Result<launch::JobStatus> {
         which = what_runs(grid.plan(), choice, loop.runs().size() + 1);
         TRY_ASSIGN(const auto started, launch::JobSession::start(request));
         ProgressLine line(which, ProgressLine::Elsewhere::kIsSilent);
         auto watched =
             watch_job(*started, signals, OnSignal::kKill,
                       {.show = [&](const RunProgress& progress) { line.show(progress); },
                        .say = [&](const std::string& message) { line.say(message); }});
         is_asked_to_stop = watched.is_asked_to_stop;
         return std::move(watched.status);
       },
       .counted =
           [&](const search::Choice& choice) {
             print_message(which + what_came_of_it(grid, choice.slot));
           }});
}

std::string reason_of(const Ended& ended) {
  if (!ended) return ended.error().message;
  if (!*ended) return "Stopped by the user.";
  return search::ending_text(**ended) + (**ended == search::Ending::kNoTime
                                             ? " With a larger --budget the same command goes on."
                                             : "");
}

}  // namespace

int run_search(sweep::Sweep& grid, launch::StopSignals& signals, const SearchOrder& order) {
  const sweep::SweepPlan& plan = grid.plan();
  print_message("Search \"" + plan.name + "\": " + std::to_string(plan.points.settings.size()) +
                " points, at most " + ui::present::format_elapsed(plan.search->budget_seconds) +
                (grid.found() > 0 ? ", " + std::to_string(grid.found()) + " runs of before" : ""));
  for (const auto& banner : order.banners) print_message(banner);
  search::SearchLoop loop(grid, order.sources);
  const Ended ended = run_to_end(loop, grid, signals);
  const report::SearchReport report{.plan = plan,
                                    .results = grid.results(),
                                    .standing = loop.standing(),
                                    .runs = loop.runs(),
                                    .status = !ended   ? "failed"
                                              : *ended ? "done"
                                                       : "stopped",
                                    .reason = reason_of(ended),
                                    .seconds = loop.seconds(),
                                    .banners = order.banners};
  print_result(order.as_json ? report::dump_json(report::search_json(report))
                             : report::search_text(report));
  const int code = ended ? kDone : report_error(ended.error());
  if (code != kDone || !*ended) {
    print_message("What is finished is kept. Go on with: " + order.command_to_go_on);
    return code;
  }
  return report.standing.outcome ? kDone : kFailed;
}

}  // namespace shardlens::app::cli
