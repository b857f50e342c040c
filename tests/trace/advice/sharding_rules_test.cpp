// Where each rule about units must speak, and where it must not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/advice/advised_run.h"
#include "trace/model/events.h"

namespace shardlens::trace::advice {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kGib = 1024 * kMib;

// full_shard, whose gathers are exposed for 8 ms in backward and 6 ms in forward.
AdvisedRun sharded(job::Strategy strategy = job::Strategy::kFullShard) {
  AdvisedRun run;
  run.predicts = false;
  run.settings().sharding_strategy = strategy;
  run.figures().buckets.clear();
  for (int i = 0; i < 4; ++i) {
    analysis::UnitFigures unit;
    unit.index = i;
    unit.name = i == 0 ? "root" : "blocks." + std::to_string(i - 1);
    unit.bytes = 8 * kMib;
    run.figures().units.push_back(unit);
  }
  run.add_collective("blocks.0 backward gather", 8 * kMib, 9.0 * kMs, 8.0 * kMs);
  run.add_collective("blocks.0 forward gather", 8 * kMib, 9.0 * kMs, 6.0 * kMs);
  return run;
}

void hide(AdvisedRun& run, std::string_view ending) {
  for (auto& row : run.figures().collectives) {
    if (row.tag.ends_with(ending)) row.exposed_ns = 0;
  }
}

void prefetch(AdvisedRun& run) {
  for (auto& row : run.figures().collectives) row.tag += model::kPrefetchedEnding;
}

TEST(BackwardPrefetchRule, SpeaksWhereGathersAreExposedAndNotPrefetched) {
  AdvisedRun run = sharded();
  run.settings().backward_prefetch = job::BackwardPrefetch::kNone;
  const auto advice = of_rule(run.advise(), "backward_prefetch");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"backward_prefetch", "pre"}}));
  AdvisedRun hidden = sharded();
  hidden.settings().backward_prefetch = job::BackwardPrefetch::kNone;
  hide(hidden, "backward gather");
  EXPECT_FALSE(asked(hidden, "backward_prefetch"));
  AdvisedRun on = sharded();
  EXPECT_FALSE(asked(on, "backward_prefetch"));
}

TEST(ForwardPrefetchRule, SpeaksWhereGathersAreExposedAndNotPrefetched) {
  AdvisedRun run = sharded();
  ASSERT_TRUE(of_rule(run.advise(), "forward_prefetch"));
  AdvisedRun hidden = sharded();
  hide(hidden, "forward gather");
  EXPECT_FALSE(asked(hidden, "forward_prefetch"));
  AdvisedRun on = sharded();
  on.settings().forward_prefetch = true;
  EXPECT_FALSE(asked(on, "forward_prefetch"));
}

// Two gathers and two kernels in each step: the second of each is asked for `late` behind the
// first.
AdvisedRun on_a_gpu(std::int64_t late_ns) {
  AdvisedRun run = sharded();
  prefetch(run);
  run.figures().info.device = "cuda";
  run.events = [=](const analysis::StepFigures& step, int rank) {
    model::Batch batch;
    batch.strings = {{rank, 1, "blocks.0 backward gather, prefetched"}};
    model::EventRun kernels, launches;
    kernels.rank = launches.rank = rank;
    kernels.kind = model::EventKind::kKernel;
    launches.kind = model::EventKind::kLaunch;
    for (int i = 0; i < 2; ++i) {
      model::Event event;
      event.correlation = static_cast<std::uint64_t>(step.index * 2 + i + 1);
      event.start_ns = step.start_ns + 10 * kMs + i * (10 * kMs + late_ns);
      event.duration_ns = 10 * kMs;
      kernels.events.push_back(event);
      event.start_ns -= kMs / 100;
      event.duration_ns = kMs / 200;
      launches.events.push_back(event);
      model::Collective gather;
      gather.rank = rank;
      gather.tag_kind = model::TagKind::kUnit;
      gather.tag_name = 1;
      gather.enqueued_ns = step.start_ns + 50 * kMs + i * (10 * kMs + late_ns) - kMs / 100;
      gather.start_ns = gather.enqueued_ns + kMs / 100;
      gather.end_ns = gather.start_ns + 10 * kMs;
      batch.collectives.push_back(gather);
    }
    batch.events = {kernels, launches};
    return batch;
  };
  return run;
}

