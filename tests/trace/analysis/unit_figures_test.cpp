#include <gtest/gtest.h>

#include "tests/trace/analysis/synthetic_run.h"
#include "trace/analysis/collectives/plan_figures.h"
#include "trace/analysis/figures/run_summary.h"
#include "trace/analysis/run/run_analysis.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/shape_text.h"
#include "trace/predict/sizes/model_units.h"

namespace shardlens::trace::analysis {
namespace {

model::Unit unit_row(int rank, int index, model::StringId name) {
  return {rank, index, name, 4000, 1000, 2000, 4, 9};
}

TEST(UnitTable, ListsTheLowestRanksUnitsByIndexWithTheirParameters) {
  model::StringTable strings;
  for (const int rank : {0, 1}) {
    strings.add({rank, 1, "root"});
    strings.add({rank, 2, "blocks.0"});
    strings.add({rank, 3, "wte.weight"});
    strings.add({rank, 9, "bfloat16"});
  }
  UnitTable table;
  for (const int rank : {1, 0}) {
    EXPECT_EQ(table.add(unit_row(rank, 1, 2)), 0);
    EXPECT_EQ(table.add(unit_row(rank, 0, 1)), 0);
    EXPECT_EQ(table.add(model::UnitParameter{rank, 0, 3, 1234}), 0);
  }
  const auto units = table.figures(strings);
  ASSERT_EQ(units.size(), 2u);
  EXPECT_EQ(units[0].name, "root");
  EXPECT_EQ(units[0].parameters, std::vector<std::string>{"wte.weight"});
  EXPECT_EQ(units[0].parameter_bytes, std::vector<std::int64_t>{1234});
  EXPECT_EQ(units[1].name, "blocks.0");
  EXPECT_EQ(units[1].shard_bytes, 1000);
  EXPECT_EQ(units[1].data_type, "bfloat16");
  EXPECT_TRUE(units[1].parameters.empty());
}

TEST(UnitTable, LeavesImpossibleRowsOut) {
  UnitTable table;
  auto row = unit_row(0, 0, 1);
  row.bytes = -1;
  EXPECT_EQ(table.add(row), 1);
  row = unit_row(0, -1, 1);
  EXPECT_EQ(table.add(row), 1);
  row = unit_row(0, 0, 1);
  row.shard_count = 0;
  EXPECT_EQ(table.add(row), 1);
  EXPECT_EQ(table.add(model::UnitParameter{0, 7, 1, 10}), 1) << "of a unit that does not exist";
  EXPECT_TRUE(table.figures({}).empty());
}

// What one rank sends when ring algorithms pass parts on: n − 1 parts of S/n for a gather or a
// scatter, both one after the other for an all-reduce.
double ring_part(double bytes, int n) {
  double sent = 0;
  for (int hop = 1; hop < n; ++hop) sent += bytes / n;
  return sent;
}

struct Expected {
  job::Strategy strategy;
  int shards;
  std::int64_t micro_batches;
  bool sync_each_batch;
  int root_gathers, block_gathers, reductions;
};

class UnitTraffic : public testing::TestWithParam<Expected> {};

TEST_P(UnitTraffic, IsWhatRingsPassOn) {
  const Expected& e = GetParam();
  constexpr int kRanks = 4;
  constexpr double kBytes[] = {6000, 8000,
                               8000};  // root and two blocks, gathered in half precision
  model::RunInfo info;
  info.world_size = kRanks;
  info.settings.sharding_strategy = e.strategy;
  info.settings.gradient_accumulation_steps = e.micro_batches;
  info.settings.sync_each_batch = e.sync_each_batch;
  std::vector<UnitFigures> units;
  double sent = 0;
  for (int i = 0; i < 3; ++i) {
    const double whole = kBytes[i], gradients = 2 * whole;
    auto& unit = units.emplace_back();
    unit.index = i;
    unit.bytes = static_cast<std::int64_t>(whole);
    unit.reduced_bytes = static_cast<std::int64_t>(gradients);
    unit.shard_count = e.shards;
    for (int k = 0; k < (i == 0 ? e.root_gathers : e.block_gathers); ++k) {
      sent += ring_part(whole, e.shards);
    }
    for (int k = 0; k < e.reductions; ++k) {
      sent += ring_part(gradients, e.shards);
      sent += 2 * ring_part(gradients / e.shards, kRanks / e.shards);
    }
  }
  const auto theory = theoretical_bytes_sent(info, {}, units, 4, {});
  ASSERT_TRUE(theory);
  EXPECT_NEAR(*theory, sent, 1e-6);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, UnitTraffic,
    testing::Values(Expected{job::Strategy::kFullShard, 4, 1, false, 1, 2, 1},
                    Expected{job::Strategy::kFullShard, 4, 3, false, 3, 6, 1},
                    Expected{job::Strategy::kFullShard, 4, 3, true, 3, 6, 3},
                    Expected{job::Strategy::kShardGradOp, 4, 1, false, 1, 1, 1},
                    Expected{job::Strategy::kShardGradOp, 4, 3, false, 1, 1, 1},
                    Expected{job::Strategy::kShardGradOp, 4, 3, true, 3, 3, 3},
                    Expected{job::Strategy::kHybridShard, 2, 1, false, 1, 2, 1},
                    Expected{job::Strategy::kHybridShardZero2, 2, 1, false, 1, 1, 1},
                    Expected{job::Strategy::kNoShard, 1, 1, false, 0, 0, 1}));

TEST(UnitGathers, OfPartsOfABlockAreMadeOnceMoreWhereItIsRecomputed) {
  const auto sent = [](const char* unit, std::int64_t recompute, job::Strategy strategy) {
    model::RunInfo info;
    info.world_size = 2;
    info.settings.sharding_strategy = strategy;
    info.settings.activation_checkpointing = recompute;
    std::vector<UnitFigures> units(1);
    units[0].index = 1;
    units[0].name = unit;
    units[0].bytes = 1000;
    units[0].shard_count = 2;
    return theoretical_bytes_sent(info, {}, units, 4, {}).value();
  };
  EXPECT_EQ(sent("blocks.4.mlp.c_fc", 0, job::Strategy::kFullShard), 2 * 500);
  EXPECT_EQ(sent("blocks.4.mlp.c_fc", 1, job::Strategy::kFullShard), 3 * 500);
  EXPECT_EQ(sent("blocks.4.mlp.c_fc", 2, job::Strategy::kFullShard), 3 * 500);
  EXPECT_EQ(sent("blocks.4.mlp.c_fc", 3, job::Strategy::kFullShard), 2 * 500);
  EXPECT_EQ(sent("blocks.14.attn", 7, job::Strategy::kFullShard), 3 * 500);
  EXPECT_EQ(sent("blocks.4", 1, job::Strategy::kFullShard), 2 * 500)
      << "gathered before it is recomputed";
  EXPECT_EQ(sent("transformer", 1, job::Strategy::kFullShard), 2 * 500);
  EXPECT_EQ(sent("blocks.4.mlp.c_fc", 1, job::Strategy::kShardGradOp), 500) << "kept after forward";
}

// Units of 100 million values and more: the table of tokens is one, in front of all adapters.
TEST(UnitGathers, AreMadeOnceInFrontOfTheFirstAdapter) {
  const job::ModelShape shape = *job::find_planning_model("llama-7b");
  model::RunInfo info;
  info.world_size = 2;
  info.settings.sharding_strategy = job::Strategy::kFullShard;
  info.settings.wrap_policy = job::WrapPolicy::kSize;
  info.settings.min_num_params = 100'000'000;
  const std::size_t count =
      predict::model_units(shape, info.settings, predict::model_sizes(shape, info.settings)).size();
  const auto gathered_once = [&](bool tells_shape) -> std::optional<double> {
    std::vector<UnitFigures> units(count);
    for (std::size_t i = 0; i < units.size(); ++i) {
      units[i].index = static_cast<int>(i);
      units[i].bytes = 1000;
      units[i].shard_count = 2;
    }
    RankFigures rank;
    rank.info.parameters = job::trained_share(shape, info.settings).all;
    if (tells_shape) rank.info.model = job::shape_text(shape);
    const auto sent = theoretical_bytes_sent(info, {}, units, 4, {rank});
    if (!sent) return std::nullopt;
    return 2 * static_cast<double>(count) - *sent / 500;
  };
  EXPECT_EQ(gathered_once(true), 1.0) << "the root";
  EXPECT_EQ(gathered_once(false), 1.0);
  info.settings.lora_rank = 8;
  EXPECT_EQ(gathered_once(true), 2.0);
  EXPECT_FALSE(gathered_once(false)) << "what lies in front is not known";
  info.settings.sharding_strategy = job::Strategy::kShardGradOp;
  EXPECT_EQ(gathered_once(false), static_cast<double>(count)) << "kept after forward";
}

// Each layer of two blocks that are computed again is a unit. The first adapters stand beside the
// queries' matrices: what reads the same input there is gathered for both forwards alone.
TEST(UnitGathers, BesideTheFirstAdapterAreMadeForForwardsAlone) {
  job::ModelShape shape = *job::find_planning_model("llama-7b");
  shape.layers = 2;
  model::RunInfo info;
  info.world_size = 2;
  info.settings.sharding_strategy = job::Strategy::kFullShard;
  info.settings.wrap_policy = job::WrapPolicy::kSize;
  info.settings.min_num_params = 1;
  info.settings.activation_checkpointing = 1;
  info.settings.lora_rank = 8;
  const auto gathers = [&](const char* targets) -> std::optional<double> {
    info.settings.lora_target_modules = targets;
    std::vector<UnitFigures> units(22);  // with the root
    for (std::size_t i = 0; i < units.size(); ++i) {
      units[i].index = static_cast<int>(i);
      units[i].bytes = 1000;
      units[i].shard_count = 2;
    }
    RankFigures rank;
    rank.info.parameters = job::trained_share(shape, info.settings).all;
    rank.info.model = job::shape_text(shape);
    const auto sent = theoretical_bytes_sent(info, {}, units, 4, {rank});
    if (!sent) return std::nullopt;
    return *sent / 500;
  };
  // The root and the table once, norm and head twice, 18 layers three times but for the first
  // block's keys, values and norm.
  EXPECT_EQ(gathers("q_proj"), 2 + 2 * 2 + 15 * 3 + 3 * 2);
  EXPECT_FALSE(gathers("layers.1.self_attn.q_proj")) << "one block does not stand for all";
}

TEST(BytesInTheory, AreNoneWhereRanksTrainApart) {
  model::RunInfo info;
  info.world_size = 2;
  std::vector<BucketFigures> buckets(1);
  buckets[0].bytes = 1000;
  EXPECT_EQ(theoretical_bytes_sent(info, buckets, {}, 4, {}), 1000.0);
  info.communication_off = true;
  EXPECT_EQ(theoretical_bytes_sent(info, buckets, {}, 4, {}), 0.0);
}

TEST(UnitGathers, AreNotKnownOfARunWhoseSettingsAreNot) {
  model::RunInfo info;
  info.world_size = 2;
  std::vector<UnitFigures> units(2);
  EXPECT_TRUE(theoretical_bytes_sent(info, {}, units, 4, {}));
  info.imported_from = "PyTorch profiler";
  EXPECT_FALSE(theoretical_bytes_sent(info, {}, units, 4, {}));
}

TEST(UnitStatistics, RowsAreApartByFunctionAndPurpose) {
  model::RunInfo info;
  info.world_size = 1;
  RunAnalysis analysis(info);
  model::Batch batch;
  batch.strings = {{0, 1, "blocks.10 forward gather"},
                   {0, 2, "blocks.10 reduce"},
                   {0, 3, "blocks.2 forward gather"},
                   {0, 4, "blocks.2 forward gather, prefetched"}};
  const auto add = [&](model::StringId tag, int unit, model::CollectiveFunction asked,
                       model::CollectiveFunction ran) {
    const auto at = static_cast<std::int64_t>(100 * (batch.collectives.size() + 1));
    auto row = all_reduce(0, static_cast<std::int64_t>(batch.collectives.size()), at, at + 10, 64);
    row.tag_kind = model::TagKind::kUnit;
    row.tag_index = unit;
    row.tag_name = tag;
    row.function = asked;
    row.executed = ran;
    batch.collectives.push_back(row);
  };
  using enum model::CollectiveFunction;
  add(1, 11, kAllGather, kAllGather);
  add(2, 11, kReduceScatter, kAllReduce);  // in the shard group, as Gloo runs it
  add(2, 11, kAllReduce, kAllReduce);      // over replicas
  add(3, 3, kAllGather, kAllGather);
  add(3, 3, kAllGather, kAllGather);
  add(4, 3, kAllGather, kAllGather);
  analysis.add(batch);
  const auto rows = analysis.figures().collectives;
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_EQ(rows[0].tag, "blocks.2 forward gather") << "in the order of units, not of names";
  EXPECT_EQ(rows[0].count, 2);
  EXPECT_EQ(rows[1].tag, "blocks.2 forward gather, prefetched");
  EXPECT_EQ(rows[2].tag, "blocks.10 forward gather");
  EXPECT_EQ(rows[3].tag, "blocks.10 reduce");
  EXPECT_EQ(rows[4].tag, "blocks.10 reduce");
  EXPECT_NE(rows[3].function, rows[4].function);
}

}  // namespace
}  // namespace shardlens::trace::analysis
