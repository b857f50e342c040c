// Every figure of a run, recomputed from the raw rows in the plainest way.
#include "trace/analysis/figures/figures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "tests/trace/analysis/synthetic_run.h"
#include "trace/analysis/figures/memory_figures.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/shape_text.h"

namespace shardlens::trace::analysis {
namespace {

std::int64_t at(const std::array<std::int64_t, model::kMemoryCategoryCount>& bytes,
                model::MemoryCategory category) {
  return bytes[static_cast<std::size_t>(category)];
}

RankFigures rank_of_tiny(const char* host) {
  RankFigures rank;
  rank.info.host = host;
  rank.info.model = job::shape_text(*job::find_model_preset("tiny"));
  rank.info.parameters = 2'384'448;
  return rank;
}

class Figures : public testing::Test {
 protected:
  static SyntheticOptions options() {
    SyntheticOptions result;
    result.ranks = 3;
    result.steps = 9;
    result.gpu = true;
    return result;
  }

  void SetUp() override {
    run.info.settings.bucket_cap_mb = 25;
    RunAnalysis analysis(run.info);
    for (const auto& batch : run.ranks) analysis.add(batch);
    figures = analysis.figures();
  }

  // The mean over measured steps and ranks of anything.
  template <typename Value>
  double mean(Value value) const {
    double sum = 0, count = 0;
    for (const auto& rank : run.ranks) {
      for (const auto& step : rank.steps) {
        if (step.index < run.info.settings.skip_steps) continue;
        sum += value(rank, step);
        ++count;
      }
    }
    return sum / count;
  }
  double mean_part(std::int64_t StepBreakdown::*part) const {
    return mean([part](const model::Batch& rank, const model::Step& step) {
      return static_cast<double>(count_breakdown(rank, step).*part);
    });
  }

