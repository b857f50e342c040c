#include "trace/predict/schedule/unit_program.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>
#include <ranges>
#include <utility>

#include "trace/model/events.h"

namespace shardlens::trace::predict {

namespace {

using What = Action::What;
using model::CollectiveFunction;

// What ranks do in a micro-batch. What a stream of its own does beside computation goes to where
// that stream comes to it, which lies before where the host asks for it.
class ActionList {
 public:
  using Place = std::size_t;

  // Where that is.
  Place add(const Action& action) {
    placed_.push_back({next_, action});
    return next_++;
  }
  // Behind what is there and all that was added behind it.
  void add_behind(Place place, const Action& action) { placed_.push_back({place, action}); }

  std::vector<Action> in_order() && {
    std::ranges::stable_sort(placed_, {}, &Placed::place);
    std::vector<Action> actions;
    for (const Placed& each : placed_) actions.push_back(each.action);
    return actions;
  }

 private:
  struct Placed {
    Place place = 0;
    Action action;
  };
  std::vector<Placed> placed_;
  Place next_ = 0;
};

// Numbers calls by their launch.
void sort_calls(StepProgram& program) {
  std::vector<PlannedCall> calls;
  std::vector<std::size_t> places(program.calls.size());
  for (MicroBatchProgram& micro_batch : program.micro_batches) {
    for (const Action& action : micro_batch.actions) {
      if (action.what != What::kLaunch) continue;
      places[action.place] = calls.size();
      calls.push_back(std::move(program.calls[action.place]));
    }
  }
  for (MicroBatchProgram& micro_batch : program.micro_batches) {
    for (Action& action : micro_batch.actions) {
      const bool is_of_call = action.what == What::kLaunch || action.what == What::kWait;
      if (is_of_call) action.place = places[action.place];
    }
  }
  program.calls = std::move(calls);
}

// Goes through a step as the trainer does, and writes down what ranks do.
class UnitWriter final : public job::UnitActions {
 public:
  explicit UnitWriter(const UnitProgramPlan& plan)
      : plan_(plan),
        schedule_(plan.units.size(), plan.schedule, *this),
        gathers_(plan.units.size()) {
    for (int unit = 1; unit < static_cast<int>(plan.units.size()); ++unit) {
      by_first_[at(unit).first].push_back(unit);
      by_end_[at(unit).end].push_back(unit);
    }
  }

  StepProgram write() {
    // Units are gathered ahead in the order of the step before: that one has to be gone through,
    // too.
    write_step();
    program_ = {};
    gathers_.assign(plan_.units.size(), {});
    marks_ = 0;
    retired_ = std::nullopt;
    write_step();
    sort_calls(program_);
    return std::move(program_);
  }

  void gather(int unit, bool ahead) override {
    if (plan_.shard_group == 1) return;
    std::string what = schedule_.is_in_backward() ? "backward gather" : "forward gather";
    if (ahead) what += model::kPrefetchedEnding;
    work(at(unit).before_gather_ns);
    for (const std::int64_t bytes : at(unit).gathered_bytes) {
      PlannedCall call{.what = name(unit) + " " + what,
                       .function = CollectiveFunction::kAllGather,
                       .group = plan_.shard_group,
                       .bytes = bytes,
                       .lane = plan_.separate_communicators ? kGathers : kMain};
      if (plan_.has_streams) {
        call.behind_mark = gate_.index;
        call.copy_ns = std::llround(plan_.copy_ns_per_byte * static_cast<double>(bytes) /
                                    static_cast<double>(plan_.shard_group));
      }
      gathers_[index(unit)].push_back(launch(std::move(call)));
    }
    if (plan_.do_gathers_block) wait(unit);
  }
  void wait(int unit) override {
    const auto calls = std::exchange(gathers_[index(unit)], {});
    for (const std::size_t call : calls) wait_for(call);
    if (calls.empty()) return;
    work(at(unit).behind_gather_ns);
    if (!plan_.copies_out) return;
    const Mark copied = mark();
    if (schedule_.is_in_backward()) {
      gate_ = copied;
    } else {
      drop_retired();
      retired_ = copied;
    }
  }
  // The gather stream waits until its memory, which is gathered into again, is no longer used.
  void free(int unit) override {
    wait(unit);  // if nobody has used it
    if (!plan_.has_streams || plan_.copies_out) return;
    drop_retired();
    retired_ = mark();
    if (!schedule_.overlaps_next_gather()) drop_retired();
  }
  void reduce(int unit) override {
    const std::int64_t bytes = at(unit).reduced_bytes;
    if (bytes == 0) return;
    if (plan_.before_reduction != Awaited::kNothing) wait_for_last(reduction_);
    work(at(unit).reduce_work_ns);
    const std::string what = name(unit) + " reduce";
    if (plan_.shard_group > 1) {
      reduction_ = launch({.what = what,
                           .function = CollectiveFunction::kReduceScatter,
                           .group = plan_.shard_group,
                           .bytes = bytes,
                           .is_reduction = true,
                           .lane = kMain});
    }
    if (plan_.replicas > 1) {
      // The same stream launches both, with nothing between them.
      const bool is_apart = plan_.before_reduction != Awaited::kReduction;
      (is_apart ? sum_ : reduction_) = launch({.what = what,
                                               .function = CollectiveFunction::kAllReduce,
                                               .group = plan_.replicas,
                                               .are_replicas = true,
                                               .bytes = bytes / plan_.shard_group,
                                               .is_reduction = true,
                                               .lane = plan_.shard_group > 1 ? kReplicas : kMain,
                                               .follows = plan_.shard_group > 1});
    }
    if (plan_.do_reductions_block) wait_for_reductions();
  }
  void accumulate(int unit) override {
    if (plan_.adds_as_it_reduces) work(at(unit).reduce_work_ns);
  }

