// A job that is known is played with some settings and recorded; what is predicted of others is
// what the same job takes when it is played with those.
#include "tests/trace/tuning/played_job.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "trace/job/shape/strategy.h"
#include "trace/predict/schedule/step_program.h"
#include "trace/tuning/predictor.h"
#include "trace/tuning/step_planner.h"

namespace shardlens::trace::tuning {
namespace {

using job::BackwardPrefetch;
using job::Settings;
using job::Strategy;

std::string words(const Settings& s) {
  std::string text = job::strategy_traits(s.sharding_strategy).name.data();
  for (const job::Knob* knob : job::differing_knobs(Settings{}, s)) {
    text += " " + std::string(knob->name) + "=" + job::value_text(s, *knob);
  }
  return text;
}

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  bool coin(double likely = 0.5) { return between(0, 1) < likely; }
  double between(double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(random_);
  }
  template <typename Value>
  Value of(std::initializer_list<Value> values) {
    const auto most = static_cast<int>(values.size()) - 1;
    return *(values.begin() + std::uniform_int_distribution<int>(0, most)(random_));
  }

  Settings settings() {
    Settings s;
    s.sharding_strategy = of({Strategy::kDdp, Strategy::kFullShard, Strategy::kFullShard,
                              Strategy::kShardGradOp, Strategy::kNoShard});
    s.bucket_cap_mb = of({0.5, 1.0, 3.0, 25.0});
    s.overlap_comm = s.sharding_strategy != Strategy::kDdp || coin(0.8);
    s.backward_prefetch =
        of({BackwardPrefetch::kPre, BackwardPrefetch::kPost, BackwardPrefetch::kNone});
    s.forward_prefetch = coin(0.3);
    s.separate_communicators = s.sharding_strategy == Strategy::kFullShard && coin(0.3);
    s.gradient_accumulation_steps = of<std::int64_t>({1, 1, 2, 3});
    s.sync_each_batch = s.gradient_accumulation_steps > 1 && coin();
    s.activation_checkpointing = of<std::int64_t>({0, 0, 1, 2});
    if (coin()) {
      s.wrap_policy = job::WrapPolicy::kSize;
      s.min_num_params = of<std::int64_t>({1, 20'000, 100'000, 150'000, 1'000'000});
    }
    return s;
  }
  PlayedSettings job(unsigned seed) {
    PlayedSettings p;
    p.forward_ns = between(20e6, 60e6);
    p.backward_ns = between(1.5, 2.5) * p.forward_ns;
    p.optimizer_ns = between(1e6, 20e6);
    p.latency_ns = between(0.05e6, 1e6);
    p.ns_per_byte = between(0.5, 8);
    p.slowdown = of({0.0, 0.0, 0.3, 0.6});
    p.late = between(0, 0.03);
    p.seed = seed;
    return p;
  }

 private:
  std::mt19937 random_;
};

struct Compared {
  double predicted_ns = 0, played_ns = 0, predicted_exposed_ns = 0, played_exposed_ns = 0;
};

// Means over steps. The slowdown is given: how it is fitted is another matter.
Compared compare(const PlayedJob& job, const Settings& before, const Settings& after,
                 double slowdown) {
  const auto recorded = job.record(before);
  const StepPlanner planner(job.figures(before), recorded);
  const auto plan_before = planner.plan(before), plan_after = planner.plan(after);
  if (!plan_before) throw std::runtime_error(plan_before.error().message);
  if (!plan_after) throw std::runtime_error(plan_after.error().message);
  Compared compared;
  const auto steps = planner.steps(recorded);
  if (steps.empty()) throw std::runtime_error("no steps");
  for (const auto& step : steps) {
    const auto was = schedule_step(step, plan_before->program, slowdown);
    const auto is = schedule_step(step, plan_after->program, slowdown);
    const auto count = static_cast<double>(steps.size());
    const PlayedStep as_recorded = job.play(before, step.index),
                     played = job.play(after, step.index);
    compared.predicted_ns +=
        (as_recorded.step_ns + static_cast<double>(is.end_ns - was.end_ns)) / count;
    compared.predicted_exposed_ns +=
        (as_recorded.exposed_ns + is.exposed_ns - was.exposed_ns) / count;
    compared.played_ns += played.step_ns / count;
    compared.played_exposed_ns += played.exposed_ns / count;
  }
  return compared;
}

TEST(PlayedJob, ScheduledAsItWasRecordedTakesAsLong) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    Draw draw(seed);
    const PlayedSettings p = draw.job(seed);
    const PlayedJob job(p);
    const Settings settings = draw.settings();
    const auto recorded = job.record(settings);
    const StepPlanner planner(job.figures(settings), recorded);
    const auto plan = planner.plan(settings);
    ASSERT_TRUE(plan) << plan.error().message;
    const auto steps = planner.steps(recorded);
    ASSERT_EQ(steps.size(), 6u) << words(settings);
    for (const auto& step : steps) {
      const auto schedule = schedule_step(step, plan->program, p.slowdown);
      const PlayedStep played = job.play(settings, step.index);
      ASSERT_NEAR(static_cast<double>(schedule.end_ns - schedule.start_ns), played.step_ns,
                  0.015 * played.step_ns)
          << seed << ": " << words(settings) << ", slowdown " << p.slowdown;
      ASSERT_NEAR(schedule.exposed_ns, played.exposed_ns, 0.015 * played.step_ns)
          << seed << ": " << words(settings) << ", slowdown " << p.slowdown;
    }
  }
}

TEST(PlayedJob, IsPredictedFromAnyOtherSettings) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    Draw draw(1000 + seed);
    const PlayedSettings p = draw.job(seed);
    const PlayedJob job(p);
    const Settings before = draw.settings(), after = draw.settings();
    const Compared c = compare(job, before, after, p.slowdown);
    // Which part of a second forward was beside communication no moment tells.
    const bool is_vague = before.activation_checkpointing > 0 && p.slowdown > 0;
    const double near = (is_vague ? 0.03 : 0.02) * c.played_ns;
    EXPECT_NEAR(c.predicted_ns, c.played_ns, near)
        << seed << ": " << words(before) << " -> " << words(after) << ", slowdown " << p.slowdown;
    EXPECT_NEAR(c.predicted_exposed_ns, c.played_exposed_ns, near)
        << seed << ": " << words(before) << " -> " << words(after) << ", slowdown " << p.slowdown;
  }
}

