#include "trace/store/lod/tiles/lod_rebuild.h"

#include <algorithm>

#include "trace/store/lod/lod_summary.h"

namespace shardlens::trace {

namespace {

// Of one call of rebuild_some(): about ten milliseconds.
constexpr int kChunksAtOnce = 16, kBottomTilesAtOnce = 4, kUpperTilesAtOnce = 16;

std::int64_t start_of_bottom_tile(std::int64_t index) {
  return index > kLastLodTile ? INT64_MAX : index << lod_tile_bits(0);
}

}  // namespace

Result<void> LodRebuild::load() {
  // Lists, rows and chunks of the same commit.
  const bool begun = database_->execute("begin").has_value();
  auto loaded = load_in_transaction();
  if (begun) static_cast<void>(database_->execute("commit"));
  return loaded;
}

Result<void> LodRebuild::load_in_transaction() {
  const auto stretches_before = tiles_.stretches();
  const std::int64_t closed_before = tiles_.file().closed();
  TRY(tiles_.load());
  const LodFile& file = tiles_.file();
  has_lists_ = file.has_lists();
  add_spoiled();
  if (is_loaded_ && has_lists_) add_grown_stretches(stretches_before);
  if (!is_loaded_ || file.closed() != closed_before) {
    add_open_chain();
    for (const LodPlace& place : tiles_.set_while_open(closed_before)) {
      missing_.add_wrong_at(place.stream, place.level, place.tile);
    }
  }
  is_loaded_ = true;
  if (file.is_complete() && source_from_ns_ == INT64_MAX) return {};
  const std::int64_t closed_ns = file.has_any() ? start_of_bottom_tile(file.closed()) : INT64_MIN;
  TRY(find_source(std::min(closed_ns, source_from_ns_)));
  const bool is_behind = has_lists_ && missing_.lowest_level() == kLodLevels && !is_scanning();
  if (is_behind && closed_ns > source_from_ns_) {
    source_.forget_before(closed_ns);
    source_from_ns_ = closed_ns;
  }
  return {};
}

// Late events touch these.
void LodRebuild::add_spoiled() {
  const auto& spoiled = tiles_.file().spoiled();
  if (spoiled.size() < known_spoiled_) {  // the file was repaired
    tiles_.forget_all();
    missing_.forget_wrong();
    known_spoiled_ = 0;
  }
  for (std::size_t i = known_spoiled_; i < spoiled.size(); ++i) {
    const auto stream = tiles_.file().streams().find(spoiled[i].stream);
    if (stream == tiles_.file().streams().end()) continue;
    const auto place = tiles_.find(stream->second);
    if (place) missing_.add_wrong(*place, spoiled[i].first, spoiled[i].last);
  }
  known_spoiled_ = spoiled.size();
}

// Upper tiles that begin before the pyramid's end in the file and end behind it.
void LodRebuild::add_open_chain() {
  const LodFile& file = tiles_.file();
  if (!file.has_any() || file.is_complete()) return;
  for (int level = 1; level < kLodLevels; ++level) {
    const std::int64_t index = (file.closed() - 1) >> (kLodFactorBits * level);
    const bool is_open = (index + 1) << (kLodFactorBits * level) > file.closed();
    if (is_open) missing_.add_at(level, index);
  }
}

// What was unknown before the newest events is idle now.
void LodRebuild::add_grown_stretches(const Intervals& before) {
  const auto ribbon = tiles_.find({0, LodKind::kRibbon, 0});
  if (!ribbon || before == tiles_.stretches()) return;
  LodStretches grown(before);
  Intervals added;
  for (const Interval& each : tiles_.stretches()) {
    grown.add(each.start_ns, each.end_ns, &added);
  }
  for (const Interval& each : added) {
    const std::int64_t first = std::max(tiles_.file().closed(), lod_tile_at(0, each.start_ns));
    const std::int64_t last = lod_tile_at(0, each.end_ns);
    if (first <= last) missing_.add_of(*ribbon, first, last);
  }
}

Result<void> LodRebuild::find_source(std::int64_t from_ns) {
  if (from_ns < source_from_ns_ && source_from_ns_ != INT64_MAX) {
    source_ = LodSource(*database_, tiles_.file().rank());
  }
  source_from_ns_ = from_ns;
  TRY(source_.find_new(from_ns, [this](const LodSource::Item& item) { see(item); }));
  if (!is_scanning()) use_found_lists();
  return {};
}

void LodRebuild::use_found_lists() {
  if (has_lists_) return;
  const auto before = tiles_.stretches();
  tiles_.set_lists(long_events_, stretches_.all());
  if (!before.empty()) add_grown_stretches(before);
}

void LodRebuild::see(const LodSource::Item& item) {
  using Part = LodSource::Item::Part;
  const LodEvent& event = item.event;
  if (!has_lists_ && item.has_stream) {
    if (is_long(event)) long_events_[item.stream].push_back(event);
    if (item.is_plausible) stretches_.add(event.start_ns, event.end_ns);
  }
  const std::int64_t first = first_tile(event), last = last_tile(event);
  const bool fills_ribbon =
      item.is_plausible && item.part != Part::kNone && item.part != Part::kPhase;
  if (is_long(event) && !fills_ribbon) {
    add_missing(first, first);
    add_missing(last, last);
    if (item.part == Part::kPhase && item.is_plausible) add_changed_ribbon(first, last);
  } else {
    add_missing(first, last);
  }
}

// A phase gives or takes the optimizer's time, but makes no tile by itself.
void LodRebuild::add_changed_ribbon(std::int64_t first, std::int64_t last) {
  const auto ribbon = tiles_.find({0, LodKind::kRibbon, 0});
  first = std::max(first, tiles_.file().closed());
  if (!ribbon || first > last) return;
  for (const std::int64_t index : tiles_.rebuilt_in(*ribbon, 0, first, last)) {
    missing_.add_of(*ribbon, index, index);
  }
}

void LodRebuild::add_missing(std::int64_t first, std::int64_t last) {
  first = std::max(first, tiles_.file().closed());
  if (first <= last) missing_.add(first, last);
}

bool LodRebuild::is_scanning() const { return source_.shown_chunks() < source_.chunks(); }

bool LodRebuild::is_missing(int stream, int level, std::int64_t first, std::int64_t last) const {
  if (is_scanning() && last >= tiles_.file().closed() >> (kLodFactorBits * level)) return true;
  return missing_.touches(stream, level, first, last);
}

Result<bool> LodRebuild::rebuild_some() {
  if (is_scanning()) {
    TRY(scan_some());
    return is_scanning() || missing_.lowest_level() < kLodLevels;
  }
  const int level = missing_.lowest_level();
  if (level == kLodLevels) return false;
  if (level == 0) {
    const std::int64_t from_ns = start_of_bottom_tile(missing_.first_at(0));
    if (from_ns < source_from_ns_) {
      TRY(find_source(from_ns));
      return true;
    }
  }
  const int most = level == 0 ? kBottomTilesAtOnce : kUpperTilesAtOnce;
  for (int i = 0; i < most; ++i) {
    const std::int64_t index = missing_.first_at(level);
    if (index == INT64_MAX) break;
    TRY(level == 0 ? rebuild_bottom(index) : rebuild_upper(level, index));
  }
  return missing_.lowest_level() < kLodLevels;
}

Result<void> LodRebuild::scan_some() {
  const LodFile& file = tiles_.file();
  const std::int64_t from_ns = file.has_any() ? start_of_bottom_tile(file.closed()) : INT64_MIN;
  for (int i = 0; i < kChunksAtOnce; ++i) {
    TRY_ASSIGN(const bool more,
               source_.next_chunk(from_ns, [this](const LodSource::Item& item) { see(item); }));
    if (!more) break;
  }
  if (!is_scanning()) use_found_lists();
  return {};
}

void LodRebuild::set(int stream, const LodTile& tile, bool until_file) {
  if (until_file && !tile.classes.empty() && is_idle(tile, tiles_.stretches())) {
    tiles_.forget(stream, tile.level, tile.index);
  } else {
    tiles_.set(stream, tile, until_file);
  }
}

Result<void> LodRebuild::rebuild_bottom(std::int64_t index) {
  TRY_ASSIGN(LodTileEvents events, source_.events_of(index));
  for (const auto& [stream, list] : events.streams) tiles_.number(stream);
  const int streams = static_cast<int>(tiles_.streams().size());
  for (const auto& [stream, until_file] : missing_.take(0, index, streams)) {
    const LodStream& which = tiles_.streams()[static_cast<std::size_t>(stream)];
    if (which.kind == LodKind::kRibbon) {
      for (auto* set :
           {&events.compute, &events.communication, &events.copies, &events.undetailed}) {
        *set = normalize(std::move(*set));
      }
      std::ranges::sort(events.phases);
      const auto optimizer = phase_intervals({0, kLatestTimeNs}, events.phases, Phase::kOptimizer);
      set(stream,
          ribbon_tile(index, {events.compute, events.communication, events.copies, optimizer},
                      subtract(tiles_.stretches(), events.undetailed)),
          until_file);
      continue;
    }
    auto& list = events.streams[which];
    std::ranges::stable_sort(list, {}, &LodEvent::start_ns);
    set(stream, summarize(index, list), until_file);
  }
  ++rebuilt_;
  return {};
}

Result<void> LodRebuild::rebuild_upper(int level, std::int64_t index) {
  const int streams = static_cast<int>(tiles_.streams().size());
  for (const auto& [stream, until_file] : missing_.take(level, index, streams)) {
    const bool is_ribbon =
        tiles_.streams()[static_cast<std::size_t>(stream)].kind == LodKind::kRibbon;
    LodTile parent = blank_lod_tile(level, index, is_ribbon);
    bool is_whole = true;
    for (int part = 0; part < kLodParts; ++part) {
      const std::int64_t child_index = index * kLodParts + part;
      bool is_damaged = false;
      TRY_ASSIGN(const auto child, tiles_.tile(stream, level - 1, child_index, is_damaged));
      if (is_damaged) missing_.add_wrong_at(stream, level - 1, child_index);
      if (child) merge_part(parent, *child);
      is_whole = is_whole && !is_damaged;
    }
    if (is_whole) {
      set(stream, parent, until_file);
    } else {
      missing_.add_wrong_at(stream, level, index);  // again, once its part is there
    }
  }
  return {};
}

double LodRebuild::fraction() const {
  std::int64_t rest = missing_.count_at_bottom() +
                      static_cast<std::int64_t>(source_.chunks() - source_.shown_chunks());
  if (rest == 0 && missing_.lowest_level() < kLodLevels) rest = 1;
  const auto done = static_cast<double>(rebuilt_) + static_cast<double>(source_.shown_chunks());
  return rest == 0 ? 1.0 : done / (done + static_cast<double>(rest));
}

}  // namespace shardlens::trace
