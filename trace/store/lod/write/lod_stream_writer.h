// One stream of events on its way into the pyramid: what is pending, and what came too late. One
// owner.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "trace/store/lod/lod_event.h"
#include "trace/store/lod/lod_rows.h"
#include "trace/store/lod/write/lod_pyramid.h"

namespace shardlens::trace {

class LodStreamWriter {
 public:
  // `closed`: the first tile of level 0 that is open.
  LodStreamWriter(int number, std::int64_t closed) : number_(number) { set_closed(closed); }

  void add(const LodEvent& event) {
    if (event.start_ns < closed_ns_ || is_long(event)) {
      add_unusual(event);
    } else {
      begun_in(first_tile(event)).push_back(event);
      ++pending_;
    }
  }
  // Writes all tiles before tile `limit` of level 0; it never goes back.
  Result<void> close_before(std::int64_t limit, const LodPyramid::Write& write);
  Result<void> close_all(const LodPyramid::Write& write);
  // What there is to write beside tiles; the next call begins anew.
  std::vector<LodEvent> take_new_long_events() { return std::exchange(new_long_events_, {}); }
  std::vector<LodSpoiled> take_spoiled() { return std::exchange(spoiled_, {}); }

  int number() const { return number_; }
  std::size_t pending() const { return pending_ + carried_.size(); }

 private:
  // A long event at one of its two ends.
  struct Edge {
    std::int64_t tile = 0;
    LodEvent event;
  };
  using Events = std::vector<LodEvent>;
  Events& begun_in(std::int64_t tile) {
    // Mostly the one of the event before.
    if (!latest_ || latest_tile_ != tile) find_begun(tile);
    return *latest_;
  }
  void find_begun(std::int64_t tile);
  Events take_begun(std::int64_t tile);
  void keep_spare(Events&& events);
  void add_unusual(const LodEvent& event);
  void add_edge(std::int64_t tile, const LodEvent& event);
  void spoil(std::int64_t first, std::int64_t last);
  void set_closed(std::int64_t tile);
  std::optional<std::int64_t> next_tile() const;
  LodTile summarize_next(std::int64_t tile);
  LodTile summarize_with_edges(std::int64_t tile, const Events& begun);
  void forget_closed();
  LodPyramid::Complete cover_with_long_events() const;

  const int number_;
  LodPyramid pyramid_{false};
  std::int64_t closed_ = 0, closed_ns_ = 0;
  std::int64_t next_ = 0;                 // the first tile that close_before() has not passed
  std::map<std::int64_t, Events> begun_;  // by the tile in which they begin, from next_ on
  Events* latest_ = nullptr;              // in begun_: what was last added to
  std::int64_t latest_tile_ = 0;
  std::size_t pending_ = 0;    // events in begun_
  Events carried_;             // began before next_ and reach it
  std::vector<Events> spare_;  // memory of closed tiles, for the next ones
  std::size_t spare_events_ = 0;
  std::vector<Edge> edges_;
  std::vector<LodEvent> long_events_;  // that may reach into an open tile of any level
  std::vector<LodEvent> new_long_events_;
  std::vector<LodSpoiled> spoiled_;
};

}  // namespace shardlens::trace
