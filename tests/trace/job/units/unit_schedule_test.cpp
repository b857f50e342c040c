#include "trace/job/units/unit_schedule.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace shardlens::trace::job {
namespace {

// What is asked for, as text: "g1 w1 f1 r1" for gathering unit 1, waiting for it, freeing and
// reducing it, "a1" for gathering it ahead, "s1" for leaving its gradients to a later backward.
// What must not happen does not go unnoticed.
class Actions final : public UnitActions {
 public:
  explicit Actions(std::size_t units) : gathered_(units), reduced_(units), left_(units) {}

  void gather(int unit, bool ahead) override {
    EXPECT_FALSE(is_gathered(unit)) << unit << " is gathered twice after" << text_;
    gathered_[static_cast<std::size_t>(unit)] = true;
    note(ahead ? " a" : " g", unit);
  }
  void wait(int unit) override {
    note(" w", unit);
    expect_usable(unit);
  }
  void free(int unit) override {
    EXPECT_TRUE(is_gathered(unit)) << unit << " is freed twice after" << text_;
    gathered_[static_cast<std::size_t>(unit)] = false;
    note(" f", unit);
  }
  void reduce(int unit) override {
    ++reduced_[static_cast<std::size_t>(unit)];
    note(" r", unit);
  }
  void accumulate(int unit) override {
    ++left_[static_cast<std::size_t>(unit)];
    note(" s", unit);
  }

  void expect_usable(int unit) const {
    EXPECT_TRUE(is_gathered(unit)) << unit << " is used without its parameters after" << text_;
  }
  bool is_gathered(int unit) const { return gathered_[static_cast<std::size_t>(unit)]; }
  // Since the last call.
  std::string take_text() { return std::exchange(text_, "").erase(0, 1); }
  std::vector<int> take_reduced() {
    return std::exchange(reduced_, std::vector<int>(reduced_.size()));
  }
  std::vector<int> take_left() { return std::exchange(left_, std::vector<int>(left_.size())); }

 private:
  void note(const char* what, int unit) { text_ += what + std::to_string(unit); }

  std::string text_;
  std::vector<bool> gathered_;
  std::vector<int> reduced_, left_;
};

// A unit below the root as the model has it, and units inside of it.
struct Layer {
  int unit = 0;
  std::vector<Layer> inner = {};
  bool is_recomputed = false;      // what is inside: its first forward keeps nothing
  bool input_has_gradient = true;  // else nobody says when its gradients are there
  bool output_has_gradient = true;
  bool is_skipped = false;  // by this forward
};

// Goes through a model as autograd does.
class Model {
 public:
  Model(std::vector<Layer> of_model, std::size_t units, const UnitScheduleOptions& options)
      : layers(std::move(of_model)), actions(units), schedule(units, options, actions) {}
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;

  void forward(bool has_backward = true) {
    schedule.begin_forward(has_backward);
    run_forward(layers, has_backward);
    actions.expect_usable(0);
  }
  void backward() {
    schedule.begin_backward();
    run_backward(layers);
    actions.expect_usable(0);
    schedule.end_backward();
  }
  std::string forward_text() {
    forward();
    return actions.take_text();
  }
  std::string backward_text() {
    backward();
    return actions.take_text();
  }

  std::vector<Layer> layers;
  Actions actions;
  UnitSchedule schedule;