 private:
  using Awaited = UnitProgramPlan::Awaited;
  static constexpr std::size_t kMain = 0, kGathers = 1, kReplicas = 2, kLanes = 3;

  struct Mark {
    std::size_t index = 0;
    ActionList::Place place = 0;
  };

  static std::size_t index(int unit) { return static_cast<std::size_t>(unit); }
  const PlannedUnit& at(int unit) const { return plan_.units[index(unit)]; }
  const std::string& name(int unit) const { return at(unit).name; }

  void write_step() {
    for (std::size_t i = 0; i < plan_.micro_batches; ++i) {
      MicroBatchProgram& micro_batch = program_.micro_batches.emplace_back();
      micro_batch.like = recorded_like(i, plan_.micro_batches, plan_.recorded_micro_batches);
      actions_ = {};
      last_of_lane_ = {};
      schedule_.set_require_sync(plan_.reduces_each || i + 1 == plan_.micro_batches);
      write_forward();
      write_backward();
      micro_batch.actions = std::move(actions_).in_order();
    }
  }

  void write_forward() {
    if (plan_.has_streams) gate_ = mark();  // shards have just been updated
    retired_ = std::nullopt;
    schedule_.begin_forward(true);
    for (std::size_t layer = 0; layer <= plan_.layers; ++layer) {
      for (const int unit : ending_at(layer)) leave_forward(unit);
      for (const int unit : beginning_at(layer)) {
        compute(Until::kForward, layer);
        schedule_.enter_forward(unit, !at(unit).is_recomputed);
      }
    }
  }
  void leave_forward(int unit) {
    // Without streams nothing is asked for at its end.
    if (plan_.has_streams) compute(Until::kForward, at(unit).end);
    schedule_.leave_forward(unit, !at(unit).is_recomputed && at(unit).has_backward);
  }

  void write_backward() {
    compute(Until::kBackward, 0);
    drop_retired();
    schedule_.begin_backward();
    auto second = plan_.second_forwards.rbegin();
    for (std::size_t layer = plan_.layers + 1; layer-- > 0;) {
      for (const int unit : beginning_at(layer) | std::views::reverse) leave_backward(unit);
      for (const int unit : ending_at(layer) | std::views::reverse) enter_backward(unit);
      if (second == plan_.second_forwards.rend() || second->end + 1 != layer) continue;
      compute_again(*second++);
    }
    compute(Until::kEnd, 0);
    schedule_.end_backward();
    wait_for_reductions();
  }
  void enter_backward(int unit) {
    if (!at(unit).has_backward) return;
    compute(Until::kLayerBackward, backward_place(at(unit).end));
    schedule_.enter_backward(unit);
  }
  // What passes no gradient on ends with the whole of backward.
  void leave_backward(int unit) {
    if (!at(unit).has_backward || !at(unit).passes_gradient) return;
    compute(Until::kLayerBackward, backward_place(at(unit).first));
    const int done = plan_.are_gradients_late ? unit + 1 : unit;
    if (index(done) < plan_.units.size()) schedule_.leave_backward(done);
  }

