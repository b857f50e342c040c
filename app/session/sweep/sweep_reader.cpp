#include "app/session/sweep/sweep_reader.h"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <string>
#include <system_error>
#include <utility>

#include "app/search/search_words.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/run_banners.h"
#include "app/session/tuning/prediction_source.h"
#include "app/sweep/sweep_file.h"
#include "app/sweep/sweep_verdict.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::Result;
using ui::state::ShownSweep;

namespace {

ui::state::SweepPoint shown_point(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                                  const sweep::PointVerdict& verdict, std::size_t index) {
  ui::state::SweepPoint point{verdict};
  point.settings = plan.points.settings[index];
  for (const auto* knob : plan.points.varied) {
    point.values.push_back(trace::job::value_text(point.settings, *knob));
  }
  for (const auto& [slot, result] : results) {
    if (slot.point != index || !result.measure) continue;
    point.runs.push_back({result.run, result.measure->step_ns});
  }
  return point;
}

std::string ended_text(const std::string& ended) {
  const bool is_for_time = ended == to_string(search::Ending::kNoTime);
  return search::ending_text(ended) +
         (is_for_time ? " Search… with the same settings and more time goes on." : "");
}

ui::state::PointCost searched_cost(search::Goal goal, const sweep::SweepResults& results,
                                   const search::Belief& belief, std::size_t point) {
  ui::state::PointCost cost;
  if (belief.runs > 0) cost.measured = belief.cost;
  cost.half_width = belief.half_width;
  if (belief.predicted) {
    cost.predicted = belief.predicted->cost;
    if (belief.predicted->is_sure()) {
      cost.low = belief.predicted->cost - belief.predicted->half_width;
      cost.high = belief.predicted->cost + belief.predicted->half_width;
    }
  }
  cost.runs = sweep::costs_of(results, point, goal);
  return cost;
}

ui::state::SweepStanding standing_in(const search::Belief& belief, bool is_best,
                                     const std::optional<bool>& is_behind) {
  using ui::state::SweepStanding;
  if (belief.has_failed) return SweepStanding::kFailed;
  if (belief.runs == 0) return SweepStanding::kNotRun;
  if (is_best) return SweepStanding::kBest;
  if (!is_behind) return SweepStanding::kNotKnown;
  return *is_behind ? SweepStanding::kSlower : SweepStanding::kWithinNoise;
}

void show_means(search::Goal goal, ui::state::SweepPoint& point) {
  const auto& cost = *point.searched;
  point.step_ns.reset();
  point.half_width_ns.reset();
  if (!cost.measured) return;
  double sum = 0;
  for (const auto& run : point.runs) sum += run.step_ns;
  point.step_ns = sum / static_cast<double>(point.runs.size());
  if (goal == search::Goal::kStepTime) point.half_width_ns = cost.half_width;
  if (goal == search::Goal::kTokenRate) point.tokens_per_s = 1e9 / *cost.measured;
}

}  // namespace

ShownSweep shown_sweep(const sweep::SweepPlan& plan, const sweep::SweepResults& results,
                       const sweep::SweepPredictions& predictions) {
  const auto verdict = sweep::verdict_of(plan, results);
  const auto left = sweep::work_left(plan, results);
  ShownSweep shown;
  shown.name = plan.name;
  shown.varied = plan.points.varied;
  shown.repeats = plan.repeats;
  shown.by_tokens = verdict.goal == sweep::Goal::kTokenRate;
  shown.best = verdict.best;
  shown.why = verdict.why;
  shown.runs_done = sweep::runs_made(results);
  shown.runs_left = static_cast<std::size_t>(left.runs);
  shown.seconds_left = left.seconds;
  if (plan.search) {
    shown.search = {std::string(to_string(plan.search->goal)), plan.search->budget_seconds,
                    ended_text(plan.search->ended)};
    shown.runs_left = 0;
    shown.seconds_left.reset();
  }
  shown.phase =
      shown.is_complete() ? ui::state::SweepPhase::kDone : ui::state::SweepPhase::kUnfinished;
  shown.predicted_from = predictions.from;
  for (std::size_t i = 0; i < verdict.points.size(); ++i) {
    auto& point = shown.points.emplace_back(shown_point(plan, results, verdict.points[i], i));
    if (i < predictions.points.size()) point.prediction = predictions.points[i];
  }
  return shown;
}

void show_search(const sweep::SweepPlan& plan, const search::Standing& standing,
                 const sweep::SweepResults& results, ShownSweep& shown) {
  const auto& [beliefs, outcome] = standing;
  const search::Goal goal = plan.search->goal;
  shown.why = outcome || shown.runs_done > 0 ? search::verdict_text(plan, results, outcome) : "";
  shown.best = outcome ? std::optional(outcome->chosen()) : std::nullopt;
  shown.by_tokens = goal == search::Goal::kTokenRate;
  shown.best_first = search::best_first(beliefs);
  // The best that is shown may be the start, which is kept while another has the lower mean.
  const auto behind = shown.best ? search::behind(plan, results, *shown.best)
                                 : std::vector<std::optional<bool>>(beliefs.size());
  for (std::size_t i = 0; i < shown.points.size(); ++i) {
    auto& point = shown.points[i];
    point.searched = searched_cost(goal, results, beliefs[i], i);
    show_means(goal, point);
    point.standing = standing_in(beliefs[i], shown.best == i, behind[i]);
    if (point.standing != ui::state::SweepStanding::kFailed) {
      point.reason = search::why_not_text(beliefs[i], goal);
    }
    point.slower_by.reset();
    if (shown.best && beliefs[i].runs > 0) {
      point.slower_by = *beliefs[i].cost / *beliefs[*shown.best].cost - 1;
    }
  }
}

