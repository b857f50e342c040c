// What a rank's kernels do, by their names: each name is looked at once. One owner.
#pragma once

#include <vector>

#include "trace/model/activity.h"
#include "trace/store/chunk/event_store.h"

namespace shardlens::trace::explore {

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