  void compute_again(const SecondForward& layers) {
    if (layers.was && !layers.is) {
      compute(Until::kLayerBackward, backward_place(layers.end + 1));
      actions_.add({What::kCompute, Until::kLayerBackward, backward_place(layers.end),
                    plan_.second_forward.left()});
    }
    if (!layers.is) return;
    std::size_t done = layers.first;
    const auto compute_to = [&](std::size_t layer) {
      const Until until = layers.was ? Until::kForwardAgain : Until::kSecondForward;
      const double share = layers.was ? 1 : plan_.second_forward.added;
      if (layer > done) actions_.add({What::kCompute, until, layer, share, done});
      done = layer;
    };
    for (std::size_t layer = layers.first; layer <= layers.end; ++layer) {
      for (const int unit : ending_at(layer)) {
        if (!at(unit).is_recomputed || at(unit).first < layers.first) continue;
        if (plan_.has_streams) compute_to(layer);
        schedule_.leave_forward(unit, at(unit).has_backward);
      }
      for (const int unit : beginning_at(layer)) {
        if (!at(unit).is_recomputed) continue;
        compute_to(layer);
        schedule_.enter_forward(unit, true);
      }
    }
    compute_to(layers.end);
  }

  // Units that forward enters at a layer, outer ones first, and those that end before it, inner
  // ones first.
  const std::vector<int>& beginning_at(std::size_t layer) { return by_first_[layer]; }
  std::vector<int> ending_at(std::size_t layer) const {
    const auto found = by_end_.find(layer);
    if (found == by_end_.end()) return {};
    return {found->second.rbegin(), found->second.rend()};
  }
  std::size_t backward_place(std::size_t layer) const { return plan_.layers - layer; }

  void compute(Until until, std::size_t place) { actions_.add({What::kCompute, until, place}); }
  void work(double ns) {
    if (ns > 0) actions_.add({.what = What::kCompute, .until = Until::kOwnWork, .ns = ns});
  }
  Mark mark() {
    const std::size_t index = marks_++;
    return {index, actions_.add({What::kMark, Until::kEnd, index})};
  }
  // Gathers from now on come behind its last use.
  void drop_retired() {
    if (retired_) gate_ = *std::exchange(retired_, std::nullopt);
  }
  std::size_t launch(PlannedCall call) {
    const Action action{What::kLaunch, Until::kEnd, program_.calls.size()};
    ActionList::Place& last = last_of_lane_[call.lane];
    if (call.behind_mark) {
      last = std::max(gate_.place, last);
      actions_.add_behind(last, action);
    } else {
      last = actions_.add(action);
      // What a replica's sum follows has to stay right before it.
      if (call.follows) last_of_lane_[kMain] = last;
    }
    program_.calls.push_back(std::move(call));
    return program_.calls.size() - 1;
  }
  void wait_for(std::size_t call) { actions_.add({What::kWait, Until::kEnd, call}); }
  // Of those of a lane, which end in order.
  void wait_for_last(std::optional<std::size_t>& call) {
    if (const auto awaited = std::exchange(call, std::nullopt)) wait_for(*awaited);
  }
  void wait_for_reductions() {
    wait_for_last(reduction_);
    wait_for_last(sum_);
  }

  const UnitProgramPlan& plan_;
  StepProgram program_;
  ActionList actions_;                                    // of this micro-batch
  std::array<ActionList::Place, kLanes> last_of_lane_{};  // behind which its next one comes
  std::size_t marks_ = 0;
  Mark gate_;                    // that the gather stream waits for
  std::optional<Mark> retired_;  // the last use of what was freed or copied last, until the next
  job::UnitSchedule schedule_;
  std::vector<std::vector<std::size_t>> gathers_;              // by unit: under way
  std::map<std::size_t, std::vector<int>> by_first_, by_end_;  // units, by layers
  std::optional<std::size_t> reduction_, sum_;  // under way; of a group, and of all of them
};

}  // namespace

StepProgram unit_program(const UnitProgramPlan& plan) { return UnitWriter(plan).write(); }

}  // namespace shardlens::trace::predict