sweep::WholeRun measured(const LibraryRun& record) {
  const auto& summary = record.summary;
  sweep::WholeRun whole;
  whole.last_step = summary.last_step;
  whole.steps_measured = summary.steps_measured;
  whole.measure.step_ns = summary.step_ns.mean;
  if (summary.has_detail) whole.measure.exposed_ns = summary.exposed_ns;
  whole.measure.tokens_per_s = summary.tokens_per_s;
  if (record.peak_memory_bytes > 0) whole.measure.peak_tensor_bytes = record.peak_memory_bytes;
  if (record.peak_total_bytes > 0) whole.measure.peak_memory_bytes = record.peak_total_bytes;
  whole.measure.is_padded = record.is_padded;
  whole.measure.seconds = static_cast<double>(record.info.end_ns - record.info.start_ns) / 1e9;
  return whole;
}

Result<sweep::WholeRun> measured_run(const fs::path& run) {
  return read_library_run(run).map(measured);
}

std::vector<std::string> newest_sweeps(const fs::path& runs_dir) {
  std::vector<std::pair<fs::file_time_type, std::string>> dated;
  for (auto& name : sweep::sweep_names(runs_dir)) {
    std::error_code error;
    const auto time = fs::last_write_time(sweep::sweep_folder(runs_dir, name), error);
    dated.emplace_back(error ? fs::file_time_type::min() : time, std::move(name));
  }
  std::ranges::stable_sort(dated, std::ranges::greater{},
                           [](const auto& entry) { return entry.first; });
  std::vector<std::string> names;
  for (auto& [time, name] : dated) names.push_back(std::move(name));
  return names;
}

Result<sweep::WholeRun> SweepSource::read_run(const fs::path& run) {
  const auto known = runs_.find(run);
  if (known != runs_.end()) return known->second.run;
  TRY_ASSIGN(const LibraryRun record, read_library_run(run));
  KnownRun read{measured(record), banners_of(record.info)};
  return runs_.emplace(run, std::move(read)).first->second.run;
}

search::Standing SweepSource::standing_of(const sweep::Sweep& grid) {
  if (!machine_) machine_ = this_machine();
  const std::pair of{grid.created_ns(), grid.plan().search->goal};
  if (!forecasts_ || forecasts_of_ != of) {
    forecasts_.emplace(grid.plan(), forecast_sources(*machine_));
  }
  forecasts_of_ = of;
  return search::standing_of(grid.plan(), grid.results(), *forecasts_);
}

ShownSweep SweepSource::read(const std::string& name) {
  if (std::exchange(name_, name) != name || !learnt_) {
    runs_.clear();
    learnt_.emplace(learn_run);
    forecasts_.reset();
  }
  const auto there =
      sweep::Sweep::look_at(runs_dir_, name, [this](const fs::path& run) { return read_run(run); });
  if (!there) return {.name = name, .problem = there.error().message};
  // A search predicts by itself.
  const bool is_search = there->plan().search.has_value();
  auto shown =
      shown_sweep(there->plan(), there->results(),
                  is_search ? sweep::SweepPredictions{}
                            : sweep::predictions_of(there->plan(), there->results(), *learnt_));
  if (is_search) show_search(there->plan(), standing_of(*there), there->results(), shown);
  std::vector<std::vector<std::string>> banners;  // of the runs that count
  for (const auto& [slot, result] : there->results()) {
    const auto known = runs_.find(result.folder);
    if (known != runs_.end()) banners.push_back(known->second.banners);
  }
  shown.banners = banners_in_common(banners);
  if (sweep::Sweep::is_held(runs_dir_, name)) shown.phase = ui::state::SweepPhase::kElsewhere;
  return shown;
}

SweepReader::SweepReader(fs::path runs_dir, std::function<void()> on_change)
    : runs_dir_(std::move(runs_dir)),
      on_change_(std::move(on_change)),
      source_(runs_dir_),
      reading_([this](const Question& question, const auto&) { answer(question); }) {}

// Its file is replaced in its folder.
trace::base::FileStamp SweepReader::stamp_of(const std::string& name) const {
  return trace::base::stamp_of(sweep::sweep_folder(runs_dir_, name));
}

void SweepReader::answer(const Question& question) {
  ReadSweeps now{.names = newest_sweeps(runs_dir_), .shown = nullptr, .is_read = true};
  std::string name = question.name;
  if (name.empty() && !now.names.empty()) name = now.names.front();
  const auto stamp = stamp_of(name);
  const auto is_same = [&] { return stamp == stamp_ && sweep::Sweep::is_held(runs_dir_, name); };
  if (question.only_if_changed && is_same()) return;
  stamp_ = stamp;
  try {
    if (!name.empty()) now.shown = std::make_shared<const ShownSweep>(source_.read(name));
  } catch (const std::exception& error) {
    now.shown =
        std::make_shared<const ShownSweep>(ShownSweep{.name = name, .problem = error.what()});
  }
  {
    const std::lock_guard lock(mutex_);
    now.asked = question.number;
    now.version = read_.version + 1;
    read_ = std::move(now);
  }
  on_change_();
}

std::uint64_t SweepReader::show(const std::string& name) {
  asked_ = {.name = name, .number = asked_.number + 1};
  reading_.ask(asked_);
  return asked_.number;
}

void SweepReader::look_again() {
  if (!reading_.is_idle()) return;
  Question again = asked_;
  again.only_if_changed = true;
  reading_.ask(std::move(again));
}

ReadSweeps SweepReader::state() const {
  const std::lock_guard lock(mutex_);
  return read_;
}

}  // namespace shardlens::app::session
