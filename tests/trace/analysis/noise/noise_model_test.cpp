#include "trace/analysis/noise/noise_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "made_up_runs.h"
#include "trace/analysis/noise/student_t.h"

namespace shardlens::trace::analysis {
namespace {

using testing::HasSubstr;

constexpr int kRuns = 10, kPairs = kRuns * (kRuns - 1) / 2;

struct Claims {
  int beyond = 0, unknown = 0;
};

Claims claims_of(const MadeUpLibrary& library) {
  Claims claims;
  const auto runs = library.runs();
  const NoiseModel model(runs[0], runs);
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      const auto judgement = model.judge(kStepTime, {&runs[a]}, {&runs[b]});
      claims.unknown += !judgement;
      claims.beyond += judgement && judgement->beyond_noise();
    }
  }
  return claims;
}

// What the model does not know: the runs as if each pair were alone and its steps independent.
int naive_claims(const std::vector<std::vector<double>>& runs) {
  const auto spread = [](const std::vector<double>& run) {
    const double mean = estimate_mean(run)->mean;
    double squares = 0;
    for (double value : run) squares += (value - mean) * (value - mean);
    const auto count = static_cast<double>(run.size());
    return squares / count / count;
  };
  int claims = 0;
  for (std::size_t a = 0; a < runs.size(); ++a) {
    for (std::size_t b = a + 1; b < runs.size(); ++b) {
      const double difference = estimate_mean(runs[a])->mean - estimate_mean(runs[b])->mean;
      claims += std::abs(difference) > 1.96 * std::sqrt(spread(runs[a]) + spread(runs[b]));
    }
  }
  return claims;
}

TEST(NoiseModel, TenEqualRunsMadeUpWithDriftAreHardlyEverCalledDifferent) {
  for (const auto& noise : {MadeUpNoise{.step = 0.05, .memory = 0.6, .between = 0.01},
                            MadeUpNoise{.step = 0.02, .memory = 0.9, .between = 0.05},
                            MadeUpNoise{.step = 0.05, .memory = 0.3, .between = 0}}) {
    int beyond = 0, naive = 0;
    constexpr int kSeeds = 40;
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
      std::mt19937_64 random(seed);
      MadeUpLibrary library;
      std::vector<std::vector<double>> runs;
      for (int i = 0; i < kRuns; ++i) {
        runs.push_back(made_up_steps(100e6, noise, 100, random));
        library.add(runs.back());
      }
      const auto claims = claims_of(library);
      EXPECT_EQ(claims.unknown, 0);
      beyond += claims.beyond;
      naive += naive_claims(runs);
    }
    EXPECT_LE(beyond, kSeeds * kPairs / 20) << noise.memory;
    EXPECT_GT(naive, kSeeds * kPairs / 10) << "there is nothing to hold back";
  }
}

TEST(NoiseModel, TenEqualRecordedRunsAreHardlyEverCalledDifferent) {
  std::ifstream file(SHARDLENS_TEST_DATA "/noise/ten_equal_runs.txt");
  MadeUpLibrary library;
  std::vector<std::vector<double>> runs;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    auto& run = runs.emplace_back();
    for (double value = 0; words >> value;) run.push_back(value * 1e3);
    library.add(run);
  }
  ASSERT_EQ(runs.size(), static_cast<std::size_t>(kRuns));
  EXPECT_LE(claims_of(library).beyond, kPairs / 20);
  EXPECT_GT(naive_claims(runs), kPairs / 3);
  // Two of them alone say that nothing is known.
  for (std::size_t i = 1; i < runs.size(); ++i) {
    MadeUpLibrary alone;
    alone.add(runs[i - 1]);
    alone.add(runs[i]);
    EXPECT_FALSE(alone.judge(0, 1));
  }
}

