#include "trace/analysis/run/comparison.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/run/compared_run.h"

namespace shardlens::trace::analysis {
namespace {

// Steps around `mean_ns` whose deviations carry over to the next step by `memory`.
RunFigures run_of(double mean_ns, double spread_ns, int steps, unsigned seed, double memory = 0) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, spread_ns);
  RunFigures run;
  run.info.world_size = 2;
  double deviation = 0;
  for (int i = 0; i < steps; ++i) {
    deviation = memory * deviation + std::sqrt(1 - memory * memory) * noise(random);
    auto& step = run.steps.emplace_back();
    step.index = i;
    step.complete = true;
    step.loss = 4.0 - 0.01 * i;
    step.tokens = 1000;
    step.ranks.resize(2);
    for (auto& rank : step.ranks) {
      rank.step_ns = std::llround(mean_ns + deviation);
      rank.compute_ns = rank.step_ns / 2;
      rank.idle_ns = rank.step_ns - rank.compute_ns;
      rank.has_detail = true;
    }
  }
  run.summary = summarize(run.info, run.steps, run.ranks);
  return run;
}

const FigureDifference* find(const Comparison& comparison, std::string_view name) {
  for (const auto& figure : comparison.figures) {
    if (figure.name == name) return &figure;
  }
  return nullptr;
}

TEST(Comparison, ListsDifferingSettingsAndTheRelativeDifference) {
  auto first = run_of(100e6, 1e6, 50, 1);
  auto second = run_of(110e6, 1e6, 50, 2);
  second.info.settings.bucket_cap_mb = 60;
  const auto comparison = compare_runs(first, second);
  ASSERT_EQ(comparison.settings.size(), 1u);
  EXPECT_EQ(comparison.settings[0].name, "bucket_cap_mb");
  EXPECT_EQ(comparison.settings[0].first, "25");
  EXPECT_EQ(comparison.settings[0].second, "60");
  EXPECT_NEAR(*comparison.relative, 0.10, 0.005);
  EXPECT_EQ(comparison.beyond_noise, true);
  EXPECT_FALSE(comparison.by_throughput);
  EXPECT_FALSE(comparison.noise.between_runs);
  const auto* step = find(comparison, "step");
  ASSERT_NE(step, nullptr);
  EXPECT_DOUBLE_EQ(step->first, first.summary.step_ns.mean);
  EXPECT_DOUBLE_EQ(step->difference, second.summary.step_ns.mean - first.summary.step_ns.mean);
}

TEST(Comparison, ASmallDifferenceIsWithinTheNoise) {
  auto second = run_of(100.2e6, 5e6, 50, 2);
  second.info.settings.bucket_cap_mb = 60;
  const auto comparison = compare_runs(run_of(100e6, 5e6, 50, 1), second);
  EXPECT_EQ(comparison.beyond_noise, false);
  EXPECT_EQ(find(comparison, "step")->beyond_noise, false);
}

// Half as long again, or a third fewer tokens per second: one measurement, however much it
// scatters.
TEST(Comparison, ThroughputIsJudgedAsTheStepItComesFrom) {
  bool has_seen[2] = {};
  for (const double spread_ns : {20e6, 40e6, 60e6, 80e6, 100e6, 120e6}) {
    auto second = run_of(150e6, spread_ns, 27, 2);
    second.info.settings.bucket_cap_mb = 60;
    const auto comparison = compare_runs(run_of(100e6, spread_ns / 4, 27, 1), second);
    const auto verdict = find(comparison, "step")->beyond_noise;
    if (!verdict) continue;
    EXPECT_EQ(find(comparison, "tokens per second")->beyond_noise, verdict) << spread_ns;
    has_seen[*verdict ? 1 : 0] = true;
  }
  EXPECT_TRUE(has_seen[0] && has_seen[1]);
}

TEST(Comparison, TooFewStepsAreNotJudged) {
  const auto comparison = compare_runs(run_of(100e6, 1e6, 3, 1), run_of(200e6, 1e6, 3, 2));
  EXPECT_FALSE(comparison.beyond_noise.has_value());
  EXPECT_FALSE(find(comparison, "step")->beyond_noise.has_value());
}

