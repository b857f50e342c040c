#include "trace/store/lod/lod_stretches.h"

#include <algorithm>

namespace shardlens::trace {

namespace {
// Of more the oldest are joined: what lies between them is then taken for idle.
constexpr std::size_t kMostStretches = 4096;
}  // namespace

void LodStretches::add(std::int64_t start_ns, std::int64_t end_ns, Intervals* added) {
  if (!stretches_.empty()) {
    Interval& last = stretches_.back();
    if (start_ns >= last.start_ns && start_ns - last.end_ns <= kLodGapNs) {
      if (end_ns <= last.end_ns) return;
      if (added) added->push_back({last.end_ns, end_ns});
      last.end_ns = end_ns;
      return;
    }
  }
  insert({start_ns, end_ns}, added);
}

void LodStretches::insert(Interval interval, Intervals* added) {
  const auto first = std::ranges::partition_point(stretches_, [&](const Interval& each) {
    return interval.start_ns - each.end_ns > kLodGapNs;
  });
  auto last = first;
  Interval joined = interval;
  std::int64_t at = joined.start_ns;  // known up to here
  for (; last != stretches_.end() && last->start_ns - interval.end_ns <= kLodGapNs; ++last) {
    joined.start_ns = std::min(joined.start_ns, last->start_ns);
    joined.end_ns = std::max(joined.end_ns, last->end_ns);
    if (last == first) at = joined.start_ns;
    if (added && last->start_ns > at) added->push_back({at, last->start_ns});
    at = std::max(at, last->end_ns);
  }
  if (added && joined.end_ns > at) added->push_back({at, joined.end_ns});
  stretches_.insert(stretches_.erase(first, last), joined);
  if (stretches_.size() <= kMostStretches) return;
  if (added) added->push_back({stretches_[0].end_ns, stretches_[1].start_ns});
  stretches_[1].start_ns = stretches_[0].start_ns;
  stretches_.erase(stretches_.begin());
}

}  // namespace shardlens::trace