  SyntheticRun run = make_run(options());
  RunFigures figures;
};

TEST_F(Figures, SummaryIsTheMeanOfCountedParts) {
  const auto& s = figures.summary;
  EXPECT_EQ(s.steps_measured, 7);
  EXPECT_NEAR(s.step_ns.mean, mean_part(&StepBreakdown::step_ns), 1e-6);
  EXPECT_NEAR(s.compute_ns, mean_part(&StepBreakdown::compute_ns), 1e-6);
  EXPECT_NEAR(s.optimizer_compute_ns, mean_part(&StepBreakdown::optimizer_compute_ns), 1e-6);
  EXPECT_NEAR(s.comm_ns, mean_part(&StepBreakdown::comm_ns), 1e-6);
  EXPECT_NEAR(s.overlap_ns, mean_part(&StepBreakdown::overlap_ns), 1e-6);
  EXPECT_NEAR(s.exposed_ns, mean_part(&StepBreakdown::exposed_ns), 1e-6);
  EXPECT_NEAR(s.copy_ns, mean_part(&StepBreakdown::copy_ns), 1e-6);
  EXPECT_NEAR(s.exposed_copy_ns, mean_part(&StepBreakdown::exposed_copy_ns), 1e-6);
  EXPECT_NEAR(s.idle_ns, mean_part(&StepBreakdown::idle_ns), 1e-6);
  EXPECT_NEAR(*s.overlap_fraction, s.overlap_ns / s.comm_ns, 1e-12);
  for (std::size_t i = 0; i < s.phase_ns.size(); ++i) {
    EXPECT_NEAR(s.phase_ns[i].value(), mean([i](const model::Batch& rank, const model::Step& step) {
                  return static_cast<double>(count_breakdown(rank, step).phase_ns[i]);
                }),
                1e-6);
  }
}

TEST_F(Figures, ThroughputAndUtilizationFollowFromTokensAndTime) {
  const double step_s = mean_part(&StepBreakdown::step_ns) / 1e9;
  const auto mean_count = [&](std::int64_t model::Step::*count) {
    return mean([count](const model::Batch&, const model::Step& step) {
      return static_cast<double>(step.*count);
    });
  };
  const auto& summary = figures.summary;
  EXPECT_NEAR(*summary.tokens_per_s / (3 * mean_count(&model::Step::tokens) / step_s), 1, 1e-12);
  EXPECT_NEAR(*summary.samples_per_s / (3 * mean_count(&model::Step::samples) / step_s), 1, 1e-12);
  ASSERT_TRUE(summary.mfu);
  EXPECT_NEAR(*summary.mfu / (mean_count(&model::Step::model_flops) / step_s / 1e12), 1, 1e-12);
  EXPECT_EQ(figures.summary.effective_batch, 8 * 1 * 3);
}

TEST_F(Figures, BytesSentAreTheCollectivesAndTheTheory) {
  const double measured = mean([](const model::Batch& rank, const model::Step& step) {
    double bytes = 0;
    for (const auto& row : rank.collectives) {
      if (row.step == step.index) bytes += 2.0 * 2 / 3 * static_cast<double>(row.bytes);
    }
    return bytes;
  });
  EXPECT_NEAR(*figures.summary.bytes_sent_per_step, measured, 1e-9);
  EXPECT_NEAR(*figures.summary.bytes_sent_per_step_theory, 2.0 * 2 / 3 * 4000, 1e-9);
}

TEST_F(Figures, CollectiveRowsMatchAPlainSearch) {
  ASSERT_EQ(figures.collectives.size(), 3u);
  const auto& row = figures.collectives[1];
  EXPECT_EQ(row.tag, "bucket 1");
  EXPECT_EQ(row.bytes, 2500);
  EXPECT_EQ(row.count, 3 * 9);
  std::vector<double> durations, transfers;
  double wait = 0, exposed = 0;
  for (const auto& rank : run.ranks) {
    for (const auto& c : rank.collectives) {
      if (c.tag_index != 1) continue;
      durations.push_back(static_cast<double>(c.end_ns - c.start_ns));
      std::int64_t latest = 0;
      for (const auto& other : run.ranks) {
        for (const auto& d : other.collectives) {
          if (d.sequence == c.sequence) latest = std::max(latest, d.start_ns);
        }
      }
      if (c.end_ns <= latest) continue;
      transfers.push_back(static_cast<double>(c.end_ns - latest));
      wait += static_cast<double>(latest - c.start_ns);
    }
  }
  ASSERT_FALSE(transfers.empty());
  const auto median = [](std::vector<double> sample) {
    std::sort(sample.begin(), sample.end());
    return (sample[(sample.size() - 1) / 2] + sample[sample.size() / 2]) / 2;
  };
  double transfer = 0;
  for (double value : transfers) transfer += value;
  const auto count = static_cast<double>(transfers.size());
  EXPECT_DOUBLE_EQ(row.median_ns, median(durations));
  EXPECT_NEAR(row.wait_ns, wait / count, 1e-9);
  EXPECT_NEAR(row.transfer_ns, transfer / count, 1e-9);
  EXPECT_NEAR(row.algbw_bytes_per_s, 2500 / (median(transfers) / 1e9), 1);
  EXPECT_NEAR(row.busbw_bytes_per_s / row.algbw_bytes_per_s, 4.0 / 3, 1e-12);
  exposed = mean([](const model::Batch& rank, const model::Step& step) {
    model::Batch one = rank;
    double sum = 0;
    for (const auto& c : rank.collectives) {
      if (c.tag_index != 1) continue;
      one.collectives = {c};
      sum += static_cast<double>(count_breakdown(one, step).exposed_ns);
    }
    return sum;
  });
  EXPECT_NEAR(row.exposed_ns, exposed, 1e-9);
}

TEST_F(Figures, TotalsCoverTheWholeRecording) {
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const auto& batch = run.ranks[i];
    std::int64_t first = INT64_MAX, last = 0, compute = 0, copies = 0;
    for (const auto& events : batch.events) {
      for (const auto& event : events.events) {
        (events.kind == model::EventKind::kCopy ? copies : compute) += 1;
        first = std::min(first, event.start_ns);
        last = std::max(last, event.end_ns());
      }
    }
    for (const auto& row : batch.collectives) {
      first = std::min(first, row.start_ns);
      last = std::max(last, row.end_ns);
    }
    model::Step all;
    all.start_ns = first;
    all.end_ns = last;
    all.full_detail = true;
    const auto counted = count_breakdown(batch, all);
    const auto& totals = figures.ranks[i].totals;
    EXPECT_EQ(totals.compute_events, compute);
    EXPECT_EQ(totals.memory_events, copies);
    EXPECT_EQ(totals.comm_events, static_cast<std::int64_t>(batch.collectives.size()));
    EXPECT_EQ(totals.span_ns, counted.step_ns);
    EXPECT_EQ(totals.compute_ns, counted.compute_ns);
    EXPECT_EQ(totals.comm_ns, counted.comm_ns);
    EXPECT_EQ(totals.overlap_ns, counted.overlap_ns);
    EXPECT_EQ(totals.exposed_ns, counted.exposed_ns);
    EXPECT_EQ(totals.idle_ns, counted.idle_ns);
    EXPECT_EQ(totals.busy_ns, counted.step_ns - counted.idle_ns);
  }
}

TEST_F(Figures, RankMeansAndRecorderCost) {
  double overhead = 0;
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    double time = 0, measured_time = 0, exposed = 0;
    for (const auto& step : run.ranks[i].steps) {
      time += static_cast<double>(step.end_ns - step.start_ns);
      if (step.index < 2) continue;
      measured_time += static_cast<double>(step.end_ns - step.start_ns);
      exposed += static_cast<double>(count_breakdown(run.ranks[i], step).exposed_ns);
    }
    EXPECT_NEAR(figures.ranks[i].step_ns, measured_time / 7, 1e-9);
    EXPECT_NEAR(figures.ranks[i].exposed_ns, exposed / 7, 1e-9);
    overhead += 40.0 * 9 / (time - 40.0 * 9) / 3;
  }
  EXPECT_NEAR(*figures.recorder.overhead_fraction, overhead, 1e-12);
  EXPECT_EQ(figures.recorder.events, 3 * 123);
}