TEST(Comparison, UsesThroughputOnceTheBatchDiffers) {
  auto first = run_of(100e6, 1e6, 50, 1);
  auto second = run_of(150e6, 1e6, 50, 2);
  second.info.settings.batch_per_rank = 16;
  for (auto& step : second.steps) step.tokens = 2000;
  second.summary = summarize(second.info, second.steps, second.ranks);
  const auto comparison = compare_runs(first, second);
  EXPECT_TRUE(comparison.by_throughput);
  EXPECT_NEAR(*comparison.relative, 2.0 / 1.5 - 1, 0.01);
  EXPECT_EQ(comparison.beyond_noise, true);
  EXPECT_FALSE(find(comparison, "step")->beyond_noise) << "steps of other work are not compared";
}

// 1 µs a token, and in twice as many 1.001: the interval is without 0 exactly where the verdict is
// beyond noise.
TEST(Comparison, ThroughputHasTheIntervalOfItsVerdict) {
  bool has_seen[2] = {};
  for (const double slower : {1.001, 1.002, 1.004, 1.01, 1.05, 1.2}) {
    auto first = run_of(1e6, 2e4, 50, 1), second = run_of(2e6 * slower, 4e4, 50, 2);
    second.info.settings.batch_per_rank = 16;
    for (auto& step : second.steps) step.tokens = 2000;
    second.summary = summarize(second.info, second.steps, second.ranks);
    const auto comparison = compare_runs(first, second);
    const auto* rate = find(comparison, "tokens per second");
    ASSERT_TRUE(rate->beyond_noise && rate->half_width) << slower;
    EXPECT_EQ(*rate->beyond_noise, std::abs(rate->difference) > *rate->half_width) << slower;
    // Standard errors of 20 µs ÷ √50 in steps of 1 and 2 ms: 0.28 % and 0.28 %.
    EXPECT_NEAR(*rate->half_width / rate->first, 2.3 * 0.004, 0.004) << slower;
    has_seen[*rate->beyond_noise ? 1 : 0] = true;
  }
  EXPECT_TRUE(has_seen[0] && has_seen[1]);
}

// Of runs of the same settings, of which two and two are compared as the command does it.
struct FigureClaims {
  int pairs = 0, steps = 0, any = 0;

  void add(const std::vector<RunFigures>& runs) {
    std::vector<RunNoise> noises;
    for (const auto& run : runs) noises.push_back(noise_of(run));
    for (std::size_t a = 0; a < runs.size(); ++a) {
      for (std::size_t b = a + 1; b < runs.size(); ++b) {
        std::vector<NoiseRun> others;
        for (std::size_t i = 0; i < runs.size(); ++i) {
          if (i != a && i != b) others.push_back({{&runs[i].info, "", ""}, &noises[i]});
        }
        const auto comparison = compare_runs(runs[a], runs[b], others);
        ++pairs;
        steps += comparison.beyond_noise.value();
        any += std::ranges::any_of(comparison.figures, [](const FigureDifference& figure) {
          return figure.beyond_noise.value_or(false);
        });
      }
    }
  }
};

// `words`: what the data file says of a step, means over ranks, as if there were one.
void add_step(std::istream& words, RunFigures& run) {
  const auto next_ns = [&] {
    std::int64_t us = 0;
    words >> us;
    return us * 1000;
  };
  auto& step = run.steps.emplace_back();
  step.index = static_cast<std::int64_t>(run.steps.size()) - 1;
  step.complete = true;
  step.tokens = 128;
  auto& rank = step.ranks.emplace_back();
  rank.has_detail = true;
  for (auto part : {&StepBreakdown::step_ns, &StepBreakdown::compute_ns, &StepBreakdown::comm_ns,
                    &StepBreakdown::exposed_ns}) {
    rank.*part = next_ns();
  }
  rank.overlap_ns = rank.comm_ns - rank.exposed_ns;
  step.exposed_wait_ns = {next_ns()};
  rank.idle_ns = next_ns();
  for (auto phase : {base::Phase::kData, base::Phase::kForward, base::Phase::kBackward,
                     base::Phase::kOptimizer, base::Phase::kOther}) {
    rank.phase_ns[static_cast<std::size_t>(phase)] = next_ns();
  }
  ASSERT_FALSE(words.fail());
}

TEST(Comparison, EqualRunsAreHardlyEverCalledDifferentInAnyFigure) {
  FigureClaims claims;
  for (unsigned seed = 0; seed < 8; ++seed) {
    std::vector<RunFigures> runs;
    std::mt19937 random(seed);
    std::normal_distribution<double> own(0, 0.02);
    for (unsigned i = 0; i < 10; ++i) {
      runs.push_back(run_of(100e6 * (1 + own(random)), 3e6, 100, seed * 10 + i, 0.6));
      for (auto& step : runs.back().steps) {
        for (auto& rank : step.ranks) {
          rank.phase_ns[0] = std::llround(5e6 * (1 + own(random)));
          rank.compute_ns = std::llround(50e6 * (1 + own(random)));
        }
      }
    }
    claims.add(runs);
  }
  EXPECT_LE(claims.steps, claims.pairs / 20);
  EXPECT_LE(claims.any, claims.pairs / 20);
}