// What `cp -r` or `pack` leaves beside a run. Two of them have no spread at all.
TEST(NoiseModel, ACopyOfARunTellsNothingOfWhatLiesBetweenRuns) {
  std::mt19937_64 random(3);
  const MadeUpNoise noise{.step = 0.02};
  const auto own = made_up_steps(100e6, noise, 100, random);
  const auto other = made_up_steps(101e6, noise, 100, random);
  const auto library_of = [&](int copies) {
    MadeUpLibrary library;
    library.add(other).settings.bucket_cap_mb = 1;
    for (int i = 0; i <= copies; ++i) library.add(own).start_ns = 7;
    return library;
  };
  const MadeUpLibrary one = library_of(0), three = library_of(2);
  const auto runs = three.runs();
  const NoiseModel model(runs[0], runs);
  EXPECT_FALSE(model.basis().between_runs);
  EXPECT_FALSE(model.apart());
  EXPECT_EQ(model.basis().runs, 0);
  const auto expected = one.judge(0, 1);
  ASSERT_TRUE(expected);
  for (std::size_t copy : {1u, 2u, 3u}) {
    const auto judged = three.judge(0, copy);
    ASSERT_TRUE(judged);
    EXPECT_EQ(judged->p, expected->p);
    EXPECT_GT(judged->half_width(kHeadlineClaims), 0.5e6);
  }
  const auto itself = three.judge(1, 3);
  ASSERT_TRUE(itself);
  EXPECT_FALSE(itself->beyond_noise());
}

// Two of the same settings tell nothing of each other, whatever copies there are of one.
TEST(NoiseModel, ACopyIsNoThirdRun) {
  std::mt19937_64 random(4);
  const MadeUpNoise noise{.step = 0.02};
  MadeUpLibrary library;
  const auto own = made_up_steps(100e6, noise, 100, random);
  library.add(own).start_ns = 1;
  library.add(made_up_steps(103e6, noise, 100, random)).start_ns = 2;
  library.add(own).start_ns = 1;
  EXPECT_FALSE(library.judge(0, 1));
  EXPECT_FALSE(library.judge(2, 1));
}

TEST(NoiseModel, ThreePercentAreFoundInFourOfFive) {
  const MadeUpNoise noise{.step = 0.02, .memory = 0.5, .between = 0.004};
  int found = 0;
  constexpr int kSeeds = 200;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    std::mt19937_64 random(seed);
    MadeUpLibrary library;
    for (int i = 0; i < 5; ++i) library.add(made_up_steps(100e6, noise, 100, random));
    for (int i = 0; i < 5; ++i) {
      library.add(made_up_steps(103e6, noise, 100, random)).settings.bucket_cap_mb = 1;
    }
    const auto judgement = library.judge(0, 5);
    found += judgement && judgement->beyond_noise();
  }
  EXPECT_GE(found, kSeeds * 4 / 5);
}

TEST(NoiseModel, IntervalsOfDifferencesCoverAsTheySay) {
  for (const auto& noise : {MadeUpNoise{.step = 0.05, .memory = 0.6, .between = 0.02},
                            MadeUpNoise{.step = 0.05, .memory = 0.8, .between = 0.005},
                            MadeUpNoise{.step = 0.02, .memory = 0, .between = 0.01}}) {
    for (const int repeats : {3, 6}) {
      int covered = 0;
      constexpr int kTrials = 1200;
      for (unsigned seed = 0; seed < kTrials; ++seed) {
        std::mt19937_64 random(seed);
        MadeUpLibrary library;
        for (int i = 0; i < repeats; ++i) library.add(made_up_steps(100e6, noise, 80, random));
        const auto judgement = library.judge(0, 1);
        ASSERT_TRUE(judgement);
        const double difference =
            library.run(1).noise->step()->mean - library.run(0).noise->step()->mean;
        covered += std::abs(difference) <= judgement->half_width(kFalseClaims);
      }
      EXPECT_GE(covered, kTrials * 93 / 100) << noise.memory << " " << repeats;
      EXPECT_LE(covered, kTrials * 97 / 100) << noise.memory << " " << repeats;
    }
  }
}

