#include "trace/store/lod/write/lod_ribbon_writer.h"

#include <algorithm>

#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {
constexpr std::size_t kMostOptimizerPhases = 1024;
}  // namespace

void LodRibbonWriter::spoil_closed(std::int64_t start_ns, std::int64_t end_ns) {
  if (start_ns >= closed_ns_ || end_ns <= start_ns) return;
  const std::int64_t first = lod_tile_at(0, start_ns);
  const std::int64_t last = std::min(lod_tile_at(0, end_ns - 1), closed_ - 1);
  if (!spoiled_.empty()) {
    LodSpoiled& known = spoiled_.back();
    if (first >= known.first && first <= known.last + 1) {
      known.last = std::max(known.last, last);
      return;
    }
  }
  spoiled_.push_back({kNumber, first, last});
}

void LodRibbonWriter::add(Kind kind, std::int64_t start_ns, std::int64_t end_ns) {
  if (!is_plausible_time(start_ns, end_ns) || start_ns == end_ns) return;
  spoil_closed(start_ns, end_ns);
  if (end_ns <= closed_ns_) return;
  Set& set = sets_[static_cast<std::size_t>(kind)];
  if (set.intervals.empty()) {
    set.intervals.push_back({start_ns, end_ns});
    return;
  }
  Interval& last = set.intervals.back();
  if (start_ns >= last.start_ns && start_ns <= last.end_ns) {
    last.end_ns = std::max(last.end_ns, end_ns);
    return;
  }
  set.is_mixed = set.is_mixed || start_ns < last.start_ns;
  set.intervals.push_back({start_ns, end_ns});
}

void LodRibbonWriter::add_phase(Phase phase, std::int64_t start_ns, std::int64_t end_ns) {
  if (!is_plausible_time(start_ns, end_ns)) return;
  if (phase == Phase::kOptimizer) {
    spoil_closed(start_ns, end_ns);
    if (start_ns < closed_ns_) remember_optimizer({start_ns, end_ns});
  } else {
    spoil_phases(start_ns, end_ns);
  }
  if (end_ns > closed_ns_) phases_.push_back({start_ns, end_ns, phase});
}

// Another phase changes only what it takes from the optimizer's. That of a long step comes late as
// a rule, but overlaps none.
void LodRibbonWriter::spoil_phases(std::int64_t start_ns, std::int64_t end_ns) {
  if (start_ns >= closed_ns_) return;
  // What is older is forgotten.
  if (optimizer_.size() == kMostOptimizerPhases && start_ns < optimizer_.front().start_ns) {
    spoil_closed(start_ns, end_ns);
    return;
  }
  for (const Interval& each : optimizer_) {
    spoil_closed(std::max(start_ns, each.start_ns), std::min(end_ns, each.end_ns));
  }
}

void LodRibbonWriter::add_evidence(std::int64_t start_ns, std::int64_t end_ns) {
  if (!is_plausible_time(start_ns, end_ns)) return;
  added_.clear();
  stretches_.add(start_ns, end_ns, &added_);
  for (const Interval& each : added_) spoil_closed(each.start_ns, each.end_ns);
}

std::optional<std::int64_t> LodRibbonWriter::next_tile() const {
  std::optional<std::int64_t> next;
  for (const Set& set : sets_) {
    const auto open = std::ranges::partition_point(set.intervals, [&](const Interval& each) {
      return lod_tile_at(0, each.end_ns - 1) < next_;
    });
    if (open == set.intervals.end()) continue;
    const std::int64_t tile = std::max(next_, lod_tile_at(0, open->start_ns));
    next = std::min(next.value_or(tile), tile);
  }
  return next;
}

void LodRibbonWriter::remember_optimizer(Interval phase) {
  const auto place = std::ranges::lower_bound(optimizer_, phase);
  if (place != optimizer_.end() && *place == phase) return;
  optimizer_.insert(place, phase);
  if (optimizer_.size() > kMostOptimizerPhases) optimizer_.erase(optimizer_.begin());
}

LodPyramid::Complete LodRibbonWriter::fill_gaps() const {
  return [this](LodTile& tile, unsigned parts) {
    for (int part = 0; part < kLodParts; ++part) {
      if ((parts >> part & 1u) != 0) continue;
      merge_part(tile, idle_tile(tile.level - 1, tile.index * kLodParts + part, stretches_.all()));
    }
  };
}

Result<void> LodRibbonWriter::close_before(std::int64_t limit, const LodPyramid::Write& write) {
  for (Set& set : sets_) {
    if (std::exchange(set.is_mixed, false)) set.intervals = normalize(std::move(set.intervals));
  }
  std::ranges::sort(phases_);
  const auto complete = fill_gaps();
  const Intervals optimizer = phase_intervals({0, kLatestTimeNs}, phases_, Phase::kOptimizer);
  const Intervals known = subtract(stretches_.all(), sets_[3].intervals);
  const ActivitySets sets{sets_[0].intervals, sets_[1].intervals, sets_[2].intervals, optimizer};
  for (auto next = next_tile(); next && *next < limit; next = next_tile()) {
    next_ = *next + 1;
    const LodTile tile = ribbon_tile(*next, sets, known);
    if (is_idle(tile, stretches_.all())) continue;
    TRY(pyramid_.add(tile, complete, write));
  }
  TRY(pyramid_.close_before(limit, complete, write));
  closed_ = next_ = limit;
  closed_ns_ = limit > kLastLodTile ? INT64_MAX : limit << lod_tile_bits(0);
  forget_closed();
  return {};
}

Result<void> LodRibbonWriter::close_all(const LodPyramid::Write& write) {
  TRY(close_before(kLastLodTile + 1, write));
  return pyramid_.close_all(fill_gaps(), write);
}

void LodRibbonWriter::forget_closed() {
  for (Set& set : sets_) {
    const auto open = std::ranges::partition_point(
        set.intervals, [&](const Interval& each) { return each.end_ns <= closed_ns_; });
    set.intervals.erase(set.intervals.begin(), open);
  }
  for (const PhaseInterval& phase : phases_) {
    const bool is_closed = phase.phase == Phase::kOptimizer && phase.start_ns < closed_ns_;
    if (is_closed) remember_optimizer({phase.start_ns, phase.end_ns});
  }
  std::erase_if(phases_, [&](const PhaseInterval& phase) { return phase.end_ns <= closed_ns_; });
}

std::size_t LodRibbonWriter::pending() const {
  std::size_t count = phases_.size();
  for (const Set& set : sets_) count += set.intervals.size();
  return count;
}

}  // namespace shardlens::trace
