#include "trace/store/lod/tiles/lod_missing.h"

#include <algorithm>
#include <iterator>

namespace shardlens::trace {

void LodMissing::add(std::int64_t first, std::int64_t last) {
  if (of_all_[0].holds(first, last)) return;
  for (int level = 0; level < kLodLevels; ++level) {
    const int shift = kLodFactorBits * level;
    of_all_[static_cast<std::size_t>(level)].add(first >> shift, last >> shift);
  }
}

void LodMissing::add_of(int stream, std::int64_t first, std::int64_t last) {
  for (int level = 0; level < kLodLevels; ++level) {
    const int shift = kLodFactorBits * level;
    of_some_[static_cast<std::size_t>(level)][stream].add(first >> shift, last >> shift);
  }
}

void LodMissing::add_at(int level, std::int64_t index) {
  of_all_[static_cast<std::size_t>(level)].add(index, index);
}

void LodMissing::add_wrong(int stream, std::int64_t first, std::int64_t last) {
  add_of(stream, first, last);
  for (int level = 0; level < kLodLevels; ++level) {
    const int shift = kLodFactorBits * level;
    wrong_in_file_[static_cast<std::size_t>(level)][stream].add(first >> shift, last >> shift);
  }
}

void LodMissing::add_wrong_at(int stream, int level, std::int64_t index) {
  of_some_[static_cast<std::size_t>(level)][stream].add(index, index);
  wrong_in_file_[static_cast<std::size_t>(level)][stream].add(index, index);
}

void LodMissing::forget_wrong() {
  for (OfStreams& of_level : of_some_) of_level.clear();
  for (OfStreams& of_level : wrong_in_file_) of_level.clear();
}

bool LodMissing::touches(const OfStreams& ranges, int stream, std::int64_t first,
                         std::int64_t last) {
  const auto found = ranges.find(stream);
  return found != ranges.end() && found->second.touches(first, last);
}

bool LodMissing::touches(int stream, int level, std::int64_t first, std::int64_t last) const {
  const auto at = static_cast<std::size_t>(level);
  return of_all_[at].touches(first, last) || touches(of_some_[at], stream, first, last);
}

int LodMissing::lowest_level() const {
  for (int level = 0; level < kLodLevels; ++level) {
    const auto at = static_cast<std::size_t>(level);
    if (!of_all_[at].is_empty() || !of_some_[at].empty()) return level;
  }
  return kLodLevels;
}

std::int64_t LodMissing::first_at(int level) const {
  const auto at = static_cast<std::size_t>(level);
  std::int64_t first = of_all_[at].is_empty() ? INT64_MAX : of_all_[at].front();
  for (const auto& [stream, ranges] : of_some_[at]) first = std::min(first, ranges.front());
  return first;
}

std::int64_t LodMissing::count_at_bottom() const {
  std::int64_t sum = of_all_[0].count();
  for (const auto& [stream, ranges] : of_some_[0]) sum += ranges.count();
  return sum;
}

std::vector<LodMissing::OfStream> LodMissing::take(int level, std::int64_t index, int streams) {
  const auto at = static_cast<std::size_t>(level);
  std::vector<OfStream> taken;
  const bool is_of_all = of_all_[at].touches(index, index);
  for (int stream = 0; stream < streams; ++stream) {
    if (!is_of_all && !touches(of_some_[at], stream, index, index)) continue;
    taken.push_back({stream, !touches(wrong_in_file_[at], stream, index, index)});
  }
  of_all_[at].remove(index);
  for (auto each = of_some_[at].begin(); each != of_some_[at].end();) {
    each->second.remove(index);
    each = each->second.is_empty() ? of_some_[at].erase(each) : std::next(each);
  }
  return taken;
}

}  // namespace shardlens::trace
