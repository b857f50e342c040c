// When a sharding strategy gathers, frees and reduces its units, as PyTorch's fully sharded data
// parallelism does: the trainer carries it out, a prediction goes through it without data. One
// owner.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

// What is done to a unit, by its index; 0 is the root.
class UnitActions {
 public:
  virtual ~UnitActions() = default;

  // Starts gathering; `ahead`: before it is needed. Never of what is gathered already.
  virtual void gather(int unit, bool ahead) = 0;
  // Its parameters are used from here on.
  virtual void wait(int unit) = 0;
  // Only of what is gathered.
  virtual void free(int unit) = 0;
  // All of its gradients are there: of a backward that reduces, and of one that leaves them to a
  // later one.
  virtual void reduce(int unit) = 0;
  virtual void accumulate(int /*unit*/) {}
};

struct UnitScheduleOptions {
  bool frees_after_forward = true;
  BackwardPrefetch backward_prefetch = BackwardPrefetch::kPre;
  bool forward_prefetch = false;
  // What is not freed after forward stays gathered where a backward reduces nothing, up to the next
  // one. Fully_shard does so where it is told to (set_reshard_after_backward).
  bool keeps_without_sync = true;
  // Before the first unit is used, in forward and in backward, it may be gathered ahead.
  bool root_prefetches = true;
  // Not freed after forward where others are, as fully_shard(unit, reshard_after_forward=False).
  std::set<int> kept{};

  bool frees_after_forward_of(int unit) const {
    return frees_after_forward && !kept.contains(unit);
  }
};
UnitScheduleOptions unit_schedule_options(const Settings& settings);

// For each micro-batch: begin_forward(), for each unit but the root enter_forward() and
// leave_forward(), then begin_backward(), for each unit enter_backward() and leave_backward() as
// autograd comes to them, and end_backward(). Without backward, free_all() ends it.
class UnitSchedule {
 public:
  // `units`: with the root. `actions` outlives it.
  UnitSchedule(std::size_t units, const UnitScheduleOptions& options, UnitActions& actions);

  // False: the next backward reduces nothing. Before begin_forward().
  void set_require_sync(bool require_sync) { require_sync_ = require_sync; }

  // `has_backward`: a backward will follow.
  void begin_forward(bool has_backward);
  // Also where backward computes a unit's forward a second time.
  void enter_forward(int unit, bool has_backward);
  // `awaits_backward`: enter_backward() will be called for it.
  void leave_forward(int unit, bool awaits_backward);

  void begin_backward();
  void enter_backward(int unit);
  // All gradients of the unit are there.
  void leave_backward(int unit);
  // Also does what is left to do: the root, and units whose leave_backward() never came.
  void end_backward();

  void free_all();

  // Sets the order in which the forward before is taken to have entered units. To be called before
  // begin_forward().
  void set_order_before(std::vector<int> units) { entered_ = std::move(units); }

  bool is_gathered(int unit) const { return units_[static_cast<std::size_t>(unit)].is_gathered; }
  // Whether its leave_backward() is to come.
  bool awaits_backward(int unit) const {
    return units_[static_cast<std::size_t>(unit)].awaits_backward;
  }
  bool requires_sync() const { return require_sync_; }
  bool is_in_backward() const { return in_backward_; }
  // Whether this forward has entered as many units as there are.
  bool has_entered_all() const { return entered_.size() >= units_.size(); }
  // Of a unit that is being freed: whether the next may be gathered beside its computation, into
  // other memory, as fully_shard does in forward if the host is ahead of the device. Where gathers
  // are asked for ahead, they do so without.
  bool overlaps_next_gather() const {
    return !in_backward_ && !options_.forward_prefetch && !has_entered_all();
  }

 private:
  struct Unit {
    bool is_gathered = false;
    bool awaits_backward = false;  // its leave_backward() has not come
  };

  Unit& at(int unit) { return units_[static_cast<std::size_t>(unit)]; }
  bool frees_after_backward(int unit) const;
  void gather(int unit, bool ahead);
  void free(int unit);
  void prefetch_for_forward(int unit);
  void prefetch_for_backward();

  UnitScheduleOptions options_;
  UnitActions& actions_;
  std::vector<Unit> units_;
  bool require_sync_ = true;
  bool in_backward_ = false;
  // As forward entered them, in this one and in the one before.
  std::vector<int> entered_, entered_before_;
  // Those whose backward has not begun, as forward left them: the last is the next.
  std::vector<int> await_backward_;
};

}  // namespace shardlens::trace::job