TEST(Comparison, EqualRecordedRunsAreHardlyEverCalledDifferentInAnyFigure) {
  std::ifstream file(SHARDLENS_TEST_DATA "/noise/equal_runs_in_full.txt");
  std::map<int, std::vector<RunFigures>> sets;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    std::size_t set = 0, run = 0;
    words >> set >> run;
    auto& runs = sets[static_cast<int>(set)];
    if (runs.size() <= run) runs.resize(run + 1);
    while (words.good()) add_step(words, runs[run]);
  }
  FigureClaims claims;
  for (auto& [set, runs] : sets) {
    ASSERT_EQ(runs.size(), 10U);
    for (RunFigures& run : runs) {
      ASSERT_EQ(run.steps.size(), 60U);
      run.info.world_size = 2;
      run.summary = summarize(run.info, run.steps, run.ranks);
    }
    claims.add(runs);
  }
  ASSERT_EQ(claims.pairs, 90);
  EXPECT_LE(claims.steps, claims.pairs / 20);
  EXPECT_LE(claims.any, claims.pairs / 20);
}

TEST(Comparison, PeakMemoryIsThatOfTensorsAndDiffersOnceItMatters) {
  const auto with_memory = [](std::int64_t tensors, std::int64_t outside) {
    auto run = run_of(100e6, 1e6, 50, 1);
    run.ranks.resize(2);
    run.ranks[1].peak.bytes[0] = tensors;
    run.ranks[1].peak.bytes[static_cast<std::size_t>(model::MemoryCategory::kOutside)] = outside;
    return run;
  };
  const auto first = with_memory(1000, 700);
  const auto same = compare_runs(first, with_memory(1000, 900));
  EXPECT_EQ(find(same, "peak of tensors")->beyond_noise, false);
  EXPECT_EQ(find(same, "memory outside PyTorch")->difference, 200);
  EXPECT_FALSE(find(same, "memory outside PyTorch")->beyond_noise);
  const auto differs = [&](std::int64_t a, std::int64_t b) {
    return *find(compare_runs(with_memory(a, 0), with_memory(b, 0)), "peak of tensors")
                ->beyond_noise;
  };
  constexpr std::int64_t kMebibyte = 1 << 20;
  EXPECT_FALSE(differs(46 * kMebibyte, 46 * kMebibyte - 8)) << "less than an allocation";
  EXPECT_FALSE(differs(46 * kMebibyte, 46 * kMebibyte + 40'000)) << "less than a thousandth";
  EXPECT_TRUE(differs(46 * kMebibyte, 46 * kMebibyte + 50'000));
  EXPECT_TRUE(differs(46 * kMebibyte, 45 * kMebibyte));
  EXPECT_TRUE(differs(1000, 1512));
}

TEST(Comparison, RunsOfDifferentJobsAreNotJudged) {
  const auto first = run_of(100e6, 1e6, 50, 1);
  const auto reasons = [&](auto change) {
    auto second = run_of(150e6, 1e6, 50, 2);
    second.ranks.resize(1);
    change(second);
    const auto comparison = compare_runs(first, second);
    for (const auto& figure : comparison.figures) EXPECT_FALSE(figure.beyond_noise) << figure.name;
    EXPECT_FALSE(comparison.beyond_noise);
    EXPECT_NE(find(comparison, "step"), nullptr);
    return comparison.other_job;
  };
  using enum OtherJob;
  EXPECT_EQ(reasons([](RunFigures& run) { run.info.settings.model = "small"; }),
            std::vector{kModel});
  EXPECT_EQ(reasons([](RunFigures& run) { run.info.settings.data = "a.txt"; }), std::vector{kData});
  EXPECT_EQ(reasons([](RunFigures& run) { run.info.device = "cuda"; }), std::vector{kDevice});
  EXPECT_EQ(reasons([](RunFigures& run) {
              run.info.imported_from = "PyTorch profiler";
              run.info.settings.model = "small";  // says nothing
            }),
            std::vector{kProgram});
  EXPECT_EQ(other_job_label({kMachine, kDevice}), "other machine");
  EXPECT_EQ(other_job_label({kData, kMachine}), "other job");
  auto here = first, there = first;
  here.ranks.resize(1);
  there.ranks.resize(1);
  here.ranks[0].info.host = "a";
  there.ranks[0].info.host = "b";
  EXPECT_EQ(compare_runs(here, there).other_job, std::vector{kMachine});
}

// As `pack` calls them: the first host of each run is host-1.
TEST(Comparison, PackedRunsAreOfOneMachineWhereWhatBeganThemTellsIt) {
  const auto reasons = [](const std::string& host, const std::string& machine,
                          const std::string& other_host, const std::string& other_machine) {
    auto first = run_of(100e6, 1e6, 50, 1), second = run_of(150e6, 1e6, 50, 2);
    first.ranks.resize(1);
    second.ranks.resize(1);
    first.ranks[0].info.host = host;
    second.ranks[0].info.host = other_host;
    first.info.machine = machine;
    second.info.machine = other_machine;
    first.info.is_packed = host.starts_with("host-") && !machine.empty();
    second.info.is_packed = other_host.starts_with("host-") && !other_machine.empty();
    return compare_runs(first, second).other_job;
  };
  using enum OtherJob;
  EXPECT_EQ(reasons("host-1", "aa", "host-1", "bb"), std::vector{kMachine});
  EXPECT_TRUE(reasons("host-1", "aa", "host-1", "aa").empty());
  EXPECT_TRUE(reasons("host-1", "aa", "desk", "aa").empty()) << "one of them is packed";
  EXPECT_EQ(reasons("host-1", "aa", "desk", "bb"), std::vector{kMachine});
  EXPECT_EQ(reasons("host-1", "", "desk", "bb"), std::vector{kUntoldMachine});
  EXPECT_EQ(reasons("host-1", "aa", "host-1", ""), std::vector{kUntoldMachine});
  EXPECT_TRUE(reasons("host-1", "", "host-1", "").empty()) << "the examples, of one machine";
  EXPECT_EQ(reasons("desk", "aa", "lab", "aa"), std::vector{kMachine});
  EXPECT_TRUE(reasons("desk", "", "desk", "bb").empty());
  EXPECT_EQ(other_job_label({kUntoldMachine}), "machine not known");
}

// As a cluster may name its hosts.
TEST(Comparison, HostsWithNumbersInTheirNamesAreNotTakenForPackedOnes) {
  auto first = run_of(100e6, 1e6, 50, 1), second = run_of(150e6, 1e6, 50, 2);
  for (auto* run : {&first, &second}) {
    run->ranks.resize(2);
    run->ranks[0].info.host = "host-1";
    run->info.machine = "aa";
  }
  first.ranks[1].info.host = "host-2";
  second.ranks[1].info.host = "host-3";
  EXPECT_EQ(compare_runs(first, second).other_job, std::vector{OtherJob::kMachine});
  second.ranks[1].info.host = "host-2";
  EXPECT_TRUE(compare_runs(first, second).other_job.empty());
}

TEST(Comparison, APackedRunIsOfTheJobOfItsFolder) {
  auto run = run_of(100e6, 1e6, 50, 1), packed = run_of(150e6, 1e6, 50, 2);
  run.info.settings.model = "/home/u/models/llama-1b";
  packed.info.settings.model = "…/llama-1b";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kUntold})
      << "it may have lain elsewhere";
  run.info.job = packed.info.job = "ab";
  const auto comparison = compare_runs(run, packed);
  EXPECT_TRUE(comparison.other_job.empty());
  EXPECT_TRUE(comparison.settings.empty()) << comparison.settings.front().first;
  packed.info.job = "cd";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kUntold});
  packed.info.settings.data = "…/text.jsonl";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kData});
  packed.info.settings.data = run.info.settings.data;
  packed.info.settings.model = "…/llama-8b";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kModel});
}