TEST(LatePrefetchRule, SpeaksWhereTheHostAsksLate) {
  AdvisedRun run = on_a_gpu(5 * kMs);
  const auto advice = of_rule(run.advise(), "late_prefetch");
  ASSERT_TRUE(advice);
  EXPECT_THAT(advice->why, HasSubstr("5.00 ms of a step for its host"));
  EXPECT_TRUE(advice->evidence.front().has_range());
  AdvisedRun ahead = on_a_gpu(0);
  EXPECT_FALSE(asked(ahead, "late_prefetch"));
  AdvisedRun on_cpu = on_a_gpu(5 * kMs);
  on_cpu.figures().info.device = "cpu";
  EXPECT_FALSE(asked(on_cpu, "late_prefetch"));
}

TEST(SmallUnitsRule, SpeaksWhereLatencyIsMostOfAGather) {
  AdvisedRun run = sharded();
  run.settings().wrap_policy = job::WrapPolicy::kSize;
  run.add_collective("root forward gather", 32 * kMib, 12.0 * kMs, 0);
  const auto advice = of_rule(run.advise(), "small_units");
  ASSERT_TRUE(advice) << "8 ms of 9 whatever the size";
  AdvisedRun prefetched = sharded();
  prefetched.settings().wrap_policy = job::WrapPolicy::kSize;
  prefetched.add_collective("root forward gather", 32 * kMib, 12.0 * kMs, 0);
  prefetch(prefetched);
  EXPECT_TRUE(asked(prefetched, "small_units"));
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"wrap_policy", "transformer_block"}}));
  AdvisedRun large = sharded();
  large.add_collective("root forward gather", 32 * kMib, 33.0 * kMs, 0);
  EXPECT_FALSE(asked(large, "small_units")) << "1 ms of 9 whatever the size";
  AdvisedRun one_size = sharded();
  EXPECT_FALSE(asked(one_size, "small_units")) << "one size tells no latency";
}

TEST(LargeUnitsRule, SpeaksWhereOneUnitIsMostOfTheModel) {
  AdvisedRun run = sharded();
  run.settings().wrap_policy = job::WrapPolicy::kWholeModel;
  run.set_memory(16 * kGib);
  run.figures().units.resize(1);
  const auto advice = of_rule(run.advise(), "large_units");
  ASSERT_TRUE(advice);
  EXPECT_GT(advice->saved_bytes, 0);
  AdvisedRun blocks = sharded();
  blocks.set_memory(16 * kGib);
  blocks.figures().units.resize(1);
  EXPECT_FALSE(asked(blocks, "large_units")) << "units are blocks";
}

TEST(KeepUnitsRule, SpeaksWhereThereIsMemoryToKeepThem) {
  AdvisedRun run = sharded();
  run.set_memory(16 * kGib);
  const auto advice = asked(run, "keep_units");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"sharding_strategy", "shard_grad_op"}}));
  EXPECT_THAT(advice->costs, HasSubstr("more per rank"));
  AdvisedRun prefetched = sharded();
  prefetched.set_memory(16 * kGib);
  prefetch(prefetched);
  EXPECT_TRUE(asked(prefetched, "keep_units"));
  AdvisedRun full = sharded();
  full.set_memory(480 * kMib);
  EXPECT_FALSE(asked(full, "keep_units")) << "400 of 380 MiB are used";
  AdvisedRun hidden = sharded();
  hidden.set_memory(16 * kGib);
  hide(hidden, "backward gather");
  EXPECT_FALSE(asked(hidden, "keep_units"));
}

// What is kept is not gathered in backward.
TEST(KeepUnitsRule, IsNotAdvisedBesideAPrefetchInBackward) {
  AdvisedRun run = sharded();
  run.set_memory(16 * kGib);
  run.settings().backward_prefetch = job::BackwardPrefetch::kNone;
  run.breakdown = [](std::int64_t, int, analysis::StepBreakdown& own) {
    own.exposed_ns = own.comm_ns = 0;  // so that no strategy is advised for sending less
  };
  const auto all = run.advise();
  EXPECT_NE(of_rule(all, "keep_units").has_value(), of_rule(all, "backward_prefetch").has_value());
}

TEST(FreeUnitsRule, SpeaksWhereMemoryIsNearlyFull) {
  AdvisedRun run = sharded(job::Strategy::kShardGradOp);
  run.set_memory(520 * kMib);
  const auto advice = of_rule(run.advise(), "free_units");
  ASSERT_TRUE(advice) << "400 of 420 MiB are used";
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"sharding_strategy", "full_shard"}}));
  AdvisedRun roomy = sharded(job::Strategy::kShardGradOp);
  roomy.set_memory(16 * kGib);
  EXPECT_FALSE(asked(roomy, "free_units"));
}

