#include "trace/store/sql/grouped_events.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace shardlens::trace::store {

std::int64_t field_of(const model::Event& event, EventField field) {
  switch (field) {
    case EventField::kStart:
      return event.start_ns;
    case EventField::kDuration:
      return event.duration_ns;
    case EventField::kFlags:
      return event.flags;
    case EventField::kCorrelation:
      return static_cast<std::int64_t>(event.correlation);
    case EventField::kValue:
      return event.value;
  }
  return 0;
}

// A counting sort; unknown names count as "".
std::vector<const model::Event*> GroupedEvents::side_by_side(
    const std::vector<model::Event>& events, const RankFilter& filter, std::size_t strings) {
  slots_.resize(std::max(slots_.size(), strings));
  const auto known = [&](const model::Event& event) {
    return event.name < strings ? event.name : 0;
  };
  std::vector<model::StringId> seen;
  std::uint32_t count = 0;
  for (const model::Event& event : events) {
    if (!filter.holds(event)) continue;
    ++count;
    if (slots_[known(event)]++ == 0) seen.push_back(known(event));
  }
  std::uint32_t next = 0;
  for (const model::StringId name : seen) {
    const std::uint32_t begin = next;
    next += slots_[name];
    slots_[name] = begin;
    runs_.push_back({static_cast<std::uint32_t>(chunks_.size()), name, begin, next, 0});
  }
  std::vector<const model::Event*> ordered(count);
  for (const model::Event& event : events) {
    if (filter.holds(event)) ordered[slots_[known(event)]++] = &event;
  }
  for (const model::StringId name : seen) slots_[name] = 0;
  return ordered;
}

void GroupedEvents::add(const ChunkEntry& place, const RankNames& names, const RankFilter& filter,
                        const std::vector<model::Event>& events) {
  const auto ordered = side_by_side(events, filter, names.strings.size());
  if (ordered.empty()) return;
  KeptChunk& chunk = chunks_.emplace_back();
  chunk.place = &place;
  chunk.names = &names;
  for (std::size_t i = 0; i < fields_.size(); ++i) {
    if (!fields_[i]) continue;
    const auto field = static_cast<EventField>(i);
    chunk.columns[i] = PackedColumn(
        ordered.size(), [&](std::size_t row) { return field_of(*ordered[row], field); });
  }
}

// Names of different ranks have different ids, and order goes by their texts.
void GroupedEvents::number_names() {
  std::map<std::string_view, std::uint32_t> positions;
  for (const Run& run : runs_) positions.try_emplace(chunks_[run.chunk].names->text(run.name), 0);
  std::uint32_t next = 0;
  for (auto& [text, position] : positions) position = next++;
  for (Run& run : runs_) {
    run.name_position = positions.at(chunks_[run.chunk].names->text(run.name));
  }
}

void GroupedEvents::arrange(const std::vector<EventOrder>& order) {
  number_names();
  const auto key = [&](const Run& run, EventOrder::Key which) -> std::int64_t {
    const ChunkEntry& at = *chunks_[run.chunk].place;
    if (which == EventOrder::Key::kRank) return at.rank;
    return which == EventOrder::Key::kLane ? at.lane : std::int64_t{run.name_position};
  };
  std::ranges::stable_sort(runs_, [&](const Run& a, const Run& b) {
    for (const EventOrder& term : order) {
      const std::int64_t left = key(a, term.key), right = key(b, term.key);
      if (left != right) return term.descending ? left > right : left < right;
    }
    return false;
  });
  step_to(0);
}

}  // namespace shardlens::trace::store