TEST_F(Figures, MemoryPeaksAreTheLargestSamples) {
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const auto& samples = run.ranks[i].memory;
    const auto& rank = figures.ranks[i];
    // The sum of all categories but the last, outside.
    const auto allocated = [](const model::MemorySample& sample) {
      return std::accumulate(sample.bytes.begin(), sample.bytes.end() - 1, std::int64_t{0});
    };
    const auto peak =
        std::max_element(samples.begin(), samples.end(),
                         [&](const auto& a, const auto& b) { return allocated(a) < allocated(b); });
    EXPECT_EQ(rank.peak.bytes, peak->bytes);
    EXPECT_EQ(rank.peak.step, peak->step);
    EXPECT_EQ(rank.now.bytes, samples.back().bytes);
    for (std::size_t c = 0; c < rank.category_peaks.size(); ++c) {
      std::int64_t most = 0;
      for (const auto& sample : samples) most = std::max(most, sample.bytes[c]);
      EXPECT_EQ(rank.category_peaks[c], most);
    }
    // Nobody told of which shape the model is.
    EXPECT_EQ(rank.estimate, (std::array<std::int64_t, model::kMemoryCategoryCount>{}));
  }
}

TEST_F(Figures, OfAGpuThatRanksShareNobodyKnowsWhatElseIsWhose) {
  constexpr auto kOutside = static_cast<std::size_t>(model::MemoryCategory::kOutside);
  ASSERT_GT(figures.ranks[0].peak.bytes[kOutside], 0);
  run.info.shared_gpu = true;
  RunAnalysis analysis(run.info);
  for (const auto& batch : run.ranks) analysis.add(batch);
  const RunFigures shared = analysis.figures();
  for (std::size_t i = 0; i < run.ranks.size(); ++i) {
    const auto& rank = shared.ranks[i];
    EXPECT_FALSE(rank.peak.knows(model::MemoryCategory::kOutside));
    EXPECT_EQ(rank.peak.total_bytes(), figures.ranks[i].peak.allocated_bytes());
    EXPECT_EQ(rank.now.bytes[kOutside], 0);
    EXPECT_EQ(rank.category_peaks[kOutside], 0);
  }
}

