// The events of a chunk that begin in a range, some at a time, unpacked for a tight loop. One
// thread.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "trace/store/chunk/event_columns.h"
#include "trace/timeline/values/range_figures.h"

namespace shardlens::trace::explore {

// As many as fit the processor's first cache.
inline constexpr std::size_t kEventBlock = 1024;

struct EventBlock {
  std::array<std::uint32_t, kEventBlock> names;
  std::array<std::int64_t, kEventBlock> durations;  // 0 of what ended before it started
  std::array<std::uint32_t, kEventBlock> indices;   // within the chunk; with `first` unused
  std::size_t size = 0;
  std::size_t first = 0;  // of neighbours
  bool are_neighbours = true;

  std::size_t index(std::size_t i) const { return are_neighbours ? first + i : indices[i]; }
};

namespace detail {

template <typename Visit>
void for_each_neighbour_block(const store::EventColumns& columns, std::size_t first,
                              std::size_t end, EventBlock& block, Visit&& visit) {
  block.are_neighbours = true;
  for (; first < end; first += block.size) {
    block.first = first;
    block.size = std::min(kEventBlock, end - first);
    columns.names().copy_to(first, std::span(block.names).first(block.size));
    columns.durations().copy_to(first, std::span(block.durations).first(block.size));
    if (columns.durations().least() < 0) {
      for (std::size_t i = 0; i < block.size; ++i) {
        block.durations[i] = std::max<std::int64_t>(0, block.durations[i]);
      }
    }
    visit(block);
  }
}

}  // namespace detail

template <typename Visit>
void for_each_block(const store::EventColumns& columns, base::Interval range, EventBlock& block,
                    Visit&& visit) {
  if (columns.is_ordered()) {
    const std::size_t size = columns.size();
    const bool from_first = size > 0 && columns.start_ns(0) >= range.start_ns;
    const bool to_last = size > 0 && columns.start_ns(size - 1) < range.end_ns;
    const std::size_t first = from_first ? 0 : columns.first_from(range.start_ns);
    const std::size_t end = to_last ? size : columns.first_from(range.end_ns);
    return detail::for_each_neighbour_block(columns, first, end, block, visit);
  }
  block.are_neighbours = false;
  block.size = 0;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const std::int64_t start_ns = columns.start_ns(i);
    if (start_ns < range.start_ns || start_ns >= range.end_ns) continue;
    block.names[block.size] = columns.name(i);
    block.durations[block.size] = std::max<std::int64_t>(0, columns.duration_ns(i));
    block.indices[block.size] = static_cast<std::uint32_t>(i);
    if (++block.size < kEventBlock) continue;
    visit(block);
    block.size = 0;
  }
  if (block.size > 0) visit(block);
}

}  // namespace shardlens::trace::explore