// Of the same settings, but for where the model lies.
TEST(Comparison, LearnsTheNoiseFromAPackedRunAndItsFolderAlike) {
  auto runs =
      std::array{run_of(100e6, 1e6, 50, 1), run_of(101e6, 1e6, 50, 2), run_of(150e6, 1e6, 50, 3)};
  for (auto& run : runs) run.info.job = "ab";
  for (std::size_t i = 0; i < runs.size(); ++i)
    runs[i].info.start_ns = static_cast<std::int64_t>(i);
  runs[0].info.settings.model = "…/llama-1b";
  runs[1].info.settings.model = runs[2].info.settings.model = "/home/u/models/llama-1b";
  const ComparedRun packed(runs[0]);
  const auto comparison = compare_runs(runs[1], runs[2], {packed.for_model()});
  EXPECT_EQ(comparison.noise.runs, 3);
  EXPECT_TRUE(comparison.noise.between_runs);
}

TEST(Comparison, OfAPackedProgramTheMarkTellsWhatWasRun) {
  auto run = run_of(100e6, 1e6, 50, 1), packed = run_of(150e6, 1e6, 50, 2);
  for (auto* each : {&run, &packed}) {
    each->info.imported_from = "another program";
    each->info.machine = "aa";
    each->info.job = "ab";
  }
  run.info.command = "python3 train.py";
  EXPECT_TRUE(compare_runs(run, packed).other_job.empty());
  EXPECT_TRUE(compare_runs(packed, packed).other_job.empty());
  packed.info.job = "cd";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kProgram});
  packed.info.job = "";
  EXPECT_EQ(compare_runs(run, packed).other_job, std::vector{OtherJob::kUntold});
}