TEST(NoiseModel, AShorterRunScattersMoreByWhatItsStepsDo) {
  int covered = 0;
  constexpr int kTrials = 600;
  for (unsigned seed = 0; seed < kTrials; ++seed) {
    std::mt19937_64 random(seed);
    const MadeUpNoise noise{.step = 0.05, .memory = 0.3, .between = 0.002};
    MadeUpLibrary library;
    for (int i = 0; i < 6; ++i) library.add(made_up_steps(100e6, noise, 400, random));
    library.add(made_up_steps(100e6, noise, 40, random)).settings.bucket_cap_mb = 1;
    const auto judgement = library.judge(0, 6);
    ASSERT_TRUE(judgement);
    covered += std::abs(library.run(6).noise->step()->mean - library.run(0).noise->step()->mean) <=
               judgement->half_width(kFalseClaims);
  }
  EXPECT_GE(covered, kTrials * 92 / 100);
  EXPECT_LE(covered, kTrials * 98 / 100);
}

TEST(NoiseModel, WhatOnlyTwoRunsShowIsUnknownWhereStepsDrift) {
  for (const double memory : {0.0, 0.8}) {
    std::mt19937_64 random(11);
    MadeUpLibrary library;
    library.add(made_up_steps(100e6, {.step = 0.02, .memory = memory}, 300, random));
    library.add(made_up_steps(150e6, {.step = 0.02, .memory = memory}, 300, random))
        .settings.bucket_cap_mb = 1;
    const NoiseModel model(library.run(0), library.runs());
    EXPECT_EQ(model.basis().drifts, memory > 0);
    EXPECT_EQ(library.judge(0, 1).has_value(), memory == 0);
    EXPECT_THAT(model.note(), HasSubstr(memory > 0 ? "Step times of these runs drift"
                                                   : "Spread within the run only"));
    EXPECT_THAT(model.note(), HasSubstr("not known whether runs differ by chance"));
  }
}

// Of pairs of further runs that scatter as much, 95 % lie within.
TEST(NoiseModel, TellsHowFarTwoRunsAreApartByChance) {
  std::mt19937_64 random(11);
  const auto steps = [&] { return made_up_steps(100e6, {.between = 0.02}, 100, random); };
  const auto mean = [&] { return estimate_mean(steps())->mean; };
  MadeUpLibrary library;
  for (int i = 0; i < 40; ++i) library.add(steps());
  const auto apart = NoiseModel(library.run(0), library.runs()).apart();
  ASSERT_TRUE(apart);
  int within = 0;
  for (int i = 0; i < 1000; ++i) within += std::abs(mean() - mean()) <= *apart * 100e6 ? 1 : 0;
  EXPECT_NEAR(within / 1000.0, 0.95, 0.03);
  MadeUpLibrary single;
  single.add(steps());
  EXPECT_FALSE(NoiseModel(single.run(0), single.runs()).apart());
}

TEST(NoiseModel, TwoRunsOfTheSameSettingsAloneAreNotTold) {
  std::mt19937_64 random(5);
  MadeUpLibrary library;
  library.add(made_up_steps(100e6, {}, 100, random));
  library.add(made_up_steps(150e6, {}, 100, random));
  EXPECT_FALSE(library.judge(0, 1));
}

TEST(NoiseModel, OnlyRunsOfTheSameMachineDeviceAndJobCount) {
  std::mt19937_64 random(5);
  MadeUpLibrary library;
  for (int i = 0; i < 2; ++i) library.add(made_up_steps(100e6, {}, 100, random));
  library.add(made_up_steps(150e6, {}, 100, random)).settings.model = "small";
  library.add(made_up_steps(150e6, {}, 100, random)).settings.model = "small";
  library.add(made_up_steps(150e6, {}, 100, random)).device = "cuda";
  auto runs = library.runs();
  runs.push_back(library.run(0));
  runs.back().job.hosts = "another";
  EXPECT_EQ(NoiseModel(library.run(0), runs).basis().runs, 2);
}

