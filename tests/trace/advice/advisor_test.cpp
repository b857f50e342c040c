// What all rules say together: sorted, and in no contradiction.
#include "trace/advice/advisor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <random>
#include <set>

#include "tests/trace/advice/advised_run.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/gpu_counter_names.h"

namespace shardlens::trace::advice {
namespace {

TEST(Advisor, EveryRuleHasAnIdThatIsExplained) {
  std::ifstream file(SHARDLENS_SOURCE_DIR "/docs/ADVICE.md");
  const std::string explained{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string_view> ids;
  for (const Rule& rule : rules()) {
    EXPECT_TRUE(ids.insert(rule.id).second) << rule.id;
    EXPECT_FALSE(rule.looks_at.empty());
    EXPECT_NE(explained.find("`" + std::string(rule.id) + "`"), std::string::npos) << rule.id;
  }
}

TEST(Advisor, SaysNothingOfARunWithoutMeasuredSteps) {
  AdvisedRun run;
  run.change = [](auto& figures) { figures.summary.steps_measured = 0; };
  EXPECT_TRUE(run.advise().empty());
}

TEST(Advisor, OfAnotherProgramsRunNoKnobIsSet) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().find_unused_parameters = true;
  run.figures().info.imported_from = "PyTorch profiler";
  for (const Advice& advice : run.advise()) EXPECT_TRUE(advice.changes.empty()) << advice.rule;
}

TEST(Advisor, PutsWhatIsKnownToHelpMostFirst) {
  AdvisedRun run;
  run.settings().overlap_comm = false;
  run.add_collective("loss", 40, 2.0 * kMs, 40.0 * kMs);  // more is at stake, but nobody can tell
  const auto all = run.advise();
  ASSERT_GE(all.size(), 2u);
  EXPECT_EQ(all[0].rule, "bucket_cap");
  EXPECT_TRUE(all[0].gain);
  EXPECT_EQ(all.back().rule, "loss_reading");
  EXPECT_FALSE(all.back().gain);
}

void add_units(AdvisedRun& run, std::int64_t count, double exposed_ns) {
  for (std::int64_t i = 0; i < count; ++i) {
    analysis::UnitFigures unit;
    unit.index = static_cast<int>(i);
    unit.name = "blocks." + std::to_string(i);
    unit.bytes = (i + 1) * 4 * kMib;
    run.figures().units.push_back(unit);
    for (const char* gather : {" forward gather", " backward gather"}) {
      run.add_collective(unit.name + gather, unit.bytes, 5.0 * kMs + static_cast<double>(i) * kMs,
                         exposed_ns / static_cast<double>(2 * count));
    }
  }
}

// What the predictor says of the changes, for as many samples as a recorded step has.
void check_gain(const RunFacts& run, const Advice& advice) {
  const auto predicted = run.predictor->predict(*run.with(advice.changes));
  ASSERT_TRUE(predicted);
  const double n = predicted->samples, step = predicted->recorded_step_ns;
  EXPECT_DOUBLE_EQ(advice.gain->ns, step - predicted->step_ns / n) << advice.rule;
  EXPECT_NEAR(advice.gain->interval.low_ns, step - (step + predicted->difference->high_ns) / n, 1);
  EXPECT_NEAR(advice.gain->interval.high_ns, step - (step + predicted->difference->low_ns) / n, 1);
}

// A run drawn from a seed: settings, times, waits, sizes and memory that may make any rule speak.
AdvisedRun random_run(unsigned seed) {
  std::mt19937 random(seed);
  const auto chance = [&](double p) { return std::bernoulli_distribution(p)(random); };
  const auto draw = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
  };
  AdvisedRun run;
  job::Settings& settings = run.settings();
  settings.overlap_comm = chance(0.5);
  settings.bucket_cap_mb = static_cast<double>(draw(1, 8));
  if (chance(0.3)) settings.first_bucket_mb = static_cast<double>(draw(1, 8));
  if (chance(0.5)) run.set_memory(draw(300, 3000) * kMib);
  run.predicts = chance(0.5);
  if (!run.predicts) {
    const auto strategies = job::strategies();
    settings.sharding_strategy =
        strategies[static_cast<std::size_t>(draw(0, std::ssize(strategies) - 1))].strategy;
    settings.activation_checkpointing = chance(0.3) ? draw(1, 3) : 0;
    settings.find_unused_parameters = chance(0.3) && settings.activation_checkpointing == 0;
    settings.gradient_accumulation_steps = draw(1, 4);
    settings.sync_each_batch = settings.gradient_accumulation_steps > 1 && chance(0.7);
  }
  const std::int64_t late_ns = draw(0, 15) * kMs, data_ns = draw(0, 6) * kMs;
  run.wait_ns = [=](std::int64_t step, int rank) {
    return rank == 0 ? late_ns * (step % 2) : std::int64_t{0};
  };
  const std::int64_t exposed_ns = draw(0, 40) * kMs;
  run.breakdown = [=](std::int64_t, int, analysis::StepBreakdown& own) {
    own.exposed_ns = own.comm_ns = exposed_ns;
    own.compute_ns = own.step_ns - exposed_ns;
    own.phase_ns[static_cast<std::size_t>(base::Phase::kData)] = data_ns;
  };
  const double link = chance(0.5) ? static_cast<double>(draw(1, 4)) * 1e9 : 0;
  const std::uint32_t limits =
      chance(0.3) ? std::uint32_t{model::kLimitSoftwareThermal | model::kLimitPowerCap} : 0;
  run.change = [=](analysis::RunFigures& figures) {
    for (auto& rank : figures.ranks) rank.info.link_bytes_per_second = link;
    if (limits == 0) return;
    for (auto& step : figures.steps) step.throttling = {{1, limits, 10 * kMs}};
  };
  if (job::strategy_traits(settings.sharding_strategy).has_units) {
    add_units(run, draw(1, 6), static_cast<double>(draw(0, 20) * kMs));
    settings.backward_prefetch =
        chance(0.5) ? job::BackwardPrefetch::kPre : job::BackwardPrefetch::kNone;
    settings.wrap_policy =
        chance(0.5) ? job::WrapPolicy::kTransformerBlock : job::WrapPolicy::kSize;
  }
  if (chance(0.5)) run.add_collective("loss", 40, 2.0 * kMs, static_cast<double>(draw(0, 5) * kMs));
  const std::int64_t last = draw(1, 64) * kMib;
  run.set_buckets({{kMib}, {kMib, last}});
  run.add_collective("bucket 0", kMib, static_cast<double>(draw(1, 20) * kMs), 0);
  run.add_collective("bucket 1", last, static_cast<double>(draw(1, 40) * kMs),
                     static_cast<double>(draw(0, exposed_ns)));
  return run;
}

TEST(Advisor, ContradictsItselfOnNoRun) {
  std::set<std::string_view> spoke;
  for (unsigned seed = 0; seed < 300; ++seed) {
    AdvisedRun run = random_run(seed);
    if (!job::problems_of(run.settings()).empty()) continue;
    const auto all = run.advise();
    std::set<std::string> knobs;
    std::set<Topic> topics;
    std::vector<KnobValue> together;
    double least_ns = INFINITY;
    bool gains_ended = false;
    for (const Advice& advice : all) {
      spoke.insert(advice.rule);
      EXPECT_TRUE(topics.insert(advice.topic).second) << advice.rule << " of seed " << seed;
      EXPECT_FALSE(advice.evidence.empty()) << advice.rule;
      EXPECT_FALSE(advice.title.empty() || advice.measured.empty() || advice.why.empty());
      EXPECT_NE(advice.gain.has_value(), !advice.gain_unknown.empty()) << advice.rule;
      EXPECT_FALSE(gains_ended && advice.gain) << "those with a gain come first";
      gains_ended = !advice.gain;
      if (advice.gain) {
        check_gain(run.facts(), advice);
        EXPECT_GT(advice.gain->interval.low_ns, 0);
        EXPECT_LE(advice.gain->ns, least_ns);
        least_ns = advice.gain->ns;
      }
      for (const KnobValue& change : advice.changes) {
        EXPECT_TRUE(knobs.insert(change.knob).second) << change.knob << " of seed " << seed;
        together.push_back(change);
      }
    }
    const auto next = run.facts().with(together);
    ASSERT_TRUE(next) << "seed " << seed;
    EXPECT_TRUE(run.facts().may_fit(*next)) << "seed " << seed;
    for (const KnobValue& change : together) {
      const job::Knob* knob = job::find_knob(change.knob);
      EXPECT_TRUE(job::has_effect(*knob, next->sharding_strategy)) << change.knob;
      EXPECT_NE(job::value_text(run.settings(), *knob), change.value) << "nothing changes";
    }
  }
  EXPECT_GE(spoke.size(), 18u) << "the runs make few rules speak";
}

}  // namespace
}  // namespace shardlens::trace::advice