 private:
  void run_forward(const std::vector<Layer>& order, bool has_backward) {
    for (const Layer& layer : order) {
      if (layer.is_skipped) continue;
      schedule.enter_forward(layer.unit, has_backward);
      run_forward(layer.inner, has_backward && !layer.is_recomputed);
      actions.expect_usable(layer.unit);
      schedule.leave_forward(layer.unit, has_backward && layer.output_has_gradient);
    }
  }
  void run_backward(const std::vector<Layer>& order) {
    for (auto layer = order.rbegin(); layer != order.rend(); ++layer) {
      if (layer->is_skipped || !layer->output_has_gradient) continue;
      schedule.enter_backward(layer->unit);
      if (layer->is_recomputed) run_forward(layer->inner, true);
      run_backward(layer->inner);
      actions.expect_usable(layer->unit);
      if (layer->input_has_gradient) schedule.leave_backward(layer->unit);
    }
  }
};

Model two_blocks(const UnitScheduleOptions& options) { return {{{1}, {2}}, 3, options}; }

constexpr const char* kForward = "g0 w0 g1 w1 f1 g2 w2 f2";

TEST(UnitSchedule, GathersTheNextUnitOfBackwardBeforeTheCurrentOneIsComputed) {
  Model model = two_blocks({.backward_prefetch = BackwardPrefetch::kPre});
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(model.forward_text(), kForward);
    EXPECT_EQ(model.backward_text(), "a2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
  }
}

TEST(UnitSchedule, GathersTheNextUnitOfBackwardOnceTheCurrentOneIsComputed) {
  Model model = two_blocks({.backward_prefetch = BackwardPrefetch::kPost});
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "g2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, GathersNothingAheadIfNotAskedTo) {
  Model model = two_blocks({.backward_prefetch = BackwardPrefetch::kNone});
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "g2 w2 f2 r2 g1 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, GathersNothingAheadFromARootThatPrefetchesNothing) {
  Model model = two_blocks({.forward_prefetch = true, .root_prefetches = false});
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "g2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 a2 f1 w2 f2");
}

TEST(UnitSchedule, KnowsTheOrderOfForwardFromTheOneBefore) {
  Model model = two_blocks({.forward_prefetch = true});
  EXPECT_EQ(model.forward_text(), kForward);
  model.backward_text();
  EXPECT_EQ(model.forward_text(), "g0 w0 a1 w1 a2 f1 w2 f2");
  model.backward_text();
  std::swap(model.layers[0], model.layers[1]);
  EXPECT_EQ(model.forward_text(), "g0 w0 a1 g2 w2 f2 w1 a2 f1");
  EXPECT_EQ(model.backward_text(), "a1 w1 f1 r1 w2 f2 r2 f0 r0");
}

TEST(UnitSchedule, IsToldTheOrderOfAForwardThatItDidNotSee) {
  Model model = two_blocks({.forward_prefetch = true});
  model.schedule.set_order_before({0, 2, 1});
  EXPECT_EQ(model.forward_text(), "g0 w0 a2 g1 w1 f1 w2 a1 f2");
}

TEST(UnitSchedule, KeepsWhatIsNotFreedAfterForward) {
  Model model = two_blocks({.frees_after_forward = false});
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 g2 w2");
  EXPECT_EQ(model.backward_text(), "w2 f2 r2 w1 f1 r1 f0 r0");
}

// fully_shard(last, reshard_after_forward=False): backward has no gather of it, ahead or not, and
// behind backward it is freed like others.
TEST(UnitSchedule, KeepsSingleUnitsForBackwardWhereOthersAreFreed) {
  Model model({{1}, {2}, {3}}, 4, {.kept = {3}});
  for (int step = 0; step < 2; ++step) {
    EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 f1 g2 w2 f2 g3 w3");
    EXPECT_EQ(model.backward_text(), "w3 a2 f3 r3 w2 a1 f2 r2 w1 f1 r1 f0 r0");
  }
}

