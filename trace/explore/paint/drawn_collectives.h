// What is known of the collectives that a row draws one by one: waits, what hid them, what they are
// for. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "trace/explore/run/run_snapshot.h"
#include "trace/explore/run/window_activity.h"
#include "trace/timeline/values/drawn_event.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::explore {

class DrawnCollectives {
 public:
  // All outlive it; `activity`: what ran in the window, null where nobody looked.
  DrawnCollectives(const RunSnapshot& run, const RankSnapshot& rank, const WindowActivity* activity)
      : run_(run), rank_(rank), activity_(activity) {}

  // Adds the collective of this index of the rank's rows; `event` then refers to it.
  void add(std::uint32_t index, timeline::DrawnEvent& event);
  std::vector<timeline::DrawnCollective> take() { return std::move(collectives_); }

 private:
  std::shared_ptr<const analysis::UnitFigures> unit(int index);
  std::shared_ptr<const analysis::BucketFigures> bucket(const model::Bucket& row);

  const RunSnapshot& run_;
  const RankSnapshot& rank_;
  const WindowActivity* activity_;
  std::vector<timeline::DrawnCollective> collectives_;
  std::map<int, std::shared_ptr<const analysis::UnitFigures>> units_;
  std::map<const model::Bucket*, std::shared_ptr<const analysis::BucketFigures>> buckets_;
};

// "blocks.3 backward gather, prefetched": what a unit is gathered for; kNone of everything else.
timeline::DrawnCollective::Gather gather_of(const model::Collective& row, std::string_view label);

}  // namespace shardlens::trace::explore