// Some of its calls take much longer than most, which costs a step with many calls the most.
TEST(PlayedJob, IsPredictedWhereSomeCallsAreHeldUp) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Draw draw(2000 + seed);
    PlayedSettings p = draw.job(seed);
    p.held_up_ns = draw.between(2e6, 6e6);
    p.slowdown = 0;
    p.steps = 8;
    const PlayedJob job(p);
    const auto settings = [&](double cap_mb) {
      Settings s;
      s.bucket_cap_mb = cap_mb;
      s.overlap_comm = false;
      return s;
    };
    Settings units;
    units.sharding_strategy = Strategy::kFullShard;
    units.backward_prefetch = BackwardPrefetch::kNone;
    units.wrap_policy = job::WrapPolicy::kSize;
    units.min_num_params = draw.of<std::int64_t>({20'000, 100'000});
    const Settings before = settings(draw.of({1.0, 3.0, 25.0}));
    for (const Settings& after : {settings(0.25), units}) {
      const Compared c = compare(job, before, after, p.slowdown);
      EXPECT_NEAR(c.predicted_ns, c.played_ns, 0.02 * c.played_ns)
          << seed << ": " << words(before) << " -> " << words(after);
    }
  }
}

// Whether its transfers took more than others of their size, or less: what no schedule has of a
// step is as long under any settings, and a step is over where that is.
TEST(PlayedJob, AStepEndsWhereWhatIsDrawnOfItEnds) {
  int as_drawn = 0, beyond = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    Draw draw(3000 + seed);
    PlayedSettings p = draw.job(seed);
    p.held_up_ns = draw.between(0, 20e6);
    const PlayedJob job(p);
    const Settings before = draw.settings(), after = draw.settings();
    const auto recorded = job.record(before);
    auto figures = job.figures(before);
    const auto steps = StepPlanner(figures, recorded).steps(recorded);
    for (const auto& step : steps) {
      analysis::StepFigures figure;
      figure.complete = true;
      figure.ranks.resize(1);
      figure.ranks[0].step_ns = step.ranks[0].end_ns - step.ranks[0].start_ns;
      figures.steps.push_back(figure);
    }
    const auto predictor = Predictor::create(figures, recorded);
    ASSERT_TRUE(predictor) << predictor.error().message;
    for (const auto& step : steps) {
      const auto was = predictor->predict_step(before, step.index);
      const auto is = predictor->predict_step(after, step.index);
      ASSERT_TRUE(was && is) << words(before) << " -> " << words(after);
      ASSERT_EQ(is->index, step.index);
      EXPECT_EQ(was->end_ns, was->recorded_end_ns) << "nothing changes";
      const std::int64_t rest_ns = was->end_ns - was->schedule.end_ns;
      EXPECT_GE(rest_ns, 0);
      EXPECT_EQ(is->end_ns - is->schedule.end_ns, rest_ns)
          << words(before) << " -> " << words(after);
      EXPECT_GT(is->schedule.end_ns, is->start_ns);
      for (const auto& wait : is->schedule.waits) EXPECT_LE(wait.end_ns, is->schedule.end_ns);
      for (const auto& call : is->schedule.calls) EXPECT_GE(call.start_ns, call.ready_ns);
      ++(rest_ns == 0 ? as_drawn : beyond);
    }
  }
  EXPECT_GT(as_drawn, 20);
  EXPECT_GT(beyond, 20);
}

}  // namespace
}  // namespace shardlens::trace::tuning
