// One stream of events on its way into the pyramid: what is pending, and what came too late. One
// owner.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "trace/store/lod_event.h"
#include "trace/store/lod_pyramid.h"
#include "trace/store/lod_rows.h"

namespace shardlens::trace {

class LodStreamWriter {
 public:
  // `closed`: the first tile of level 0 that is open.
  LodStreamWriter(int number, std::int64_t closed) : number_(number) { set_closed(closed); }

  void add(const LodEvent& event) {
    if (event.start_ns < closed_ns_ || is_long(event)) {
      add_unusual(event);
    } else {
      push(event);
    }
  }
  // Writes all tiles before tile `limit` of level 0; it never goes back.
  Result<void> close_before(std::int64_t limit, const LodPyramid::Write& write);
  Result<void> close_all(const LodPyramid::Write& write);
  // What there is to write beside tiles; the next call begins anew.
  std::vector<LodEvent> take_new_long_events() { return std::exchange(new_long_events_, {}); }
  std::vector<LodSpoiled> take_spoiled() { return std::exchange(spoiled_, {}); }

  int number() const { return number_; }
  std::size_t pending() const { return pending_.size() - head_; }

 private:
  // A long event at one of its two ends.
  struct Edge {
    std::int64_t tile = 0;
    LodEvent event;
  };
  void push(const LodEvent& event) {
    is_sorted_ = is_sorted_ && (pending_.empty() || pending_.back().start_ns <= event.start_ns);
    pending_.push_back(event);
  }
  void add_unusual(const LodEvent& event);
  void add_edge(std::int64_t tile, const LodEvent& event);
  void spoil(std::int64_t first, std::int64_t last);
  void set_closed(std::int64_t tile);
  std::optional<std::int64_t> next_tile() const;
  LodTile summarize_next(std::int64_t tile);
  void forget_closed();
  LodPyramid::Complete cover_with_long_events() const;

  const int number_;
  LodPyramid pyramid_{false};
  std::int64_t closed_ = 0, closed_ns_ = 0;
  std::int64_t next_ = 0;          // the first tile that close_before() has not passed
  std::vector<LodEvent> pending_;  // from head_ on
  std::size_t head_ = 0;
  bool is_sorted_ = true;
  std::vector<Edge> edges_;
  std::vector<LodEvent> long_events_;  // that may reach into an open tile of any level
  std::vector<LodEvent> new_long_events_;
  std::vector<LodSpoiled> spoiled_;
  std::vector<LodEvent> scratch_;
};

}  // namespace shardlens::trace
