#include "trace/analysis/compare/named_times.h"

#include <algorithm>

#include "trace/analysis/figures/labels.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/base/words/quantity.h"
#include "trace/model/activity.h"
#include "trace/model/events.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

NamedTimesReader::NamedTimesReader(const RunFigures& run)
    : world_size_(run.info.world_size > 0 ? run.info.world_size
                                          : static_cast<int>(run.ranks.size())) {
  for (const StepFigures& step : run.steps) {
    if (!is_measured(step) || !has_detail(step)) continue;
    places_.resize(std::max(places_.size(), step.ranks.size()));
    for (std::size_t rank = 0; rank < step.ranks.size(); ++rank) {
      const StepBreakdown& own = step.ranks[rank];
      if (own.step_ns <= 0) continue;
      places_[rank].push_back({{own.start_ns, own.start_ns + own.step_ns}, rank_counts_.size()});
    }
    if (rank_counts_.empty()) window_ = {step.start_ns, step.end_ns};
    window_.start_ns = std::min(window_.start_ns, step.start_ns);
    window_.end_ns = std::max(window_.end_ns, step.end_ns);
    rank_counts_.push_back(step.rank_count());
    if (rank_counts_.size() == kMostSteps) break;
  }
}

void NamedTimesReader::learn(const model::Batch& batch) {
  for (const auto& string : batch.strings) strings_.add(string);
  for (const auto& group : batch.process_groups) groups_.add(group, strings_);
}

std::ptrdiff_t NamedTimesReader::step_at(int rank, std::int64_t time_ns) const {
  if (rank < 0 || static_cast<std::size_t>(rank) >= places_.size()) return -1;
  const auto& places = places_[static_cast<std::size_t>(rank)];
  auto place = std::ranges::upper_bound(places, time_ns, {},
                                        [](const Place& each) { return each.window.start_ns; });
  if (place == places.begin()) return -1;
  --place;
  return time_ns < place->window.end_ns ? static_cast<std::ptrdiff_t>(place->step) : -1;
}

bool NamedTimesReader::is_timed(const model::Collective& collective) {
  const auto& members = groups_.members(collective.process_group, collective.rank, world_size_);
  return members.size() == 1 || model::is_timed(collective);
}

std::vector<double>& NamedTimesReader::series_of(DetailKind kind, std::string name) {
  auto& series = sums_[{kind, std::move(name)}];
  series.resize(rank_counts_.size());
  return series;
}

void NamedTimesReader::add_events(const model::EventRun& run) {
  for (const model::Event& event : run.events) {
    const std::string_view name = strings_.get(run.rank, event.name);
    const model::Activity activity = model::activity_of(run.kind, event, name);
    if (activity != model::Activity::kCompute && activity != model::Activity::kCopy) continue;
    const std::ptrdiff_t step = step_at(run.rank, event.start_ns);
    if (step < 0) continue;
    auto& series = by_id_[{run.rank, event.name}];
    if (series == nullptr) {
      series = &series_of(DetailKind::kWork, std::string(name));
    }
    (*series)[static_cast<std::size_t>(step)] +=
        static_cast<double>(std::max<std::int64_t>(event.duration_ns, 0));
  }
}

void NamedTimesReader::add_collective(DetailKind kind, std::string name, std::size_t step,
                                      const model::Collective& collective) {
  if (is_timed(collective)) {
    series_of(kind, std::move(name))[step] +=
        static_cast<double>(collective.end_ns - collective.start_ns);
  } else {
    not_timed_.emplace(kind, std::move(name));
  }
}

void NamedTimesReader::add_collective(const model::Collective& collective) {
  const std::ptrdiff_t step = step_at(collective.rank, collective.start_ns);
  if (step < 0 || collective.end_ns < collective.start_ns) return;
  const auto at = static_cast<std::size_t>(step);
  std::string name(model::to_string(collective.function));
  has_all_sizes_ = has_all_sizes_ && collective.bytes != model::kNotKnown;
  name += " " + base::bytes_text(std::max<std::int64_t>(collective.bytes, 0));
  add_collective(DetailKind::kCollective, std::move(name), at, collective);
  const bool is_tagged = collective.tag_kind == model::TagKind::kBucket ||
                         collective.tag_kind == model::TagKind::kUnit;
  if (!is_tagged) return;
  std::string_view tag = strings_.get(collective.rank, collective.tag_name);
  // The same gather in two runs of which one asks for it earlier.
  if (tag.ends_with(model::kPrefetchedEnding)) tag.remove_suffix(model::kPrefetchedEnding.size());
  add_collective(DetailKind::kTag, tag_text(collective.tag_kind, collective.tag_index, tag), at,
                 collective);
}

void NamedTimesReader::add(const model::Batch& batch) {
  for (const auto& run : batch.events) add_events(run);
  for (const auto& collective : batch.collectives) add_collective(collective);
}

NamedTimes NamedTimesReader::times() const {
  NamedTimes times{.ns = sums_,
                   .not_timed = not_timed_,
                   .steps = rank_counts_.size(),
                   .has_all_sizes = has_all_sizes_};
  for (const NamedTimes::Key& name : not_timed_) times.ns.erase(name);
  for (auto& [name, series] : times.ns) {
    for (std::size_t i = 0; i < series.size(); ++i) series[i] /= rank_counts_[i];
  }
  return times;
}

}  // namespace shardlens::trace::analysis