TEST(UnitSchedule, KeepsSingleUnitsForTheNextMicroBatchAsItWouldAll) {
  Model model({{1}, {2}}, 3, {.kept = {2}});
  model.schedule.set_require_sync(false);
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 f1 g2 w2");
  EXPECT_EQ(model.backward_text(), "w2 a1 s2 w1 f1 s1 f0 s0");
  model.schedule.set_require_sync(true);
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 f1 w2");
  EXPECT_EQ(model.backward_text(), "w2 a1 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, ReducesOnlyInSynchronisedMicroBatches) {
  Model model = two_blocks({});
  model.schedule.set_require_sync(false);
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a2 w2 a1 f2 s2 w1 f1 s1 f0 s0");
  model.schedule.set_require_sync(true);
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, KeepsUnitsForTheNextMicroBatchIfNothingIsReduced) {
  Model model = two_blocks({.frees_after_forward = false});
  model.schedule.set_require_sync(false);
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 g2 w2");
  EXPECT_EQ(model.backward_text(), "w2 s2 w1 s1 s0");
  model.schedule.set_require_sync(true);
  EXPECT_EQ(model.forward_text(), "w0 w1 w2");
  EXPECT_EQ(model.backward_text(), "w2 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, GathersOnceMoreWhatIsComputedASecondTime) {
  Model model({{.unit = 1, .inner = {{2}, {3}}, .is_recomputed = true}}, 4, {});
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 g2 w2 f2 g3 w3 f3 f1");
  EXPECT_EQ(model.backward_text(), "a1 w1 g2 w2 f2 g3 w3 f3 g3 w3 a2 f3 r3 w2 f2 r2 f1 r1 f0 r0");
}

TEST(UnitSchedule, DoesNotTakeASecondForwardForTheOrderOfTheFirst) {
  Model model({{.unit = 1, .inner = {{2}, {3}}, .is_recomputed = true}}, 4,
              {.backward_prefetch = BackwardPrefetch::kNone, .forward_prefetch = true});
  const char* backward = "g1 w1 g2 w2 f2 g3 w3 f3 g3 w3 f3 r3 g2 w2 f2 r2 f1 r1 f0 r0";
  model.forward_text();
  EXPECT_EQ(model.backward_text(), backward);
  EXPECT_EQ(model.forward_text(), "g0 w0 a1 w1 a2 w2 a3 f2 w3 f3 f1");
  EXPECT_EQ(model.backward_text(), backward);
}

// Of the first block where nothing before it is trained.
TEST(UnitSchedule, EndsTheBackwardThatNobodySeesTheEndOf) {
  Model model = two_blocks({});
  model.layers[0].input_has_gradient = false;
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
  model.layers[1].input_has_gradient = false;
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a2 w2 a1 w1 f2 r2 f1 r1 f0 r0");
}

TEST(UnitSchedule, GoesOnBeforeTheUnitWhoseBackwardDoesNotCome) {
  Model model({{1}, {2}, {3}}, 4, {});
  model.forward_text();
  model.schedule.begin_backward();
  EXPECT_EQ(model.actions.take_text(), "a3");
  model.schedule.enter_backward(2);
  EXPECT_EQ(model.actions.take_text(), "g2 w2 a1");
  model.schedule.leave_backward(2);
  model.schedule.end_backward();
  EXPECT_EQ(model.actions.take_text(), "f2 r2 f3 r3 f1 r1 f0 r0");
}

TEST(UnitSchedule, GathersNothingAheadOnceBackwardHasEnded) {
  Model model = two_blocks({.backward_prefetch = BackwardPrefetch::kPost});
  model.forward_text();
  model.schedule.begin_backward();
  model.schedule.enter_backward(2);
  model.schedule.leave_backward(2);
  EXPECT_EQ(model.actions.take_text(), "g2 w2 a1 f2 r2");
  model.schedule.end_backward();
  EXPECT_EQ(model.actions.take_text(), "f1 r1 f0 r0");
}

TEST(UnitSchedule, PassesOverUnitsWithoutBackward) {
  Model model = two_blocks({});
  model.layers[1].output_has_gradient = false;
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a1 w1 f1 r1 r2 f0 r0");
}

TEST(UnitSchedule, EvaluationEndsWithoutBackward) {
  Model model = two_blocks({.frees_after_forward = false});
  model.forward(false);
  EXPECT_EQ(model.actions.take_text(), "g0 w0 g1 w1 g2 w2");
  model.schedule.free_all();
  EXPECT_EQ(model.actions.take_text(), "f0 f1 f2");
  EXPECT_EQ(model.forward_text(), "g0 w0 g1 w1 g2 w2");
  EXPECT_EQ(model.backward_text(), "w2 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, ForgetsAForwardThatHadNoBackward) {
  Model model = two_blocks({});
  model.forward_text();
  model.schedule.free_all();
  EXPECT_EQ(model.actions.take_text(), "f0");
  EXPECT_EQ(model.forward_text(), kForward);
  EXPECT_EQ(model.backward_text(), "a2 w2 a1 f2 r2 w1 f1 r1 f0 r0");
}

TEST(UnitSchedule, GathersBesideTheUnitBeforeInForwardAndNotBehindTheLast) {
  const auto overlaps_after = [](const UnitScheduleOptions& options, bool enters_all) {
    Model model = two_blocks(options);
    model.layers[1].is_skipped = !enters_all;
    model.forward();
    return model.schedule.overlaps_next_gather();
  };
  EXPECT_TRUE(overlaps_after({}, false));
  EXPECT_FALSE(overlaps_after({}, true));
  EXPECT_FALSE(overlaps_after({.forward_prefetch = true}, false));
  Model model = two_blocks({});
  model.layers[1].is_skipped = true;
  model.forward();
  model.schedule.begin_backward();
  EXPECT_FALSE(model.schedule.overlaps_next_gather());
}

TEST(UnitSchedule, TakesItsOptionsFromTheSettings) {
  Settings settings;
  settings.sharding_strategy = Strategy::kFullShard;
  settings.backward_prefetch = BackwardPrefetch::kPost;
  settings.forward_prefetch = true;
  const UnitScheduleOptions options = unit_schedule_options(settings);
  EXPECT_TRUE(options.frees_after_forward);
  EXPECT_EQ(options.backward_prefetch, BackwardPrefetch::kPost);
  EXPECT_TRUE(options.forward_prefetch);
  settings.sharding_strategy = Strategy::kShardGradOp;
  EXPECT_FALSE(unit_schedule_options(settings).frees_after_forward);
}

// ---- whatever the model

using Random = std::mt19937;

bool is_drawn(Random& random, unsigned of) { return random() % of == 0; }

std::vector<Layer> draw_layers(Random& random, int& units, int depth) {
  std::vector<Layer> layers(random() % (depth == 0 ? 6 : 4));
  for (Layer& layer : layers) {
    layer.unit = units++;
    if (depth < 2 && is_drawn(random, 2)) layer.inner = draw_layers(random, units, depth + 1);
    layer.is_recomputed = is_drawn(random, 2);
    layer.input_has_gradient = !is_drawn(random, 6);
    layer.output_has_gradient = !is_drawn(random, 8);
  }
  return layers;
}

void draw_skipped(Random& random, std::vector<Layer>& layers) {
  for (Layer& layer : layers) {
    layer.is_skipped = is_drawn(random, 10);
    draw_skipped(random, layer.inner);
  }
}

// Those whose forward, the first or a second one, was for a backward. `is_reached`: by backward.
void note_ended(const std::vector<Layer>& layers, bool is_reached, std::vector<int>& ended) {
  for (const Layer& layer : layers) {
    if (layer.is_skipped) continue;
    ended[static_cast<std::size_t>(layer.unit)] = 1;
    const bool is_entered = is_reached && layer.output_has_gradient;
    if (!layer.is_recomputed || is_entered) note_ended(layer.inner, is_entered, ended);
  }
}

void expect_all_free(const Model& model, int units) {
  for (int unit = 0; unit < units; ++unit) {
    EXPECT_FALSE(model.actions.is_gathered(unit)) << unit;
    EXPECT_FALSE(model.schedule.is_gathered(unit)) << unit;
  }
}

void run_step(Random& random, Model& model, int units, bool frees_after_forward) {
  const auto micro_batches = 1 + random() % 3;
  for (unsigned i = 1; i <= micro_batches; ++i) {
    const bool reduces = i == micro_batches || is_drawn(random, 3);
    draw_skipped(random, model.layers);
    model.schedule.set_require_sync(reduces);
    model.forward();
    model.backward();
    const std::vector<int> none(static_cast<std::size_t>(units));
    std::vector<int> ended = none;
    ended[0] = 1;
    note_ended(model.layers, true, ended);
    EXPECT_EQ(model.actions.take_reduced(), reduces ? ended : none);
    EXPECT_EQ(model.actions.take_left(), reduces ? none : ended);
    if (reduces || frees_after_forward) expect_all_free(model, units);
  }
}

// Actions and Model say what must hold at each moment.
TEST(UnitSchedule, GathersFreesAndReducesEveryUnitOnceInWhateverModel) {
  Random random(20261124);
  for (int drawn = 0; drawn < 2000 && !HasFailure(); ++drawn) {
    SCOPED_TRACE(drawn);
    int units = 1;
    std::vector<Layer> layers = draw_layers(random, units, 0);
    const UnitScheduleOptions options{is_drawn(random, 2),
                                      std::array{BackwardPrefetch::kNone, BackwardPrefetch::kPre,
                                                 BackwardPrefetch::kPost}[random() % 3],
                                      is_drawn(random, 2)};
    Model model(std::move(layers), static_cast<std::size_t>(units), options);
    for (int step = 0; step < 4; ++step) {
      run_step(random, model, units, options.frees_after_forward);
      if (!is_drawn(random, 2)) continue;
      model.forward(false);
      model.schedule.free_all();
      expect_all_free(model, units);
    }
  }
}

}  // namespace
}  // namespace shardlens::trace::job
