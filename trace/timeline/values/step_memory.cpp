#include "trace/timeline/values/step_memory.h"

#include <algorithm>
#include <tuple>

namespace shardlens::trace::timeline {

namespace {

// A start or an end; at one moment ends come first, since their memory may be given out again.
struct Moment {
  std::int64_t time_ns = 0;
  std::uint32_t allocation = 0;
  bool is_start = false;
};

bool lives(const StepAllocation& allocation) {
  return allocation.bytes > 0 && allocation.end_ns > allocation.start_ns;
}

std::vector<Moment> moments_of(std::span<const StepAllocation> allocations) {
  std::vector<Moment> moments;
  moments.reserve(allocations.size() * 2);
  for (std::uint32_t i = 0; i < allocations.size(); ++i) {
    if (!lives(allocations[i])) continue;
    moments.push_back({allocations[i].start_ns, i, true});
    moments.push_back({allocations[i].end_ns, i, false});
  }
  std::ranges::stable_sort(moments, [](const Moment& a, const Moment& b) {
    return std::tuple(a.time_ns, a.is_start) < std::tuple(b.time_ns, b.is_start);
  });
  return moments;
}

class FlameLayout {
 public:
  FlameLayout(const StepAllocations& step, const FlameOptions& options) : all_(step.all) {
    flame_.least_bytes = 1;
    take_out_constant(options.hides_constant);
    moments_ = shown_moments();
    const std::int64_t highest = highest_of_shown();
    const auto rows = std::max(options.rows, 1);
    flame_.least_bytes = std::max<std::int64_t>(1, (highest + rows - 1) / rows);
    choose_bands(options.most_bands);
  }

  MemoryFlame make() {
    for (std::size_t i = 0; i < moments_.size();) {
      const std::int64_t now = moments_[i].time_ns;
      changed_from_ = stack_.size();
      small_changed_ = false;
      for (; i < moments_.size() && moments_[i].time_ns == now; ++i) apply(moments_[i]);
      settle(now);
    }
    join_points();
    return std::move(flame_);
  }

 private:
  void take_out_constant(bool hides) {
    is_shown_.resize(all_.size());
    for (std::size_t i = 0; i < all_.size(); ++i) {
      const bool hidden = hides && all_[i].is_constant();
      is_shown_[i] = lives(all_[i]) && !hidden;
      if (hidden) flame_.constant_bytes += all_[i].bytes;
    }
  }

  std::vector<Moment> shown_moments() const {
    std::vector<Moment> moments = moments_of(all_);
    std::erase_if(moments, [&](const Moment& moment) { return !is_shown_[moment.allocation]; });
    // What was there already lies by category at the bottom, as it stays longest.
    const auto later = std::ranges::find_if(
        moments, [&](const Moment& moment) { return !all_[moment.allocation].is_older; });
    std::ranges::stable_sort(moments.begin(), later, {}, [&](const Moment& moment) {
      const StepAllocation& one = all_[moment.allocation];
      return std::tuple(moment.time_ns, moment.is_start, one.category, -one.bytes);
    });
    return moments;
  }

  std::int64_t highest_of_shown() const {
    std::int64_t live = 0, highest = 0;
    for (const Moment& moment : moments_) {
      live += all_[moment.allocation].bytes * (moment.is_start ? 1 : -1);
      highest = std::max(highest, live);
    }
    return highest;
  }

  void choose_bands(std::size_t most) {
    std::vector<std::uint32_t> large;
    for (std::uint32_t i = 0; i < all_.size(); ++i) {
      if (!is_shown_[i]) continue;
      if (all_[i].bytes >= flame_.least_bytes) large.push_back(i);
      ++flame_.small_count;
    }
    if (large.size() > most) {
      std::ranges::nth_element(large, large.begin() + static_cast<std::ptrdiff_t>(most), {},
                               [&](std::uint32_t i) { return std::tuple(-all_[i].bytes, i); });
      large.resize(most);
    }
    flame_.small_count -= static_cast<std::int64_t>(large.size());
    band_of_.assign(all_.size(), -1);
    std::ranges::sort(large);
    for (const std::uint32_t i : large) {
      band_of_[i] = static_cast<int>(flame_.bands.size());
      flame_.bands.push_back({i, 0, 0});
    }
    points_.resize(flame_.bands.size());
  }

  void apply(const Moment& moment) {
    const StepAllocation& one = all_[moment.allocation];
    const int band = band_of_[moment.allocation];
    if (band < 0) {
      small_bytes_ += moment.is_start ? one.bytes : -one.bytes;
      small_now_ += moment.is_start ? 1 : -1;
      small_changed_ = true;
      return;
    }
    if (moment.is_start) {
      changed_from_ = std::min(changed_from_, stack_.size());
      stack_.push_back(band);
      return;
    }
    // Most are freed soon after they were made: from the top.
    for (std::size_t at = stack_.size(); at-- > 0;) {
      if (stack_[at] != band) continue;
      stack_.erase(stack_.begin() + static_cast<std::ptrdiff_t>(at));
      changed_from_ = std::min(changed_from_, at);
      return;
    }
  }