TEST(LessCommunicationRule, SpeaksWhereAStrategyThatSendsLessFits) {
  AdvisedRun run = sharded();
  run.set_memory(16 * kGib);
  const auto advice = asked(run, "less_communication");
  ASSERT_TRUE(advice);
  EXPECT_GT(advice->at_stake_ns, 0);
  AdvisedRun full = sharded();
  full.set_memory(480 * kMib);
  EXPECT_FALSE(asked(full, "less_communication")) << "nothing fits";
  AdvisedRun hooked = sharded();
  hooked.set_memory(16 * kGib);
  hooked.settings().communication_hook = job::CommunicationHook::kBf16Compress;
  const auto other = asked(hooked, "less_communication");
  ASSERT_TRUE(other);
  EXPECT_THAT(other->title, HasSubstr("no_shard fits")) << "DDP would obey the hook";
  AdvisedRun rounded;
  rounded.set_memory(16 * kGib);
  rounded.settings().reduce_dtype = job::DataType::kBf16;
  EXPECT_FALSE(asked(rounded, "less_communication")) << "DDP does not round gradients";
  AdvisedRun least;
  least.set_memory(16 * kGib);
  EXPECT_FALSE(asked(least, "less_communication")) << "DDP sends least";
}

// The last two of them on `second`.
AdvisedRun sharded_by_four(const char* second) {
  AdvisedRun run = sharded();
  run.set_memory(16 * kGib);
  run.change = [second](analysis::RunFigures& figures) {
    figures.info.world_size = 4;
    figures.ranks.resize(4, figures.ranks.front());
    for (std::size_t i = 2; i < 4; ++i) figures.ranks[i].info.host = second;
  };
  return run;
}

void expect_shards_of_two(AdvisedRun& run) {
  const auto advice = asked(run, "hybrid_sharding");
  ASSERT_TRUE(advice);
  EXPECT_EQ(advice->changes, (std::vector<KnobValue>{{"sharding_strategy", "hybrid_shard"},
                                                     {"shard_group_size", "2"}}));
  EXPECT_THAT(advice->why, HasSubstr("2 nodes"));
}

TEST(HybridShardingRule, SpeaksWhereGathersCrossHosts) {
  AdvisedRun run = sharded_by_four("there");
  expect_shards_of_two(run);
  AdvisedRun one = sharded_by_four("here");
  EXPECT_FALSE(asked(one, "hybrid_sharding"));
  EXPECT_TRUE(asked(one, "less_communication"));
  AdvisedRun hidden = sharded_by_four("there");
  hide(hidden, " gather");
  hidden.add_collective("gradient norm", 4, 9.0 * kMs, 9.0 * kMs);
  EXPECT_FALSE(asked(hidden, "hybrid_sharding")) << "no unit's traffic";
}

TEST(RunFacts, ExpectAGroupOfShardsForEachHost) {
  AdvisedRun run = sharded_by_four("there");
  const RunFacts& facts = run.facts();
  job::Settings next = facts.settings();
  next.sharding_strategy = job::Strategy::kHybridShard;
  const auto peak = [&](std::int64_t group) {
    next.shard_group_size = group;
    return facts.peak_bytes(next);
  };
  ASSERT_TRUE(peak(job::kAuto));
  EXPECT_EQ(peak(job::kAuto), peak(2));
  EXPECT_GT(peak(job::kAuto), peak(4));
}

TEST(HybridShardingRule, SpeaksWhereGathersCrossASimulatedLinkBetweenNodes) {
  const auto on_link = [](const char* link) {
    AdvisedRun run = sharded_by_four("here");
    run.settings().simulate_link = link;
    return run;
  };
  AdvisedRun run = on_link("latency_us=5,gbit_per_s=10,nodes=2");
  expect_shards_of_two(run);
  EXPECT_FALSE(asked(run, "less_communication")) << "what is sent between nodes is another matter";
  for (const char* link :
       {"off", "latency_us=5,gbit_per_s=10", "latency_us=5,gbit_per_s=10,nodes=1",
        "latency_us=5,gbit_per_s=10,nodes=4"}) {
    AdvisedRun other = on_link(link);
    EXPECT_FALSE(asked(other, "hybrid_sharding")) << link;
  }
}

}  // namespace
}  // namespace shardlens::trace::advice