TEST(FiguresOfMemory, AreEstimatedFromTheShapeWhereItIsKnown) {
  model::RunInfo info;
  info.world_size = 2;
  info.settings.model = "tiny";
  std::vector<RankFigures> ranks{rank_of_tiny("here")};
  ranks.front().peak.bytes.back() = 77;
  estimate_memory(ranks, info);
  EXPECT_EQ(at(ranks.front().estimate_peaks, model::MemoryCategory::kOptimizer),
            8 * 2'384'448 + 64 * 4);
  EXPECT_EQ(at(ranks.front().estimate, model::MemoryCategory::kOutside), 77);
  info.settings.sharding_strategy = job::Strategy::kFullShard;
  estimate_memory(ranks, info);
  EXPECT_EQ(at(ranks.front().estimate_peaks, model::MemoryCategory::kParameters), 2 * 2'384'448);
  EXPECT_GT(at(ranks.front().estimate_peaks, model::MemoryCategory::kGatheredParameters), 0);
}

TEST(FiguresOfMemory, AreEstimatedWithAGroupOfShardsForEachHost) {
  model::RunInfo info;
  info.world_size = 4;
  info.settings.model = "tiny";
  info.settings.sharding_strategy = job::Strategy::kHybridShard;
  const auto parameters = [&](const std::vector<const char*>& hosts) {
    std::vector<RankFigures> ranks;
    for (const char* host : hosts) ranks.push_back(rank_of_tiny(host));
    estimate_memory(ranks, info);
    return at(ranks.back().estimate_peaks, model::MemoryCategory::kParameters);
  };
  const std::int64_t of_quarters = parameters({"a", "a", "a", "a"});
  EXPECT_EQ(of_quarters, 2'384'448);
  EXPECT_EQ(parameters({"a", "a", "b", "b"}), 2 * of_quarters);
  EXPECT_EQ(parameters({"", "", "", ""}), of_quarters) << "nothing tells of another host";
  info.settings.shard_group_size = 4;
  EXPECT_EQ(parameters({"a", "a", "b", "b"}), of_quarters);
}

TEST(FiguresOfMemory, LeaveTheStartOutOnceThereAreSteps) {
  const auto sample = [](std::int64_t step, std::int64_t time_ns, std::int64_t parameters,
                         std::int64_t outside) {
    model::MemorySample result;
    result.step = step;
    result.time_ns = time_ns;
    result.bytes.front() = parameters;
    result.bytes.back() = outside;
    return result;
  };
  // Building the model takes most; later memory outside is largest where little is allocated.
  const std::vector<model::MemorySample> samples{sample(-1, 1, 900, 0), sample(0, 2, 300, 5),
                                                 sample(1, 3, 200, 999)};
  for (const bool reversed : {false, true}) {
    model::RunInfo info;
    info.world_size = 1;
    RunAnalysis analysis(info);
    model::Batch batch;
    batch.memory = samples;
    if (reversed) std::reverse(batch.memory.begin(), batch.memory.end());
    analysis.add(batch);
    const auto rank = analysis.figures().ranks.at(0);
    EXPECT_EQ(rank.peak.step, 0) << reversed;
    EXPECT_EQ(rank.category_peaks.front(), 300) << reversed;
    EXPECT_EQ(rank.category_peaks.back(), 999) << reversed;
  }
}

