#include "tests/trace/store/testing/lod_oracle.h"

#include <algorithm>
#include <array>

namespace shardlens::trace::test {

namespace {

constexpr std::int64_t kDay = std::int64_t{86'400} * 1'000'000'000;
constexpr std::int64_t kLongestWork = std::int64_t{1} << 36;
constexpr std::int64_t kGap = std::int64_t{1} << 38;

// No clock of the tests comes near the ends of the numbers' range, where tiles would end behind it.
std::int64_t tile_ns(int level) { return lod_cell_ns(level) * 256; }
std::int64_t cell_ns(int level) { return lod_cell_ns(level); }
std::int64_t floor_of(std::int64_t time, std::int64_t length) {
  const std::int64_t rest = time % length;
  return (time - rest) / length - (rest < 0 ? 1 : 0);
}

bool holds(const auto& times, std::int64_t at) {
  return std::ranges::any_of(times, [&](const auto& t) { return t.start <= at && at < t.end; });
}

// Length of the union of pieces.
std::int64_t union_of(std::vector<std::pair<std::int64_t, std::int64_t>> pieces) {
  std::ranges::sort(pieces);
  std::int64_t sum = 0, at = INT64_MIN;
  for (const auto& [start, end] : pieces) {
    if (end <= std::max(start, at)) continue;
    sum += end - std::max(start, at);
    at = end;
  }
  return sum;
}

}  // namespace

bool LodOracle::is_sane(std::int64_t start, std::int64_t end) {
  return start >= 0 && end >= start && end < std::int64_t{1} << 62 && end - start <= kDay;
}

StringId LodOracle::name_of(const Collective& row) {
  switch (row.tag_kind) {
    case TagKind::kBucket:
      return 0x90000000u + static_cast<StringId>(row.tag_index);
    case TagKind::kUnit:
      return row.tag_name ? row.tag_name : 0xA0000000u + static_cast<StringId>(row.tag_index);
    case TagKind::kNamed:
      if (row.tag_name) return row.tag_name;
      [[fallthrough]];
    case TagKind::kNone:
      return 0x80000000u + static_cast<StringId>(row.function);
  }
  return 0;
}

void LodOracle::add_event(const LodStream& stream, std::int64_t start, std::int64_t duration,
                          StringId name) {
  if (duration < 0 || duration > kDay) duration = 0;
  events_[stream].push_back({{start, start + duration}, duration, name});
}

void LodOracle::add(const Batch& batch) {
  for (const auto& string : batch.strings) names_[string.id] = string.text;
  for (const Step& step : batch.steps) {
    if (!step.full_detail && is_sane(step.start_ns, step.end_ns)) {
      undetailed_.push_back({step.start_ns, step.end_ns});
    }
  }
  for (const Span& span : batch.spans) {
    const LodStream stream{span.lane, LodKind::kSpan, std::clamp(span.depth, 0, kLodDepths - 1)};
    add_event(stream, span.start_ns, span.end_ns - span.start_ns, span.name);
    if (!is_sane(span.start_ns, span.end_ns)) continue;
    evidence_.push_back({span.start_ns, span.end_ns});
    if (span.depth == 0) phases_.push_back({{span.start_ns, span.end_ns}, span.phase});
  }
  for (const Collective& row : batch.collectives) {
    add_event({row.lane, LodKind::kCollective, 0}, row.start_ns, row.end_ns - row.start_ns,
              name_of(row));
    if (!is_sane(row.start_ns, row.end_ns)) continue;
    evidence_.push_back({row.start_ns, row.end_ns});
    communication_.push_back({row.start_ns, row.end_ns});
  }
  for (const EventRun& run : batch.events) add_run(run);
}

void LodOracle::add_run(const EventRun& run) {
  if (run.kind == EventKind::kAllocation) return;
  for (const Event& event : run.events) {
    const bool is_operator = run.kind == EventKind::kOperator;
    const std::map<EventKind, LodKind> kinds{{EventKind::kOperator, LodKind::kOperator},
                                             {EventKind::kKernel, LodKind::kKernel},
                                             {EventKind::kLaunch, LodKind::kLaunch},
                                             {EventKind::kCopy, LodKind::kCopy}};
    add_event(
        {run.lane, kinds.at(run.kind), is_operator ? std::min(event.depth(), kLodDepths - 1) : 0},
        event.start_ns, event.duration_ns, event.name);
    const bool has_end = event.duration_ns >= 0 && event.duration_ns <= kDay;
    if (!has_end || !is_sane(event.start_ns, event.end_ns())) continue;
    const Time time{event.start_ns, event.end_ns()};
    evidence_.push_back(time);
    if (event.duration_ns > kLongestWork) continue;
    if (run.kind == EventKind::kCopy) copies_.push_back(time);
    if (is_operator && (event.flags & kEventCompute) != 0) compute_.push_back(time);
    if (run.kind == EventKind::kKernel) {
      (names_[event.name].starts_with("nccl") ? communication_ : compute_).push_back(time);
    }
  }
}

std::set<LodStream> LodOracle::streams() const {
  std::set<LodStream> all{{0, LodKind::kRibbon, 0}};
  for (const auto& [stream, events] : events_) all.insert(stream);
  return all;
}

std::vector<LodOracle::Time> LodOracle::stretches() const {
  auto evidence = evidence_;
  std::ranges::sort(evidence);
  std::vector<Time> joined;
  for (const Time& time : evidence) {
    if (!joined.empty() && time.start - joined.back().end <= kGap) {
      joined.back().end = std::max(joined.back().end, time.end);
    } else {
      joined.push_back(time);
    }
  }
  return joined;
}

// Time cut wherever anything changes; each piece judged by its first nanosecond.
std::vector<LodOracle::Piece> LodOracle::pieces() const {
  const auto known = stretches();
  auto phases = phases_;
  std::ranges::sort(phases);
  std::set<std::int64_t> cuts;
  for (const auto* times : {&compute_, &communication_, &copies_, &undetailed_, &known}) {
    for (const Time& time : *times) cuts.insert({time.start, time.end});
  }
  for (const PhaseTime& phase : phases) cuts.insert({phase.time.start, phase.time.end});
  std::vector<Piece> result;
  for (auto cut = cuts.begin(); cut != cuts.end() && std::next(cut) != cuts.end(); ++cut) {
    const std::int64_t at = *cut;
    const bool computes = holds(compute_, at), sends = holds(communication_, at);
    const auto phase = std::ranges::find_if(
        phases, [&](const PhaseTime& each) { return each.time.start <= at && at < each.time.end; });
    const bool optimizes = phase != phases.end() && phase->phase == Phase::kOptimizer;
    Piece piece{{at, *std::next(cut)}, TimeClass::kIdle};
    if (computes && sends) {
      piece.kind = TimeClass::kOverlapped;
    } else if (computes) {
      piece.kind = optimizes ? TimeClass::kOptimizer : TimeClass::kCompute;
    } else if (sends) {
      piece.kind = TimeClass::kExposed;
    } else if (holds(copies_, at)) {
      piece.kind = TimeClass::kCopy;
    } else if (!holds(known, at) || holds(undetailed_, at)) {
      continue;
    }
    result.push_back(piece);
  }
  return result;
}

// One cell from the events that touch it.
LodCell LodOracle::event_cell(const std::vector<const Known*>& events, std::int64_t from,
                              std::int64_t to) {
  LodCell cell;
  std::vector<std::pair<std::int64_t, std::int64_t>> parts;
  for (const Known* event : events) {
    if (event->time.start >= from && event->time.start < to) ++cell.count;
    parts.push_back({std::max(from, event->time.start), std::min(to, event->time.end)});
    const auto [duration, name] = std::max(std::pair{cell.longest_ns, cell.longest_name},
                                           std::pair{event->duration, event->name});
    cell.longest_ns = duration;
    cell.longest_name = name;
  }
  if (std::ranges::find(parts, std::pair{from, to}) != parts.end()) {
    cell.busy_ns = to - from;
    cell.busiest_ns = cell_ns(0);
    return cell;
  }
  cell.busy_ns = union_of(parts);
  // The busiest small cell is one where a part begins or ends, or one beside it.
  std::set<std::int64_t> small;
  for (const auto& [start, end] : parts) {
    const std::int64_t first = floor_of(start, cell_ns(0)), last = floor_of(end - 1, cell_ns(0));
    small.insert({first, std::min(first + 1, last), last});
  }
  for (const std::int64_t at : small) {
    std::vector<std::pair<std::int64_t, std::int64_t>> inside;
    for (const auto& [start, end] : parts) {
      const std::int64_t a = std::max(start, at * cell_ns(0));
      const std::int64_t b = std::min(end, (at + 1) * cell_ns(0));
      if (b > a) inside.push_back({a, b});
    }
    cell.busiest_ns = std::max(cell.busiest_ns, union_of(inside));
  }
  return cell;
}

LodTile LodOracle::event_tile(const std::vector<Known>& events, int level, std::int64_t index) {
  LodTile tile{level, index, std::vector<LodCell>(256), {}};
  const std::int64_t tile_start = index * tile_ns(level), tile_end = tile_start + tile_ns(level);
  std::array<std::vector<const Known*>, 256> by_cell;
  for (const Known& event : events) {
    const std::int64_t last_ns = std::max(event.time.start, event.time.end - 1);
    if (event.time.start >= tile_end || last_ns < tile_start) continue;
    const std::int64_t first = floor_of(std::max(event.time.start, tile_start), cell_ns(level));
    const std::int64_t last = floor_of(std::min(last_ns, tile_end - 1), cell_ns(level));
    for (std::int64_t i = first; i <= last; ++i)
      by_cell[static_cast<std::size_t>(i - index * 256)].push_back(&event);
  }
  for (std::size_t i = 0; i < by_cell.size(); ++i) {
    const std::int64_t from = tile_start + static_cast<std::int64_t>(i) * cell_ns(level);
    if (!by_cell[i].empty()) tile.cells[i] = event_cell(by_cell[i], from, from + cell_ns(level));
  }
  return tile;
}

LodTile LodOracle::ribbon_tile(const std::vector<Piece>& pieces, int level, std::int64_t index) {
  LodTile tile{level, index, {}, std::vector<TimeByClass>(256)};
  const std::int64_t tile_start = index * tile_ns(level);
  for (const Piece& piece : pieces) {
    const std::int64_t from = std::max(piece.time.start, tile_start);
    const std::int64_t to = std::min(piece.time.end, tile_start + tile_ns(level));
    for (std::int64_t at = from; at < to;) {
      const std::int64_t i = (at - tile_start) / cell_ns(level);
      const std::int64_t next = std::min(to, tile_start + (i + 1) * cell_ns(level));
      tile.classes[static_cast<std::size_t>(i)][static_cast<std::size_t>(piece.kind)] += next - at;
      at = next;
    }
  }
  return tile;
}

std::vector<LodTile> LodOracle::tiles(const LodStream& stream, int level) const {
  std::set<std::int64_t> places;
  const auto touch = [&](const Time& time) {
    const std::int64_t last = floor_of(std::max(time.start, time.end - 1), tile_ns(level));
    for (std::int64_t i = floor_of(time.start, tile_ns(level)); i <= last; ++i) places.insert(i);
  };
  std::vector<LodTile> tiles;
  if (stream.kind == LodKind::kRibbon) {
    const auto all = pieces();
    for (const Piece& piece : all) touch(piece.time);
    for (const std::int64_t index : places) tiles.push_back(ribbon_tile(all, level, index));
    return tiles;
  }
  const auto events = events_.find(stream);
  if (events == events_.end()) return tiles;
  for (const Known& event : events->second) touch(event.time);
  for (const std::int64_t index : places) {
    tiles.push_back(event_tile(events->second, level, index));
  }
  return tiles;
}

}  // namespace shardlens::trace::test
