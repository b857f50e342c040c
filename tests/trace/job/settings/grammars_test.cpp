#include "trace/job/settings/grammars.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {
namespace {

using testing::HasSubstr;

std::vector<std::int64_t> included(std::string_view text, std::int64_t steps) {
  const auto schedule = parse_record_schedule(text);
  std::vector<std::int64_t> list;
  if (!schedule) return {-1};
  for (std::int64_t step = 0; step < steps; ++step) {
    if (schedule->includes(step)) list.push_back(step);
  }
  return list;
}

TEST(RecordSchedule, ReadsEveryForm) {
  EXPECT_THAT(included("every step", 4), testing::ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(included("every 3rd", 8), testing::ElementsAre(0, 3, 6));
  EXPECT_THAT(included("every 10", 25), testing::ElementsAre(0, 10, 20));
  EXPECT_THAT(included("steps 2..4", 8), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(included(" 5..5 ", 8), testing::ElementsAre(5));
  EXPECT_THAT(included("none", 8), testing::IsEmpty());
  EXPECT_TRUE(parse_record_schedule("none")->is_empty());
  EXPECT_FALSE(parse_record_schedule("5..5")->is_empty());
}

TEST(RecordSchedule, RefusesWhatItDoesNotUnderstand) {
  for (const char* text :
       {"", "never", "every 0", "every", "steps 4..2", "steps -1..2", "3", "every x"}) {
    const auto schedule = parse_record_schedule(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.error().kind, base::ErrorKind::kUsage);
    EXPECT_THAT(schedule.error().message,
                HasSubstr("every step, steps 10..20, every 10th, or none"));
  }
}

std::vector<std::int64_t> allocation_steps(std::string_view text, std::int64_t steps) {
  const auto schedule = parse_allocation_schedule(text);
  std::vector<std::int64_t> list;
  if (!schedule) return {-1};
  for (std::int64_t step = 0; *schedule && step < steps; ++step) {
    if ((*schedule)->includes(step)) list.push_back(step);
  }
  return list;
}

TEST(AllocationSchedule, ReadsOffOneStepAndEveryFormOfARecording) {
  EXPECT_THAT(allocation_steps("off", 8), testing::IsEmpty());
  EXPECT_THAT(allocation_steps("step 4", 8), testing::ElementsAre(4));
  EXPECT_THAT(allocation_steps(" step 0", 8), testing::ElementsAre(0));
  EXPECT_THAT(allocation_steps("steps 2..4", 8), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(allocation_steps("every 3rd", 8), testing::ElementsAre(0, 3, 6));
  EXPECT_THAT(allocation_steps("every step", 2), testing::ElementsAre(0, 1));
}

TEST(AllocationSchedule, RefusesWhatItDoesNotUnderstand) {
  for (const char* text : {"", "step", "step x", "step -1", "steps 4", "4", "on", "step 4 5"}) {
    const auto schedule = parse_allocation_schedule(text);
    ASSERT_FALSE(schedule) << text;
    EXPECT_EQ(schedule.error().kind, base::ErrorKind::kUsage);
    EXPECT_THAT(schedule.error().message, HasSubstr("off, step 4, steps 4..6, every 10th"));
  }
}

TEST(Injections, TheKnobNamesAllThatIsTaken) {
  for (const std::string_view part :
       {"rank=1", "step=5", "phase=backward", "every=1", "delay_ms=100", "nan", "oom", "hang",
        "exit", "skip_collective", "unequal_size"}) {
    std::string text(part);
    if (part.find('=') != part.npos && !part.starts_with("delay")) text += ",nan";
    EXPECT_TRUE(parse_injections(text)) << text;
    EXPECT_THAT(range_text(*find_knob("inject")), HasSubstr(std::string(part)));
  }
}

TEST(SimulatedLink, ReadsLatencyAndBandwidth) {
  const auto link = parse_simulated_link("latency_us=50, gbit_per_s=1.5");
  ASSERT_TRUE(link && link->has_value());
  EXPECT_DOUBLE_EQ((*link)->latency_us, 50);
  EXPECT_DOUBLE_EQ((*link)->gbit_per_s, 1.5);
  EXPECT_FALSE(parse_simulated_link("off")->has_value());
}

TEST(SimulatedLink, ReadsBandwidthByItsFormerName) {
  const auto link = parse_simulated_link("latency_us=50,gbps=1.5");
  ASSERT_TRUE(link && link->has_value());
  EXPECT_DOUBLE_EQ((*link)->gbit_per_s, 1.5);
  EXPECT_EQ(link_text("gbps=1.5"), link_text("gbit_per_s=1.5"));
  Settings before, now;
  ASSERT_TRUE(set_value(before, "simulate_link", "latency_us=50, gbps=1"));
  ASSERT_TRUE(set_value(now, "simulate_link", "latency_us=50, gbit_per_s=1"));
  EXPECT_TRUE(differing_knobs(before, now).empty());
  EXPECT_EQ(before.simulate_link, "latency_us=50, gbit_per_s=1");
}

TEST(SimulatedLink, IsOfferedOffAndFromSlowToFast) {
  double before = 0;
  for (const std::string_view choice : find_knob("simulate_link")->choices) {
    const auto link = parse_simulated_link(choice);
    ASSERT_TRUE(link) << choice;
    EXPECT_EQ(link->has_value(), choice != "off") << choice;
    if (!*link) continue;
    EXPECT_GT((*link)->gbit_per_s, before) << choice;
    before = (*link)->gbit_per_s;
  }
  EXPECT_EQ(before, 100);
}

TEST(SimulatedLink, RefusesALinkWithoutBandwidthAndUnknownKeys) {
  EXPECT_FALSE(parse_simulated_link("latency_us=50"));
  EXPECT_FALSE(parse_simulated_link("gbit_per_s=-1"));
  EXPECT_FALSE(parse_simulated_link("gbit_per_s=inf"));
  EXPECT_FALSE(parse_simulated_link("gbit_per_s=1,speed=2"));
}

TEST(SimulatedLink, RefusesATimeThatCannotBeTold) {
  EXPECT_TRUE(parse_simulated_link("latency_us=6e7,gbit_per_s=0.001"));
  EXPECT_FALSE(parse_simulated_link("latency_us=1e17,gbit_per_s=1"));
  EXPECT_FALSE(parse_simulated_link("latency_us=1,gbit_per_s=1e-12"));
}

TEST(SimulatedLink, IsWrittenForPeople) {
  EXPECT_EQ(link_text("latency_us=100,gbit_per_s=1"), "1 Gbit/s, 100 µs");
  EXPECT_EQ(link_text("latency_us=2500,gbit_per_s=0.5"), "500 Mbit/s, 2.5 ms");
  EXPECT_EQ(link_text("off"), "off");
  EXPECT_EQ(link_text("a wire"), "a wire");
}

TEST(Injection, ReadsSeveralFaults) {
  const auto faults =
      parse_injections("rank=1,step=5,phase=backward,delay_ms=12.5; step=3,every=1,nan");
  ASSERT_TRUE(faults);
  ASSERT_EQ(faults->size(), 2u);
  EXPECT_EQ((*faults)[0].rank, 1);
  EXPECT_EQ((*faults)[0].step, 5);
  EXPECT_EQ((*faults)[0].phase, base::Phase::kBackward);
  EXPECT_EQ((*faults)[0].fault, InjectedFault::kDelay);
  EXPECT_DOUBLE_EQ((*faults)[0].delay_ms, 12.5);
  EXPECT_EQ((*faults)[1].fault, InjectedFault::kNan);
  EXPECT_TRUE((*faults)[1].repeats);
  EXPECT_TRUE(parse_injections("off")->empty());
}

TEST(Injection, RefusesNoFaultTwoFaultsAndUnknownPhases) {
  for (const char* text : {"", "rank=1,step=2", "nan,oom", "phase=lunch,nan", "rank=-1,nan",
                           "delay_ms=soon", "rank=1,step=5,nan;", "explode"}) {
    EXPECT_FALSE(parse_injections(text)) << text;
  }
}

TEST(SimulatedLink, LiesBetweenNodesWhereThoseAreTold) {
  const auto link = parse_simulated_link("latency_us=5,gbit_per_s=100,nodes=2");
  ASSERT_TRUE(link && *link);
  EXPECT_EQ((*link)->nodes, 2);
  EXPECT_EQ(link_text("latency_us=5,gbit_per_s=100,nodes=2"), "100 Gbit/s, 5 µs, 2 nodes");
  EXPECT_EQ((*parse_simulated_link("gbit_per_s=1"))->nodes, 0);
  for (const char* wrong : {"gbit_per_s=1,nodes=0", "gbit_per_s=1,nodes=-2",
                            "gbit_per_s=1,nodes=1.5", "gbit_per_s=1,nodes=", "nodes=2"}) {
    EXPECT_FALSE(parse_simulated_link(wrong)) << wrong;
  }
  Settings settings;
  settings.ranks = 3;
  settings.simulate_link = "gbit_per_s=1,nodes=2";
  const auto problems = problems_of(settings);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].message.find("3 ranks cannot be divided evenly"), std::string::npos);
  // Ranks 2 and 3 of six would stand on two nodes, 0 and 1 on one.
  settings.ranks = 6;
  settings.sharding_strategy = Strategy::kHybridShard;
  settings.shard_group_size = 2;
  ASSERT_EQ(problems_of(settings).size(), 1u);
  EXPECT_EQ(problems_of(settings)[0].knob, "shard_group_size");
  settings.shard_group_size = 3;
  EXPECT_TRUE(problems_of(settings).empty());
}

// By hand: who crosses, and how many groups alike do so at once from one node.
TEST(SimulatedLink, IsSharedByTheGroupsThatPassItAtOnce) {
  const auto share = [](std::int64_t nodes, RankGroup group, std::int64_t world) {
    return link_share({.gbit_per_s = 1, .nodes = nodes}, group, world);
  };
  EXPECT_EQ(share(0, {2}, 4), 1) << "each rank has its own";
  EXPECT_EQ(share(0, {1}, 4), 0);
  EXPECT_EQ(share(2, {4}, 4), 1) << "one ring";
  EXPECT_EQ(share(2, {2}, 4), 0) << "within a node";
  EXPECT_EQ(share(2, {.ranks = 2, .apart = 2}, 4), 2) << "{0, 2} beside {1, 3}";
  EXPECT_EQ(share(2, {.ranks = 2, .apart = 4}, 8), 4);
  EXPECT_EQ(share(2, {.ranks = 4, .apart = 2}, 8), 2) << "{0, 2, 4, 6} beside {1, 3, 5, 7}";
  EXPECT_EQ(share(4, {2}, 4), 1) << "a rank on each node";
  EXPECT_EQ(share(1, {4}, 4), 0) << "nothing lies between";
}

// As NCCL places a ring: node by node. Of what each rank sends to the next, the link of a node
// carries what its last rank sends, which is all of S · traffic factor.
TEST(SimulatedLink, CarriesWhatARingSendsFromNodeToNode) {
  constexpr int kRanks = 8, kNodes = 2, kPerNode = kRanks / kNodes;
  for (const int group : {2, 4, 8}) {
    const int apart = kRanks / group;
    std::map<int, std::int64_t> sent;  // by node: rings that leave it
    for (int first = 0; first < apart; ++first) {
      for (int at = 0; at < group; ++at) {
        const int from = first + at * apart, to = first + (at + 1) % group * apart;
        if (from / kPerNode != to / kPerNode) ++sent[from / kPerNode];
      }
    }
    EXPECT_EQ(link_share({.gbit_per_s = 1, .nodes = kNodes}, {group, apart}, kRanks), sent.at(0))
        << group;
  }
}

TEST(SimulatedLink, TellsHybridShardingWhatANodeIs) {
  Settings settings;
  settings.sharding_strategy = Strategy::kHybridShard;
  settings.simulate_link = "gbit_per_s=1,nodes=2";
  EXPECT_EQ(shard_group_size(settings, 4, 4), 2);
  settings.shard_group_size = 1;
  EXPECT_EQ(shard_group_size(settings, 4, 4), 1);
  settings.shard_group_size = kAuto;
  settings.simulate_link = "gbit_per_s=1";
  EXPECT_EQ(shard_group_size(settings, 4, 4), 4);
}

}  // namespace
}  // namespace shardlens::trace::job