TEST(FiguresOfMemory, KnowWhatEachCategoryReachedBetweenSamples) {
  RankFigures rank;
  model::MemorySample peak;
  peak.step = 0;
  peak.time_ns = 1;
  peak.is_peak = true;
  peak.bytes.front() = 300;
  peak.highest.front() = 300;
  peak.highest[2] = 450;
  EXPECT_TRUE(take_in(rank, peak));
  EXPECT_EQ(rank.category_peaks.front(), 300);
  EXPECT_EQ(rank.category_peaks[2], 450);
  EXPECT_EQ(rank.peak.bytes[2], 0) << "not at the moment of the peak";
  peak.highest[2] = -1;
  EXPECT_FALSE(take_in(rank, peak));
}

TEST(FiguresOfOneRank, HaveNoTrafficAndNoWait) {
  SyntheticOptions options;
  options.ranks = 1;
  const auto run = make_run(options);
  RunAnalysis analysis(run.info);
  analysis.add(run.ranks[0]);
  const auto figures = analysis.figures();
  EXPECT_EQ(figures.summary.bytes_sent_per_step, 0.0);
  EXPECT_EQ(figures.summary.bytes_sent_per_step_theory, 0.0);
  for (const auto& row : figures.collectives) {
    EXPECT_EQ(row.wait_ns, 0);
    EXPECT_GT(row.transfer_ns, 0);
    EXPECT_EQ(row.busbw_bytes_per_s, 0);
    EXPECT_TRUE(std::isfinite(row.algbw_bytes_per_s));
  }
}

TEST(FiguresWithoutCommunication, HaveNoOverlapFraction) {
  auto run = make_run({});
  for (auto& rank : run.ranks) rank.collectives.clear();
  RunAnalysis analysis(run.info);
  for (const auto& rank : run.ranks) analysis.add(rank);
  const auto summary = analysis.figures().summary;
  EXPECT_TRUE(summary.has_detail);
  EXPECT_EQ(summary.comm_ns, 0);
  EXPECT_FALSE(summary.overlap_fraction);
}

TEST(Utilization, IsUnknownWhenAnyPeakIs) {
  auto run = make_run({});
  run.ranks[1].rank_info->peak_flops = 0;
  RunAnalysis analysis(run.info);
  for (const auto& rank : run.ranks) analysis.add(rank);
  EXPECT_FALSE(analysis.figures().summary.mfu);
}

double utilization_on(const std::vector<std::string>& devices) {
  auto run = make_run({.ranks = static_cast<int>(devices.size()), .gpu = true});
  run.info.shared_gpu = true;
  RunAnalysis analysis(run.info);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    run.ranks[i].rank_info->device = devices[i];
    analysis.add(run.ranks[i]);
  }
  return analysis.figures().summary.mfu.value();
}

TEST(Utilization, OfRanksThatShareAGpuIsThatOfTheGpu) {
  // As much is done in the same time by fewer GPUs.
  const double on_four = utilization_on({"cuda:0", "cuda:1", "cuda:2", "cuda:3"});
  EXPECT_NEAR(utilization_on({"cuda:0", "cuda:0", "cuda:0", "cuda:0"}), 4 * on_four, 1e-12);
  EXPECT_NEAR(utilization_on({"cuda:0", "cuda:1", "cuda:0", "cuda:1"}), 2 * on_four, 1e-12);
}

TEST(TheoreticalTraffic, HalvesWithACompressingHookAndCountsSynchronisedMicroBatches) {
  auto run = make_run({});
  run.info.settings.communication_hook = job::CommunicationHook::kBf16Compress;
  run.info.settings.gradient_accumulation_steps = 4;
  RunAnalysis lazy(run.info);
  run.info.settings.sync_each_batch = true;
  RunAnalysis eager(run.info);
  for (const auto& rank : run.ranks) lazy.add(rank), eager.add(rank);
  EXPECT_EQ(lazy.figures().summary.bytes_sent_per_step_theory, 2000.0);
  EXPECT_EQ(eager.figures().summary.bytes_sent_per_step_theory, 8000.0);
}

}  // namespace
}  // namespace shardlens::trace::analysis
