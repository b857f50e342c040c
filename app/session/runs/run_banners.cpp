#include "app/session/runs/run_banners.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>
#include <utility>

#include "app/launch/hang_watch.h"
#include "app/launch/rank_exit.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace {

// A rank has not moved on for longer than its steps explain.
bool stands_still(const trace::analysis::RunFigures& figures, std::int64_t now_ns) {
  const std::chrono::seconds patience(figures.info.settings.collective_timeout_s);
  for (std::size_t i = 0; i < figures.ranks.size(); ++i) {
    const auto& beat = figures.ranks[i].heartbeat;
    if (beat.progress_ns == 0) continue;
    const bool has_stepped = std::ranges::any_of(figures.steps, [i](const auto& step) {
      return i < step.ranks.size() && step.ranks[i].step_ns > 0;
    });
    const auto limit =
        launch::hang_limit(figures.summary.step_ns.median, has_stepped, beat.phase, patience);
    if (now_ns - beat.progress_ns > limit.count()) return true;
  }
  return false;
}

// In a run that came to its end nobody waits any more: what still does was not recorded whole.
std::size_t collectives_without_end(const trace::analysis::RunFigures& figures) {
  if (figures.info.status != trace::model::RunStatus::kDone) return 0;
  std::size_t count = 0;
  for (const auto& rank : figures.ranks) count += rank.pending.size();
  return count;
}

// What a trace of another program's profiler leaves unknown.
std::vector<std::string> untold(const trace::analysis::RunFigures& figures) {
  std::vector<std::string> texts;
  bool has_unknown_groups = false;
  std::string unmarked, missing, cut_off;
  std::map<int, std::vector<std::int64_t>> steps;
  for (const auto& rank : figures.ranks) {
    has_unknown_groups |= std::ranges::any_of(
        rank.recent_completed, [](const auto& call) { return call.process_group < 0; });
    if (unmarked.empty()) unmarked = trace::model::unmarked_steps(rank.info.sources);
    if (cut_off.empty()) cut_off = trace::model::cut_off_trace(rank.info.sources);
    if (missing.empty()) missing = trace::model::missing_collectives(rank.info.sources);
    if (!rank.info.device.empty()) steps[rank.info.rank];
  }
  for (const auto& step : figures.steps) {
    for (auto& [rank, own] : steps) {
      const auto i = static_cast<std::size_t>(rank);
      if (i < step.ranks.size() && step.ranks[i].step_ns > 0) own.push_back(step.index);
    }
  }
  if (figures.info.world_size == 0) {
    texts.emplace_back(trace::model::kUnknownRanks);
  } else if (has_unknown_groups) {
    texts.emplace_back(trace::model::kUnknownGroups);
  }
  for (const std::string& text :
       {missing, cut_off, unmarked, trace::model::different_steps(steps, unmarked.empty())}) {
    if (!text.empty()) texts.push_back(text);
  }
  return texts;
}

}  // namespace

bool is_simulated(const trace::model::RunInfo& info) {
  return info.simulated_link || info.communication_off ||
         trace::job::injects_faults(info.settings) ||
         trace::job::reduces_after_backward(info.settings);
}

std::vector<std::string> banners_of(const trace::model::RunInfo& info) {
  std::vector<std::string> banners;
  if (info.device == "cpu") {
    banners.emplace_back("CPU run: shows how it works, not how fast a GPU is");
  }
  if (info.simulated_link) {
    banners.push_back("Simulated link of " + trace::job::link_text(info.settings.simulate_link) +
                      ": communication takes as long as it would there");
  }
  if (info.shared_gpu) banners.emplace_back("Shared GPU: timings not representative");
  if (info.communication_off) {
    banners.emplace_back(
        "Simulated without communication: a ceiling for speed, the loss is invalid");
  }
  if (trace::job::injects_faults(info.settings)) {
    banners.push_back("Simulated fault: " + info.settings.inject);
  }
  if (trace::job::reduces_after_backward(info.settings)) {
    banners.emplace_back("Simulated without overlap: communication waits for the backward pass");
  }
  return banners;
}

std::vector<std::string> banners_of(const trace::analysis::RunFigures& figures) {
  const auto& info = figures.info;
  std::vector<std::string> banners;
  for (const std::string& problem : info.unreadable)
    banners.push_back("Incomplete: " + problem + ". Figures are those of the ranks that are left");
  if (const auto count = collectives_without_end(figures); count > 0) {
    banners.push_back("Incomplete: " + std::to_string(count) +
                      (count == 1 ? " collective was" : " collectives were") +
                      " not seen to end: figures of communication are without them");
  }
  if (!info.imported_from.empty()) {
    const auto ranks = std::ranges::count_if(
        figures.ranks, [](const auto& rank) { return !rank.info.device.empty(); });
    const bool is_recorded = trace::model::was_recorded_from_outside(info);
    const std::string origin =
        is_recorded ? "Recorded from outside" : "Imported from " + info.imported_from;
    const std::string all = info.world_size > 0 ? std::to_string(info.world_size) : "?";
    banners.push_back(origin + ": " + std::to_string(ranks) + " of " + all +
                      (info.world_size == 1 ? " rank" : " ranks") + ", settings not known");
    if (!is_recorded) std::ranges::move(untold(figures), std::back_inserter(banners));
    return banners;
  }
  std::ranges::move(banners_of(info), std::back_inserter(banners));
  return banners;
}

std::vector<std::string> banners_in_common(const std::vector<std::vector<std::string>>& of_runs) {
  std::vector<std::string> common;
  if (!of_runs.empty()) common = of_runs.front();
  for (const auto& banners : of_runs) {
    std::erase_if(common, [&](const std::string& banner) {
      return std::ranges::find(banners, banner) == banners.end();
    });
  }
  return common;
}

std::vector<trace::model::LogLine> rank_log_lines(const std::filesystem::path& run_folder, int rank,
                                                  std::size_t lines, std::int64_t time_ns) {
  std::vector<trace::model::LogLine> result;
  for (auto& text : launch::log_tail(trace::store::rank_log(run_folder, rank), lines)) {
    if (text.empty()) continue;
    const bool is_error = text.starts_with("error:");
    result.push_back({.rank = rank,
                      .time_ns = time_ns,
                      .level = is_error ? trace::model::LogLine::Level::kError
                                        : trace::model::LogLine::Level::kInfo,
                      .text = std::move(text)});
  }
  return result;
}

trace::analysis::HangDiagnosis diagnosis_of(const trace::analysis::RunFigures& figures,
                                            const trace::model::StringTable& strings,
                                            std::int64_t now_ns) {
  const bool failed = figures.info.status == trace::model::RunStatus::kFailed;
  const bool stands =
      figures.info.status == trace::model::RunStatus::kRunning && stands_still(figures, now_ns);
  if (!failed && !stands) return {};
  return trace::analysis::diagnose_hang(figures, strings, failed ? 0 : now_ns);
}

}  // namespace shardlens::app::session
