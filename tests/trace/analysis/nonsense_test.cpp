// Rows with any values whatever, as a damaged file may hold them: no crash, no giant allocation.
#include <gtest/gtest.h>

#include <random>

#include "tests/trace/analysis/synthetic_run.h"
#include "trace/analysis/hang/hang_diagnosis.h"
#include "trace/analysis/run/comparison.h"
#include "trace/analysis/run/run_analysis.h"

namespace shardlens::trace::analysis {
namespace {

class RandomRows {
 public:
  explicit RandomRows(unsigned seed) : random_(seed) {}

  model::Batch batch() {
    model::Batch result;
    for (int i = 0; i < 8; ++i) {
      result.steps.push_back(step());
      result.spans.push_back({rank(), 0, number(), static_cast<base::Phase>(small() & 0xff),
                              static_cast<int>(small()), 0, number(), number()});
      auto row = all_reduce(rank(), number(), number(), number(), number(),
                            static_cast<int>(number()), number());
      row.process_group = static_cast<int>(number());
      result.collectives.push_back(row);
      result.bucket_ready.push_back({rank(), number(), static_cast<int>(number()), number()});
      result.buckets.push_back({rank(),
                                static_cast<int>(number()),
                                static_cast<int>(number()),
                                number(),
                                {1, 0xffffffff},
                                {number()}});
      model::MemorySample sample;
      sample.rank = rank();
      sample.time_ns = number();
      for (auto& bytes : sample.bytes) bytes = number();
      result.memory.push_back(sample);
      model::EventRun run{rank(), 0, static_cast<model::EventKind>(small() % 5), {}};
      for (int k = 0; k < 4; ++k) run.events.push_back({number(), number(), 7, 3, 0, number()});
      result.events.push_back(run);
      result.lost.push_back({rank(), "queue full", number()});
      result.process_groups.push_back({rank(), static_cast<int>(small()), 0, 0, {rank(), rank()}});
    }
    result.pending.emplace();
    model::PendingCollective pending;
    pending.rank = rank();
    pending.sequence = number();
    pending.bytes = number();
    result.pending->push_back(pending);
    result.heartbeat =
        model::Heartbeat{rank(), number(), number(), number(), base::Phase::kForward};
    result.cost = model::RecorderCost{rank(), number(), number(), number()};
    result.rank_info = model::RankInfo{};
    result.rank_info->rank = rank();
    result.rank_info->parameters = number();
    return result;
  }

 private:
  std::int64_t small() { return static_cast<std::int64_t>(random_() % 12); }
  int rank() {
    constexpr int kRanks[] = {0, 1, 2, -1, 5000, INT32_MAX, INT32_MIN};
    return kRanks[random_() % std::size(kRanks)];
  }
  std::int64_t number() {
    switch (random_() % 6) {
      case 0:
        return small();
      case 1:
        return -small();
      case 2:
        return static_cast<std::int64_t>(random_());  // any bits
      case 3:
        return random_() % 2 == 0 ? INT64_MAX - small() : INT64_MIN + small();
      default:
        return static_cast<std::int64_t>(random_() % 1'000'000);
    }
  }
  model::Step step() {
    model::Step result;
    result.rank = rank();
    result.index = number();
    result.start_ns = number();
    result.end_ns = number();
    result.tokens = number();
    result.samples = number();
    result.model_flops = number();
    result.full_detail = true;
    return result;
  }

  std::mt19937_64 random_;
};

TEST(Nonsense, NeverCrashesTheAnalysis) {
  for (const int world_size : {0, 1, 3, INT32_MAX, -5}) {
    RandomRows rows(static_cast<unsigned>(world_size) + 17);
    model::RunInfo info;
    info.world_size = world_size;
    RunAnalysis analysis(info);
    for (int i = 0; i < 40; ++i) analysis.add(rows.batch());
    const auto figures = analysis.figures();
    EXPECT_GT(figures.ignored_rows, 0);
    EXPECT_LE(figures.ranks.size(), 5001u);
    diagnose_hang(figures, analysis.strings());
    EXPECT_EQ(compare_runs(figures, figures).settings.size(), 0u);
  }
}

}  // namespace
}  // namespace shardlens::trace::analysis
