// The events of one lane and kind that a window shows, in order of start whatever order they were
// recorded in. One thread at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "trace/model/activity.h"
#include "trace/store/chunk/event_store.h"
#include "trace/timeline/values/drawn_event.h"

namespace shardlens::trace::explore {

timeline::EventTableKind table_of(model::EventKind kind);

// Of a list that is sorted by rank.
std::span<const store::ChunkEntry> chunks_of_rank(std::span<const store::ChunkEntry> chunks,
                                                  int rank);
std::vector<store::ChunkEntry> chunks_of(const store::EventStore& store, int rank,
                                         model::EventKind kind);
// The one that holds an event; none: there is no such one (any more).
std::optional<store::ChunkEntry> chunk_of(const store::EventStore& store,
                                          const timeline::EventRef& event);

class LaneEvents {
 public:
  // Decodes what is not in the cache.
  LaneEvents(store::EventStore& store, int rank, int lane, model::EventKind kind,
             base::Interval window);

  // False where a chunk cannot be read.
  bool is_complete() const { return is_complete_; }

  // Calls visit(chunk, columns, index, time) for each that touches the window.
  template <typename Visit>
  void visit(Visit&& visit) const {
    if (!is_sorted_) return visit_sorted(visit);
    for (const Part& part : parts_) {
      const store::EventColumns& columns = *part.columns;
      for (std::size_t i = 0; i < columns.size(); ++i) {
        const base::Interval time =
            timeline::drawn_event_time(columns.start_ns(i), columns.duration_ns(i));
        if (time.start_ns >= window_.end_ns) break;
        if (timeline::is_drawn_in(time, window_)) visit(part.chunk, columns, i, time);
      }
    }
  }

 private:
  struct Part {
    store::ChunkEntry chunk;
    std::shared_ptr<const store::EventColumns> columns;
  };
  struct Place {
    base::Interval time;
    std::uint32_t part = 0, index = 0;
  };
  std::vector<Place> places() const;
  template <typename Visit>
  void visit_sorted(Visit& visit) const {
    for (const Place& place : places()) {
      const Part& part = parts_[place.part];
      visit(part.chunk, *part.columns, std::size_t{place.index}, place.time);
    }
  }

  base::Interval window_;
  std::vector<Part> parts_;
  bool is_sorted_ = true;
  bool is_complete_ = true;
};

// What a rank's kernels do, by their names: each name is looked at once. One owner.
class KernelActivities {
 public:
  // `store` outlives it.
  KernelActivities(const store::EventStore& store, int rank) : store_(&store), rank_(rank) {}

  model::Activity of(model::StringId name) {
    if (name > kMostKept) return look(name);
    if (name >= known_.size()) known_.resize(name + 1, model::Activity::kNone);
    model::Activity& known = known_[name];
    // kNone means "not looked at yet": every kernel is some activity.
    if (known == model::Activity::kNone) known = look(name);
    return known;
  }

 private:
  static constexpr model::StringId kMostKept = 1u << 20;

  model::Activity look(model::StringId name) const {
    return model::activity_of(model::EventKind::kKernel, {}, store_->names().text(rank_, name));
  }

  const store::EventStore* store_;
  int rank_;
  std::vector<model::Activity> known_;
};

}  // namespace shardlens::trace::explore
