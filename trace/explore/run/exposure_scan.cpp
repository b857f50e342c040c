#include "trace/explore/run/exposure_scan.h"

#include <algorithm>
#include <span>
#include <utility>

#include "trace/explore/run/window_activity.h"
#include "trace/timeline/pieces/collective_parts.h"

namespace shardlens::trace::explore {

namespace {
// How many are classified per call, which takes some milliseconds.
constexpr std::size_t kCollectivesPerCall = 512;
constexpr std::int64_t kLongestStretchNs = 5'000'000'000;
}  // namespace

void classify_some(store::EventStore& store, const RankSnapshot& rank, std::size_t end,
                   std::vector<base::TimeClass>& classes) {
  const auto time_of = [&](std::size_t i) {
    const model::Collective& row = rank.rows->collectives.rows[i];
    return timeline::drawn_time(row.start_ns, row.end_ns);
  };
  const std::size_t first = classes.size();
  end = std::min(end, first + kCollectivesPerCall);
  base::Interval window = time_of(first);
  std::size_t at = first;
  for (; at < end; ++at) {
    const base::Interval time = time_of(at);
    if (at > first && time.end_ns - window.start_ns > kLongestStretchNs) break;
    window.end_ns = std::max(window.end_ns, time.end_ns);
  }
  window.end_ns = std::max(window.end_ns, window.start_ns + 1);
  const WindowActivity activity = window_activity(store, rank, window);
  for (std::size_t i = first; i < at; ++i)
    classes.push_back(timeline::communication_class(time_of(i), activity.compute));
}

bool ExposureScan::scan_some(store::EventStore& store, const RankSnapshot& rank,
                             std::int64_t until_ns) {
  const auto& collectives = rank.rows->collectives;
  if (!restored_.empty() && restored_.size() == collectives.size() && ids_.empty()) {
    ids_ = collectives.ids;
    classes_ = std::exchange(restored_, {});
    operators_counted_ = rank.operators_compute;
    shared_.reset();
    return false;
  }
  // Rows that came late may have been sorted in between those that were classified.
  const bool is_prefix = ids_.size() <= collectives.size() &&
                         std::equal(ids_.begin(), ids_.end(), collectives.ids.begin());
  // Or it became known only now that this rank's operators compute, so that they count, too.
  const bool has_missed_some = rank.operators_compute && !operators_counted_;
  if (!is_prefix || has_missed_some) {
    ids_.clear();
    classes_.clear();
  }
  operators_counted_ = rank.operators_compute;
  const auto& ends = collectives.latest_end;
  const auto end =
      until_ns == INT64_MAX
          ? collectives.size()
          : static_cast<std::size_t>(std::ranges::lower_bound(ends, until_ns) - ends.begin());
  if (classes_.size() >= end) return false;
  classify_some(store, rank, end, classes_);
  const auto ids = std::span(collectives.ids).first(classes_.size()).subspan(ids_.size());
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  shared_.reset();
  return classes_.size() < end;
}

void ExposureScan::add_news(const RankRows& rows, std::int64_t from_ns) {
  const auto& ends = rows.collectives.latest_end;
  const auto settled =
      static_cast<std::size_t>(std::ranges::lower_bound(ends, from_ns) - ends.begin());
  if (ids_.size() <= settled) return;
  ids_.resize(settled);
  classes_.resize(settled);
  shared_.reset();
}

std::shared_ptr<const std::vector<base::TimeClass>> ExposureScan::classes_of(
    const RankRows& rows) const {
  if (ids_ != rows.collectives.ids) return nullptr;
  if (!shared_) shared_ = std::make_shared<const std::vector<base::TimeClass>>(classes_);
  return shared_;
}

}  // namespace shardlens::trace::explore
