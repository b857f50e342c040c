// Puts events into order that nearly are: a few came late, or those that end first came first. Any
// thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::store {

// Behind all of [begin, end), which is in order, that are not after `event`; near the end, mostly.
template <typename Iterator, typename Before>
Iterator ordered_place(Iterator begin, Iterator end, const model::Event& event, Before before) {
  for (std::ptrdiff_t step = 1; end != begin; step *= 2) {
    const Iterator probe = end - begin > step ? end - step : begin;
    if (!before(event, *probe)) return std::upper_bound(probe, end, event, before);
    end = probe;
  }
  return begin;
}

// Stable. Who comes late is put into its place, which costs less than sorting all: an operator that
// is told behind its children moves before them, and only them.
template <typename Before>
void order_events(std::vector<model::Event>& events, Before before) {
  constexpr std::size_t kMovesPerEvent = 16;
  std::size_t moves = kMovesPerEvent * events.size();
  auto next = events.begin();
  while (true) {
    next = std::is_sorted_until(next, events.end(), before);
    if (next == events.end()) return;
    const auto place = ordered_place(events.begin(), next, *next, before);
    const auto distance = static_cast<std::size_t>(next - place);
    if (distance > moves) break;
    moves -= distance;
    const model::Event late = *next;
    std::move_backward(place, next, next + 1);
    *place = late;
  }
  std::stable_sort(events.begin(), events.end(), before);
}

}  // namespace shardlens::trace::store