TEST(NoiseModel, WhatAutoChoseIsTheSameSetting) {
  std::mt19937_64 random(5);
  MadeUpLibrary library;
  library.add(made_up_steps(100e6, {}, 100, random));
  auto& written = library.add(made_up_steps(100e6, {}, 100, random));
  written.settings.first_bucket_mb = 1;
  written.settings.device = job::DeviceChoice::kCpu;
  written.settings.comm_stream_priority = job::StreamPriority::kNormal;
  written.settings.packing = job::AutoBool::kTrue;
  written.settings.seed = 4;
  written.settings.backward_prefetch = job::BackwardPrefetch::kPost;  // DDP has nothing to prefetch
  EXPECT_EQ(NoiseModel(library.run(0), library.runs()).basis().runs, 2);
  written.settings.first_bucket_mb = 2;
  EXPECT_EQ(NoiseModel(library.run(0), library.runs()).basis().runs, 0);
}

TEST(BeyondChance, HoldsTheHeadlineToHalfAndTheOthersToTheRest) {
  using Verdicts = std::vector<Verdict>;
  EXPECT_EQ(beyond_chance(0.03, {}), (Verdicts{{false, 0.025}}));
  EXPECT_EQ(beyond_chance(0.02, {}), (Verdicts{{true, 0.025}}));
  // 2.5 % ÷ 2 for the first of two, 5 % ÷ 2 once the headline is beyond.
  EXPECT_EQ(beyond_chance(0.5, {0.02, 0.9}),
            (Verdicts{{false, 0.025}, {false, 0.0125}, {false, 0.0125}}));
  EXPECT_EQ(beyond_chance(0.01, {0.9, 0.02}),
            (Verdicts{{true, 0.025}, {false, 0.05}, {true, 0.025}}));
  EXPECT_EQ(beyond_chance(std::nullopt, {0.01, 0.024}),
            (Verdicts{{false, 0.025}, {true, 0.0125}, {true, 0.025}}));
}

TEST(BeyondChance, AnIntervalAtTheLevelOfAVerdictIsWithoutZeroExactlyWhereItIsBeyondNoise) {
  std::mt19937_64 random(3);
  std::uniform_real_distribution<double> difference(-8, 8), freedom(1, 20);
  int beyond = 0, within = 0, plain = 0;
  for (int family = 0; family < 300; ++family) {
    std::vector<Judgement> judgements;
    std::vector<double> differences, chances;
    for (int i = 0; i < 6; ++i) {
      differences.push_back(difference(random));
      judgements.push_back({.p = 0, .standard_error = 1, .degrees_of_freedom = freedom(random)});
      judgements.back().p = student_t_p(differences.back(), judgements.back().degrees_of_freedom);
      chances.push_back(judgements.back().p);
    }
    const auto verdicts = beyond_chance(std::nullopt, chances);
    for (std::size_t i = 0; i < differences.size(); ++i) {
      const Verdict& verdict = verdicts[i + 1];
      const bool has_zero = std::abs(differences[i]) <= judgements[i].half_width(verdict.claims);
      EXPECT_NE(verdict.beyond_noise, has_zero) << differences[i] << " at " << verdict.claims;
      beyond += verdict.beyond_noise;
      within += !verdict.beyond_noise;
      plain += !verdict.beyond_noise &&
               std::abs(differences[i]) > judgements[i].half_width(kFalseClaims);
    }
  }
  EXPECT_GT(beyond, 100);
  EXPECT_GT(within, 100);
  EXPECT_GT(plain, 10) << "a plain 95 % interval never disagreed";
}

}  // namespace
}  // namespace shardlens::trace::analysis
