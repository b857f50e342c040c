#include "trace/store/chunk/event_columns.h"

#include <algorithm>
#include <ranges>

namespace shardlens::trace::store {

namespace {

struct ValueRange {
  std::int64_t least = INT64_MAX, most = INT64_MIN;

  void include(std::int64_t value) {
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

template <typename Value>
PackedColumn packed(const std::vector<Value>& values, const ValueRange& range) {
  return {values.size(), range.least, range.most, [&](std::size_t i) { return values[i]; }};
}

// Starts and durations side by side: where a varint begins is known only once the one before it
// was read, and the processor waits for two columns at once as long as for one. The readers are
// copies, which the compiler can keep in registers.
struct TimeRanges {
  ValueRange starts, durations;
  bool is_ordered = true;
};
TimeRanges read_times(ChunkOpener::Columns& columns, std::int64_t first_ns,
                      DecodeScratch& scratch) {
  VarintReader starts = columns[ChunkColumn::kStart];
  VarintReader durations = columns[ChunkColumn::kDuration];
  TimeRanges ranges;
  auto start = static_cast<std::uint64_t>(first_ns);  // differences may wrap around
  std::int64_t before = INT64_MIN;
  for (std::size_t i = 0; i < scratch.starts.size(); ++i) {
    start += static_cast<std::uint64_t>(unzigzag(starts.next_mixed()));
    const std::int64_t duration = unzigzag(durations.next_mixed());
    const auto value = static_cast<std::int64_t>(start);
    ranges.starts.include(value);
    ranges.durations.include(duration);
    ranges.is_ordered &= before <= value;
    before = value;
    scratch.starts[i] = value;
    scratch.durations[i] = duration;
  }
  columns[ChunkColumn::kStart] = starts;
  columns[ChunkColumn::kDuration] = durations;
  return ranges;
}

// Names and flags: mostly of one length.
ValueRange read_small(VarintReader& column, std::vector<std::uint32_t>& values) {
  VarintReader reader = column;
  ValueRange range;
  for (std::uint32_t& value : values) {
    value = static_cast<std::uint32_t>(reader.next());
    range.include(value);
  }
  column = reader;
  return range;
}

ValueRange read_values(VarintReader& column, std::vector<std::int64_t>& values) {
  ValueRange range;
  for (std::int64_t& value : values) {
    value = unzigzag(column.next());
    range.include(value);
  }
  return range;
}

}  // namespace

base::Result<EventColumns> EventColumns::decode(const ChunkHeader& header,
                                                std::span<const std::byte> data,
                                                DecodeScratch& scratch, Values kept) {
  const auto part = kept == Values::kKept ? ChunkOpener::Part::kAll : ChunkOpener::Part::kFirst;
  TRY_ASSIGN(auto columns, scratch.opener.open(header, data, part));
  EventColumns events;
  events.size_ = static_cast<std::size_t>(header.count);
  scratch.starts.resize(events.size_);
  scratch.durations.resize(events.size_);
  scratch.names.resize(events.size_);
  scratch.flags.resize(events.size_);
  const TimeRanges times = read_times(columns, header.first_ns, scratch);
  const ValueRange names = read_small(columns[ChunkColumn::kName], scratch.names);
  const ValueRange flags = read_small(columns[ChunkColumn::kFlags], scratch.flags);
  for (const auto column :
       {ChunkColumn::kStart, ChunkColumn::kDuration, ChunkColumn::kName, ChunkColumn::kFlags}) {
    if (!columns.ends(column)) return damaged_chunk("its columns do not fit");
  }
  events.is_ordered_ = times.is_ordered;
  events.starts_ = packed(scratch.starts, times.starts);
  events.durations_ = packed(scratch.durations, times.durations);
  events.names_ = packed(scratch.names, names);
  events.flags_ = packed(scratch.flags, flags);
  if (kept == Values::kKept) {
    scratch.values.resize(events.size_);
    const ValueRange values = read_values(columns[ChunkColumn::kValue], scratch.values);
    if (!columns.ends(ChunkColumn::kValue)) return damaged_chunk("its columns do not fit");
    events.values_ = packed(scratch.values, values);
  }
  return events;
}

std::size_t EventColumns::first_from(std::int64_t time_ns) const {
  const auto indices = std::views::iota(std::size_t{0}, size_);
  return static_cast<std::size_t>(
      std::ranges::lower_bound(indices, time_ns, {}, [&](std::size_t i) { return start_ns(i); }) -
      indices.begin());
}

std::size_t EventColumns::bytes() const {
  return sizeof(*this) + starts_.bytes() + durations_.bytes() + names_.bytes() + flags_.bytes() +
         values_.bytes();
}

}  // namespace shardlens::trace::store