// Their settings are those of a new run, and phases are not marked.
TEST(Comparison, OfTracesOfAnotherProgramOnlyWhatTheyTell) {
  auto first = run_of(100e6, 1e6, 50, 1), second = run_of(150e6, 1e6, 50, 2);
  for (auto* run : {&first, &second}) {
    run->info.imported_from = "PyTorch profiler";
    for (auto& step : run->steps) {
      for (auto& rank : step.ranks) {
        rank.phase_ns[static_cast<std::size_t>(base::Phase::kOther)] = rank.step_ns;
      }
    }
    run->summary = summarize(run->info, run->steps, run->ranks);
  }
  const auto comparison = compare_runs(first, second);
  EXPECT_FALSE(comparison.knows_settings);
  EXPECT_NE(find(comparison, "step"), nullptr);
  EXPECT_EQ(find(comparison, "other"), nullptr);
  EXPECT_EQ(comparison.other_job, std::vector{OtherJob::kUntold});
  EXPECT_EQ(other_job_label(comparison.other_job), "job not known");
  EXPECT_FALSE(comparison.beyond_noise);
  first.info.command = second.info.command = "train.py";
  EXPECT_TRUE(compare_runs(first, second).other_job.empty());
}

TEST(Comparison, ComparesTheLossAtTheLastCommonStep) {
  const auto comparison = compare_runs(run_of(1e6, 1, 30, 1), run_of(1e6, 1, 20, 2));
  EXPECT_EQ(comparison.common_step, 19);
  EXPECT_DOUBLE_EQ(*comparison.first_loss, 3.81);
  EXPECT_DOUBLE_EQ(*comparison.second_loss, 3.81);
}

TEST(Comparison, EmptyRunsHaveNothingInCommon) {
  const auto comparison = compare_runs(RunFigures{}, RunFigures{});
  EXPECT_EQ(comparison.common_step, -1);
  EXPECT_TRUE(comparison.figures.empty());
  EXPECT_FALSE(comparison.relative);
}

// Steps of `step_ms` in which every rank takes its batch; times are laid out by hand, nothing is
// taken from the summary.
RunFigures scaled_run(int ranks, std::int64_t batch_per_rank, double step_ms) {
  auto run = run_of(step_ms * 1e6, 0, 10, 1);
  run.info.world_size = ranks;
  run.info.settings.ranks = ranks;
  run.info.settings.batch_per_rank = batch_per_rank;
  for (auto& step : run.steps) step.samples = batch_per_rank * ranks;
  run.summary = summarize(run.info, run.steps, run.ranks);
  return run;
}

TEST(Scaling, IsWeakWhenEveryRankKeepsItsBatchAndEfficiencyIsTheRatioOfStepTimes) {
  const auto scaling = compare_runs(scaled_run(2, 8, 100), scaled_run(8, 8, 125)).scaling;
  ASSERT_TRUE(scaling);
  EXPECT_EQ(scaling->kind, ScalingKind::kWeak);
  EXPECT_EQ(scaling->from_ranks, 2);
  EXPECT_EQ(scaling->to_ranks, 8);
  EXPECT_NEAR(scaling->efficiency, 100.0 / 125.0, 1e-9);
  EXPECT_NEAR(scaling->speedup, 4 * 100.0 / 125.0, 1e-9);
}

