#include "trace/predict/schedule/unit_program.h"

#include <optional>
#include <utility>

namespace shardlens::trace::predict {

namespace {

using What = Action::What;
using model::CollectiveFunction;

// Goes through a step as the trainer does, and writes down what ranks do.
class UnitWriter final : public job::UnitActions {
 public:
  explicit UnitWriter(const UnitProgramPlan& plan)
      : plan_(plan),
        schedule_(plan.units.size(), plan.schedule, *this),
        gathers_(plan.units.size()) {}

  StepProgram write() {
    // Units are gathered ahead in the order of the step before: that one has to be gone through,
    // too.
    write_step();
    program_ = {};
    gathers_.assign(plan_.units.size(), std::nullopt);
    write_step();
    return std::move(program_);
  }

  void gather(int unit, bool ahead) override {
    if (plan_.shard_group == 1) return;
    std::string what = schedule_.is_in_backward() ? "backward gather" : "forward gather";
    if (ahead) what += ", prefetched";
    gathers_[index(unit)] = launch({.what = name(unit) + " " + what,
                                    .function = CollectiveFunction::kAllGather,
                                    .group = plan_.shard_group,
                                    .bytes = plan_.units[index(unit)].gathered_bytes,
                                    .lane = plan_.separate_communicators ? kGathers : kMain});
  }
  void wait(int unit) override {
    if (const auto call = std::exchange(gathers_[index(unit)], std::nullopt)) wait_for(*call);
  }
  void free(int /*unit*/) override {}
  // One unit's gradients are under way at a time.
  void reduce(int unit) override {
    wait_for_reduction();
    const std::int64_t bytes = plan_.units[index(unit)].reduced_bytes;
    if (bytes == 0) return;
    const std::string what = name(unit) + " reduce";
    if (plan_.shard_group > 1) {
      reduction_ = launch({.what = what,
                           .function = CollectiveFunction::kReduceScatter,
                           .group = plan_.shard_group,
                           .bytes = bytes,
                           .lane = kMain});
    }
    if (plan_.replicas > 1) {
      reduction_ = launch({.what = what,
                           .function = CollectiveFunction::kAllReduce,
                           .group = plan_.replicas,
                           .bytes = bytes / plan_.shard_group,
                           .lane = plan_.shard_group > 1 ? kReplicas : kMain,
                           .follows = plan_.shard_group > 1});
    }
  }

 private:
  static constexpr std::size_t kMain = 0, kGathers = 1, kReplicas = 2;

  static std::size_t index(int unit) { return static_cast<std::size_t>(unit); }
  const std::string& name(int unit) const { return plan_.units[index(unit)].name; }

  void write_step() {
    for (std::size_t i = 0; i < plan_.micro_batches; ++i) {
      MicroBatchProgram& micro_batch = program_.micro_batches.emplace_back();
      micro_batch.like = recorded_like(i, plan_.micro_batches, plan_.recorded_micro_batches);
      actions_ = &micro_batch.actions;
      schedule_.set_require_sync(plan_.reduces_each || i + 1 == plan_.micro_batches);
      write_forward();
      write_backward();
    }
  }

  void write_forward() {
    const auto units = static_cast<int>(plan_.units.size());
    schedule_.begin_forward(true);
    for (int unit = 1; unit < units; ++unit) {
      compute(Until::kForward, place_of(unit));
      const bool has_backward = !plan_.units[index(unit)].is_recomputed;
      schedule_.enter_forward(unit, has_backward);
      // What it computes lies before the next one, and nothing is asked for at its end.
      schedule_.leave_forward(unit, has_backward);
    }
  }

  void write_backward() {
    compute(Until::kBackward, 0);
    schedule_.begin_backward();
    for (int unit = static_cast<int>(plan_.units.size()); --unit > 0;) {
      const PlannedUnit& planned = plan_.units[index(unit)];
      const std::size_t place = plan_.units.size() - 1 - index(unit);
      compute(Until::kUnitBackward, place);
      if (planned.is_recomputed) schedule_.enter_forward(unit, true);
      if (planned.more_forwards != 0) {
        actions_->push_back(
            {What::kCompute, Until::kSecondForward, place_of(unit), planned.more_forwards});
      }
      if (planned.is_recomputed) schedule_.leave_forward(unit, true);
      schedule_.enter_backward(unit);
      compute(Until::kUnitEnd, place);
      schedule_.leave_backward(unit);
    }
    compute(Until::kEnd, 0);
    schedule_.end_backward();
    wait_for_reduction();
  }

  static std::size_t place_of(int unit) { return index(unit) - 1; }

  void compute(Until until, std::size_t place) {
    actions_->push_back({What::kCompute, until, place});
  }
  std::size_t launch(PlannedCall call) {
    actions_->push_back({What::kLaunch, Until::kEnd, program_.calls.size()});
    program_.calls.push_back(std::move(call));
    return program_.calls.size() - 1;
  }
  void wait_for(std::size_t call) { actions_->push_back({What::kWait, Until::kEnd, call}); }
  void wait_for_reduction() {
    if (const auto call = std::exchange(reduction_, std::nullopt)) wait_for(*call);
  }

  const UnitProgramPlan& plan_;
  StepProgram program_;
  std::vector<Action>* actions_ = nullptr;
  job::UnitSchedule schedule_;
  std::vector<std::optional<std::size_t>> gathers_;  // by unit: under way
  std::optional<std::size_t> reduction_;
};

}  // namespace

StepProgram unit_program(const UnitProgramPlan& plan) { return UnitWriter(plan).write(); }

}  // namespace shardlens::trace::predict