  std::int64_t bytes_of(int band) const {
    return all_[flame_.bands[static_cast<std::size_t>(band)].allocation].bytes;
  }

  // Gives what moved its new place.
  void settle(std::int64_t now) {
    tops_.resize(stack_.size());
    for (std::size_t at = changed_from_; at < stack_.size(); ++at) {
      const std::int64_t bottom = at == 0 ? 0 : tops_[at - 1];
      auto& points = points_[static_cast<std::size_t>(stack_[at])];
      if (points.empty() || points.back().offset != bottom) points.push_back({now, bottom});
      tops_[at] = bottom + bytes_of(stack_[at]);
    }
    const std::int64_t top = tops_.empty() ? 0 : tops_.back();
    flame_.highest_bytes = std::max(flame_.highest_bytes, top + small_bytes_);
    const bool moved = !flame_.small.empty() && flame_.small.back().offset != top;
    const bool was_there = !flame_.small.empty() && flame_.small.back().bytes > 0;
    if (small_changed_ || (moved && was_there)) {
      flame_.small.push_back({now, top, small_bytes_, small_now_});
    }
  }

  void join_points() {
    for (std::size_t band = 0; band < points_.size(); ++band) {
      flame_.bands[band].first_point = static_cast<std::uint32_t>(flame_.points.size());
      flame_.bands[band].point_count = static_cast<std::uint32_t>(points_[band].size());
      flame_.points.insert(flame_.points.end(), points_[band].begin(), points_[band].end());
    }
  }

  const std::vector<StepAllocation>& all_;
  MemoryFlame flame_;
  std::vector<Moment> moments_;                          // of what is shown
  std::vector<bool> is_shown_;                           // by allocation
  std::vector<int> band_of_;                             // by allocation; -1: a small one
  std::vector<std::vector<MemoryFlame::Point>> points_;  // by band
  std::vector<int> stack_;                               // bands, the lowest first
  std::vector<std::int64_t> tops_;                       // of the stack's bands
  std::size_t changed_from_ = 0;                         // place in the stack
  std::int64_t small_bytes_ = 0, small_now_ = 0;
  bool small_changed_ = false;
};

}  // namespace

MemoryPeak find_peak(std::span<const StepAllocation> allocations) {
  MemoryPeak peak;
  std::int64_t live = 0;
  for (const Moment& moment : moments_of(allocations)) {
    live += allocations[moment.allocation].bytes * (moment.is_start ? 1 : -1);
    if (live > peak.bytes) {
      peak.bytes = live;
      peak.time_ns = moment.time_ns;
    }
  }
  for (std::uint32_t i = 0; i < allocations.size(); ++i) {
    const StepAllocation& one = allocations[i];
    if (!lives(one) || one.start_ns > peak.time_ns || one.end_ns <= peak.time_ns) continue;
    peak.composition[static_cast<std::size_t>(one.category)] += one.bytes;
    peak.alive.push_back(i);
  }
  std::ranges::stable_sort(peak.alive, std::greater{},
                           [&](std::uint32_t i) { return allocations[i].bytes; });
  return peak;
}

MemoryFlame layout_flame(const StepAllocations& step, const FlameOptions& options) {
  return FlameLayout(step, options).make();
}

FlameHit find_in_flame(const StepAllocations& step, const MemoryFlame& flame, std::int64_t time_ns,
                       std::int64_t offset) {
  for (std::size_t i = 0; i < flame.bands.size(); ++i) {
    const MemoryFlame::Band& band = flame.bands[i];
    const StepAllocation& one = step.all[band.allocation];
    if (one.start_ns > time_ns) break;
    if (one.end_ns <= time_ns) continue;
    const auto points = flame.points_of(band);
    const auto next = std::ranges::upper_bound(points, time_ns, {}, &MemoryFlame::Point::time_ns);
    const std::int64_t bottom = std::prev(next)->offset;
    if (offset >= bottom && offset < bottom + one.bytes) return {static_cast<int>(i), -1};
  }
  const auto next =
      std::ranges::upper_bound(flame.small, time_ns, {}, &MemoryFlame::Small::time_ns);
  if (next == flame.small.begin()) return {};
  const auto& small = *std::prev(next);
  if (offset < small.offset || offset >= small.offset + small.bytes) return {};
  return {-1, static_cast<int>(std::prev(next) - flame.small.begin())};
}

}  // namespace shardlens::trace::timeline