TEST(Scaling, IsStrongWhenTheEffectiveBatchStaysAndSpeedUpIsTheRatioOfStepTimes) {
  const auto scaling = compare_runs(scaled_run(2, 8, 100), scaled_run(4, 4, 60)).scaling;
  ASSERT_TRUE(scaling);
  EXPECT_EQ(scaling->kind, ScalingKind::kStrong);
  EXPECT_NEAR(scaling->speedup, 100.0 / 60.0, 1e-9);
  EXPECT_NEAR(scaling->efficiency, 100.0 / 60.0 / 2, 1e-9);
}

TEST(Scaling, SaysThatRanksOnACpuShareItsCores) {
  auto few = scaled_run(2, 8, 100), many = scaled_run(4, 8, 110);
  few.info.device = many.info.device = "cuda";
  EXPECT_FALSE(compare_runs(few, many).scaling->on_same_cores);
  few.info.device = many.info.device = "cpu";
  EXPECT_TRUE(compare_runs(few, many).scaling->on_same_cores);
  few.ranks.resize(1);
  many.ranks.resize(2);
  few.ranks[0].info.host = many.ranks[0].info.host = "a";
  many.ranks[1].info.host = "b";
  EXPECT_FALSE(compare_runs(few, many).scaling->on_same_cores) << "another host has others";
}

TEST(Scaling, DoesNotDependOnWhichRunIsNamedFirst) {
  const auto few = scaled_run(2, 8, 100), many = scaled_run(4, 8, 110);
  const auto one = compare_runs(few, many).scaling, other = compare_runs(many, few).scaling;
  ASSERT_TRUE(one && other);
  EXPECT_EQ(one->from_ranks, other->from_ranks);
  EXPECT_DOUBLE_EQ(one->speedup, other->speedup);
}

TEST(Scaling, NeedsRunsThatDifferInNothingElse) {
  const auto few = scaled_run(2, 8, 100);
  EXPECT_FALSE(compare_runs(few, scaled_run(2, 8, 90)).scaling) << "equal ranks";
  EXPECT_FALSE(compare_runs(few, scaled_run(4, 6, 90)).scaling) << "neither batch is equal";
  auto other = scaled_run(4, 8, 90);
  other.info.settings.bucket_cap_mb = 1;
  EXPECT_FALSE(compare_runs(few, other).scaling);
  other = scaled_run(4, 8, 90);
  other.info.settings.sharding_strategy = job::Strategy::kFullShard;
  EXPECT_FALSE(compare_runs(few, other).scaling);
  other = scaled_run(4, 8, 90);
  other.info.device = "cuda";
  EXPECT_FALSE(compare_runs(few, other).scaling);
  other = scaled_run(4, 8, 90);
  other.summary.samples_per_s = 0;
  EXPECT_FALSE(compare_runs(few, other).scaling) << "no speed is known";
}

RunFigures on_hosts(RunFigures run, const std::vector<std::string>& hosts,
                    const std::string& device_name) {
  run.info.device = "cuda";
  for (const std::string& host : hosts) {
    run.ranks.emplace_back().info.host = host;
    run.ranks.back().info.device_name = device_name;
  }
  return run;
}

TEST(Scaling, IsToldOfMoreHostsBesideTheSameButNotOfOtherHardware) {
  const auto few = on_hosts(scaled_run(2, 8, 100), {"a"}, "H200");
  const auto many = scaled_run(4, 8, 110);
  const auto more_hosts = compare_runs(few, on_hosts(many, {"a", "b"}, "H200"));
  ASSERT_TRUE(more_hosts.scaling);
  EXPECT_NEAR(more_hosts.scaling->speedup, 2 * 100.0 / 110.0, 1e-9);
  EXPECT_FALSE(more_hosts.beyond_noise) << "its times are another machine's";
  EXPECT_FALSE(compare_runs(few, on_hosts(many, {"b", "c"}, "H200")).scaling);
  EXPECT_FALSE(compare_runs(few, on_hosts(many, {"a"}, "A100")).scaling);
  const auto spread = on_hosts(scaled_run(2, 8, 100), {"a", "b"}, "H200");
  EXPECT_FALSE(compare_runs(spread, on_hosts(many, {"a"}, "H200")).scaling) << "on fewer hosts";
}

TEST(Scaling, IgnoresHowLongRunsWentOnAndTheirSeed) {
  auto other = scaled_run(4, 8, 100);
  other.info.settings.steps = 7;
  other.info.settings.seed = 99;
  EXPECT_TRUE(compare_runs(scaled_run(2, 8, 100), other).scaling);
}

}  // namespace
}  // namespace shardlens::trace::analysis
