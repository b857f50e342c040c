#include "trace/tuning/call_costs.h"

#include <gtest/gtest.h>

#include <vector>

namespace shardlens::trace::tuning {
namespace {

using Function = model::CollectiveFunction;
using predict::CollectiveKind;
using predict::MeasuredTransfers;

constexpr CollectiveKind kAllReduce{Function::kAllReduce, 2};
constexpr CollectiveKind kReduceScatter{Function::kReduceScatter, 2};
constexpr CollectiveKind kAllGather{Function::kAllGather, 2};

job::Settings on_link(const char* link) {
  job::Settings settings;
  settings.simulate_link = link;
  return settings;
}

predict::CollectiveCosts measured(predict::MeasuredCollectives transfers) {
  return predict::CollectiveCosts(std::move(transfers));
}

// All-reduces of a megabyte in 3 ms, of eight in 10 ms, between two ranks.
CallCosts costs_of(const job::Settings& recorded) {
  return {recorded, measured({{kAllReduce, {{1e6, {3e6, 3e6}}, {8e6, {10e6}}}}})};
}

std::optional<CallCosts::Cost> reduction(const CallCosts& costs, const job::Settings& next,
                                         double bytes) {
  return costs.of(CallCosts::conditions(next), Function::kAllReduce, {2}, bytes);
}

TEST(CallCosts, AreAsMeasuredOnTheSameLink) {
  const job::Settings settings;
  const auto cost = reduction(costs_of(settings), settings, 8e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 10e6);
  EXPECT_FALSE(cost->transfer.is_extrapolated);
  EXPECT_DOUBLE_EQ(cost->working_ns, 10e6) << "the backend's own work";
}

// 8e6 bytes between two ranks at 1 Gbit/s: 64 ms, and 0.2 ms of latency.
TEST(CallCosts, OfASlowerLinkAreItsFormula) {
  const job::Settings next = on_link("latency_us=200,gbit_per_s=1");
  const auto cost = reduction(costs_of({}), next, 8e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 64.2e6);
  EXPECT_DOUBLE_EQ(cost->working_ns, 10e6) << "nobody computes for a link";
}

TEST(CallCosts, KeepWhatATransferTookBeyondItsLink) {
  const auto recorded = on_link("latency_us=200,gbit_per_s=8");  // 1.2 ms of the 3 for a megabyte
  const auto next = on_link("latency_us=200,gbit_per_s=4");      // 2.2 ms
  const auto cost = reduction(costs_of(recorded), next, 1e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 4.0e6);
  EXPECT_DOUBLE_EQ(cost->working_ns, 2.5e6) << "of Gloo, as it is assumed";
}

// At 1 Gbit/s an all-reduce of a megabyte takes 8.2 ms, 8.3 were measured: Gloo's own 0.5 + 2 ms of
// it show where the link is faster or nothing lies between.
TEST(CallCosts, HoldWhatAFasterLinkHidesNoLonger) {
  const auto recorded = on_link("latency_us=200,gbit_per_s=1");
  const predict::MeasuredCollectives transfers{{kAllReduce, {{1e6, {8.3e6}}}}};
  const CallCosts costs(recorded, measured(transfers));
  const auto ns = [&](const char* link) {
    return reduction(costs, on_link(link), 1e6)->transfer.ns;
  };
  EXPECT_DOUBLE_EQ(ns("latency_us=200,gbit_per_s=1"), 8.3e6);
  EXPECT_DOUBLE_EQ(ns("latency_us=200,gbit_per_s=2"), 0.2e6 + 4e6 + 0.1e6);
  EXPECT_DOUBLE_EQ(ns("latency_us=200,gbit_per_s=8"), 2.5e6);
  EXPECT_DOUBLE_EQ(ns(""), 2.5e6);
  EXPECT_FALSE(reduction(costs, recorded, 1e6)->transfer.is_extrapolated);
  EXPECT_TRUE(reduction(costs, {}, 1e6)->transfer.is_extrapolated) << "nobody measured it";
  const CallCosts of_nccl(recorded, measured(transfers), CallCosts::Backend::kNccl);
  EXPECT_DOUBLE_EQ(reduction(of_nccl, {}, 1e6)->transfer.ns, 0.1e6);
}

// Nothing tells how much less: what was measured is no link's time alone.
TEST(CallCosts, OfALinkThatWouldTakeLessThanWasMeasuredStayAndSaySo) {
  const auto cost_on = [](const char* recorded, const char* next) {
    return *reduction(costs_of(on_link(recorded)), on_link(next), 8e6);
  };
  const auto faster = cost_on("off", "latency_us=1,gbit_per_s=100");
  EXPECT_DOUBLE_EQ(faster.transfer.ns, 10e6);
  EXPECT_TRUE(faster.is_link_faster);
  EXPECT_FALSE(cost_on("off", "latency_us=200,gbit_per_s=1").is_link_faster);
  EXPECT_FALSE(cost_on("off", "off").is_link_faster);
  EXPECT_FALSE(cost_on("latency_us=200,gbit_per_s=8", "latency_us=1,gbit_per_s=100").is_link_faster)
      << "of which the link's part is known";
}

TEST(CallCosts, ArePrecededByOthersOfTheirKindAndSize) {
  const auto ns = [](const CallCosts& costs, double bytes) {
    return reduction(costs, {}, bytes)->transfer.ns;
  };
  const CallCosts others = costs_of({}).preceded_by(measured({{kAllReduce, {{8e6, {2e6}}}}}));
  EXPECT_DOUBLE_EQ(ns(others, 8e6), 2e6);
  EXPECT_DOUBLE_EQ(ns(others, 1e6), 2e6) << "3 ms were measured, and less never takes longer";
  EXPECT_DOUBLE_EQ(ns(costs_of({}), 8e6), 10e6);
}

TEST(CallCosts, TellForHowLongTheyHaveALinkToThemselves) {
  const auto recorded = on_link("latency_us=200,gbit_per_s=1");
  const CallCosts costs(recorded, measured({{kAllReduce, {{1e6, {8.3e6}}}}}));
  const auto link_ns = [&](const char* link) {
    return reduction(costs, on_link(link), 1e6)->link_ns;
  };
  EXPECT_DOUBLE_EQ(link_ns("latency_us=200,gbit_per_s=1"), 8e6) << "latency leaves it to others";
  EXPECT_DOUBLE_EQ(link_ns("latency_us=200,gbit_per_s=2"), 4e6);
  EXPECT_DOUBLE_EQ(link_ns(""), 0);
  EXPECT_DOUBLE_EQ(CallCosts::link_ns(CallCosts::conditions(recorded), kAllReduce, 1e6), 8e6);
  EXPECT_DOUBLE_EQ(CallCosts::link_ns({}, kAllReduce, 1e6), 0);
}

TEST(CallCosts, TellWhatALinkTakesInAnyCase) {
  const auto recorded = on_link("latency_us=200,gbit_per_s=1");
  const CallCosts costs(recorded, measured({{kAllReduce, {{1e6, {8.3e6}}}}}));
  const auto least_ns = [&](const char* link) {
    return reduction(costs, on_link(link), 1e6)->least_ns;
  };
  EXPECT_DOUBLE_EQ(least_ns("latency_us=200,gbit_per_s=1"), 8.2e6);
  EXPECT_DOUBLE_EQ(least_ns("latency_us=400,gbit_per_s=2"), 4.4e6);
  EXPECT_DOUBLE_EQ(least_ns(""), 0);
}

// Four ranks on two nodes: a byte of an all-gather between two ranks is half a byte on the link.
CallCosts::Conditions on_nodes(const char* link, std::int64_t ranks = 4) {
  job::Settings settings = on_link(link);
  settings.ranks = ranks;
  return CallCosts::conditions(settings);
}

TEST(CallCosts, WithinANodeAreAsMeasuredAndBetweenNodesTheLinks) {
  job::Settings recorded;
  recorded.ranks = 4;
  const CallCosts costs(recorded, measured({{kAllReduce, {{8e6, {10e6}}}},
                                            {kAllGather, {{8e6, {6e6}}}},
                                            {{Function::kAllReduce, 4}, {{8e6, {20e6}}}}}));
  const auto next = on_nodes("latency_us=200,gbit_per_s=1,nodes=2");
  const auto ns = [&](Function function, CallCosts::Group group) {
    const auto cost = costs.of(next, function, group, 8e6);
    return cost ? cost->transfer.ns : -1;
  };
  EXPECT_DOUBLE_EQ(ns(Function::kAllGather, {2}), 6e6) << "a shard's ranks are on one node";
  EXPECT_DOUBLE_EQ(ns(Function::kAllReduce, {2}), 10e6);
  EXPECT_DOUBLE_EQ(ns(Function::kAllReduce, {.ranks = 2, .are_replicas = true}),
                   0.2e6 + 2 * 8 * 8e6)
      << "two pairs of replicas share each node's link";
  EXPECT_DOUBLE_EQ(ns(Function::kAllReduce, {4}), 0.2e6 + 8 * 8e6 * 1.5) << "one ring";
  EXPECT_DOUBLE_EQ(
      costs.of(on_nodes("latency_us=200,gbit_per_s=1,nodes=1"), Function::kAllReduce, {4}, 8e6)
          ->transfer.ns,
      20e6)
      << "there is nothing between";
  EXPECT_DOUBLE_EQ(
      costs.of(on_nodes("latency_us=200,gbit_per_s=1,nodes=4"), Function::kAllGather, {2}, 8e6)
          ->transfer.ns,
      0.2e6 + 8 * 8e6 * 0.5)
      << "a rank on each node";
  EXPECT_DOUBLE_EQ(
      costs.of(on_nodes("latency_us=1,gbit_per_s=1000,nodes=2"), Function::kAllReduce, {4}, 8e6)
          ->transfer.ns,
      20e6)
      << "never less than what was measured without it";
}

// What was measured on a link between nodes holds within one as it is, and beyond it less the link.
TEST(CallCosts, OfARunBetweenNodesTellOfItsGroupsApart) {
  job::Settings recorded = on_link("latency_us=200,gbit_per_s=8,nodes=2");
  recorded.ranks = 4;
  // The link takes 0.2 + 2 ms of an all-reduce of a megabyte between replicas.
  const CallCosts costs(recorded,
                        measured({{kAllReduce, {{1e6, {5e6}}}}, {kAllGather, {{1e6, {3e6}}}}}));
  const auto twice = on_nodes("latency_us=200,gbit_per_s=4,nodes=2");
  EXPECT_DOUBLE_EQ(
      costs.of(twice, Function::kAllReduce, {.ranks = 2, .are_replicas = true}, 1e6)->transfer.ns,
      2.8e6 + 4.2e6);
  EXPECT_DOUBLE_EQ(costs.of(twice, Function::kAllGather, {2}, 1e6)->transfer.ns, 3e6);
  // Of what the replicas' sum took beyond its link a ring of four takes one and a half.
  EXPECT_DOUBLE_EQ(costs.of(twice, Function::kAllReduce, {4}, 1e6)->transfer.ns,
                   1.5 * 2.8e6 + 0.2e6 + 1.5 * 2e6);
  EXPECT_DOUBLE_EQ(costs.working_ns(kAllGather, 1e6, 3e6), 3e6) << "no link waits there";
  EXPECT_LT(costs.working_ns(kAllReduce, 1e6, 5e6), 5e6);
}

TEST(CallCosts, AmongMoreRanksOnTheSameCoresTakeLonger) {
  const CallCosts costs = costs_of({});
  auto conditions = CallCosts::conditions({});
  conditions.ranks = 4;
  const auto four = costs.of(conditions, Function::kAllReduce, {4}, 1e6);
  conditions.slower = 2;
  const auto slower = costs.of(conditions, Function::kAllReduce, {4}, 1e6);
  ASSERT_TRUE(four && slower);
  EXPECT_DOUBLE_EQ(slower->transfer.ns, 2 * four->transfer.ns);
  // Two groups of as many as were recorded, and of what four were measured to take nothing more.
  const double two_ns = costs.of({}, Function::kAllReduce, {2}, 1e6)->transfer.ns;
  EXPECT_DOUBLE_EQ(costs.of(conditions, Function::kAllReduce, {2}, 1e6)->transfer.ns, 2 * two_ns);
  const CollectiveKind of_four{Function::kAllReduce, 4};
  const CallCosts both({}, measured({{kAllReduce, {{1e6, {3e6}}}}, {of_four, {{1e6, {7e6}}}}}));
  EXPECT_DOUBLE_EQ(both.of(conditions, Function::kAllReduce, {4}, 1e6)->transfer.ns, 7e6);
}

TEST(CallCosts, OfCompressedGradientsHoldTheCastOnlyWhereItIsNew) {
  job::Settings settings;
  settings.communication_hook = job::CommunicationHook::kBf16Compress;
  const auto same = reduction(costs_of(settings), settings, 1e6);
  ASSERT_TRUE(same);
  EXPECT_DOUBLE_EQ(same->transfer.ns, 3e6);
  EXPECT_FALSE(same->transfer.is_extrapolated);
  const auto more = reduction(costs_of({}), settings, 1e6);
  ASSERT_TRUE(more);
  EXPECT_DOUBLE_EQ(more->transfer.ns, 3e6 + 0.2 * 2e6) << "of 2 MB of fp32";
  EXPECT_TRUE(more->transfer.is_extrapolated);
  const auto less = reduction(costs_of(settings), {}, 1e6);
  ASSERT_TRUE(less);
  EXPECT_DOUBLE_EQ(less->transfer.ns, 3e6 - 0.2 * 1e6);
}

// Of the 8.3 ms that were measured on a link the cast's 0.2 would leave less than the link's 8.2.
TEST(CallCosts, TakeNoLessThanTheirLinkWithoutACast) {
  job::Settings settings = on_link("latency_us=200,gbit_per_s=1");
  const job::Settings next = settings;
  settings.communication_hook = job::CommunicationHook::kBf16Compress;
  const CallCosts costs(settings, measured({{kAllReduce, {{1e6, {8.3e6}}}}}));
  EXPECT_DOUBLE_EQ(reduction(costs, next, 1e6)->transfer.ns, 8.2e6);
}

// NCCL's reduce-scatter moves half of what an all-reduce does.
TEST(CallCosts, OfNcclAreDerivedByWhatItMoves) {
  const CallCosts costs({}, measured({{kAllReduce, {{1e6, {3e6, 3e6}}, {8e6, {10e6}}}}}),
                        CallCosts::Backend::kNccl);
  const auto scatter = costs.of({}, Function::kReduceScatter, {2}, 1e6);
  ASSERT_TRUE(scatter);
  EXPECT_DOUBLE_EQ(scatter->transfer.ns, 1.5e6);
}

TEST(CallCosts, AreUnknownFarFromMeasuredSizes) {
  EXPECT_FALSE(reduction(costs_of({}), {}, 1e4));
  EXPECT_FALSE(reduction(costs_of({}), {}, 1e9));
  EXPECT_FALSE(reduction(CallCosts({}, {}), {}, 1e6));
}

// Of what an all-reduce moves, a gather moves half; Gloo carries a reduce-scatter out as an
// all-reduce.
TEST(CallCosts, OfAnotherFunctionAreDerivedFromAnAllReduce) {
  const CallCosts costs = costs_of({});
  const auto gather = costs.of({}, Function::kAllGather, {2}, 1e6);
  ASSERT_TRUE(gather);
  EXPECT_DOUBLE_EQ(gather->transfer.ns, 1.5e6);
  EXPECT_TRUE(gather->transfer.is_extrapolated);
  const auto scatter = costs.of({}, Function::kReduceScatter, {2}, 1e6);
  ASSERT_TRUE(scatter);
  EXPECT_DOUBLE_EQ(scatter->transfer.ns, 3e6);
}

TEST(CallCosts, AreTakenFromTheirOwnFunctionFirst) {
  const CallCosts costs({}, measured({{kAllReduce, {{1e6, {3e6}}}}, {kAllGather, {{1e6, {2e6}}}}}));
  EXPECT_DOUBLE_EQ(costs.of({}, Function::kAllGather, {2}, 1e6)->transfer.ns, 2e6);
  EXPECT_FALSE(costs.of({}, Function::kAllGather, {2}, 1e6)->transfer.is_extrapolated);
  EXPECT_DOUBLE_EQ(costs.of({}, Function::kBroadcast, {2}, 1e6)->transfer.ns, 3e6)
      << "each moves the whole once between two ranks, as an all-reduce";
}

// What each of n ranks sends of an all-reduce is 2·(n − 1)/n: 1, 1.5.
TEST(CallCosts, OfAnotherNumberOfRanksAreWhatTheyMove) {
  const auto cost = costs_of({}).of({}, Function::kAllReduce, {4}, 1e6);
  ASSERT_TRUE(cost);
  EXPECT_DOUBLE_EQ(cost->transfer.ns, 4.5e6);
  EXPECT_TRUE(cost->transfer.is_extrapolated);
  const CollectiveKind of_eight{Function::kAllReduce, 8};
  const CallCosts both({}, measured({{kAllReduce, {{1e6, {3e6}}}}, {of_eight, {{1e6, {7e6}}}}}));
  EXPECT_DOUBLE_EQ(both.of({}, Function::kAllReduce, {6}, 1e6)->transfer.ns,
                   7e6 * (2 * 5 / 6.0) / (2 * 7 / 8.0))
      << "the nearest";
}

// At 8 Gbit/s a megabyte takes 1.2 ms as an all-reduce between two, 0.7 ms as a gather, and 1.7 ms
// as an all-reduce of four. The 1.8 ms that were the backend's own are half as many for a gather.
TEST(CallCosts, OfALinkGoByTheirOwnFunctionAndRanks) {
  const auto link = on_link("latency_us=200,gbit_per_s=8");
  const CallCosts costs = costs_of(link);
  const auto conditions = CallCosts::conditions(link);
  EXPECT_DOUBLE_EQ(costs.of(conditions, Function::kAllGather, {2}, 1e6)->transfer.ns,
                   0.7e6 + 0.9e6);
  EXPECT_DOUBLE_EQ(costs.of(conditions, Function::kAllReduce, {4}, 1e6)->transfer.ns,
                   1.7e6 + 1.5 * 1.8e6);
}

TEST(CallCosts, TellWhatOfARecordedTransferWasWork) {
  EXPECT_DOUBLE_EQ(costs_of({}).working_ns(kAllReduce, 1e6, 3e6), 3e6);
  const CallCosts on_a_link = costs_of(on_link("latency_us=200,gbit_per_s=1"));
  EXPECT_DOUBLE_EQ(on_a_link.working_ns(kAllReduce, 1e6, 9e6), 0.5e6 + 2e6);
  EXPECT_DOUBLE_EQ(on_a_link.working_ns(kReduceScatter, 1e6, 9e6), 0.5e6 + 2e6)
      << "as an all-reduce";
  EXPECT_DOUBLE_EQ(on_a_link.working_ns(kAllGather, 1e6, 9e6), 0.5e6 + 1e6);
  EXPECT_DOUBLE_EQ(on_a_link.working_ns(kAllReduce, 1e6, 1e6), 1e6) << "never more than all";
}

TEST(CallCosts, OfRanksThatShareAGpuAreOfItsTurnsWhereNothingWasMeasured) {
  constexpr double kMib = 1024.0 * 1024.0;
  const auto steady = [](double ms) { return std::vector<double>(4, ms * 1e6); };
  const predict::MeasuredCollectives run{{kAllReduce,
                                          {{4, steady(2.4)},
                                           {3 * kMib, steady(4.52)},
                                           {27.038 * kMib, steady(18.05)},
                                           {147.375 * kMib, steady(85.74)}}}};
  const CallCosts costs({}, measured(run), CallCosts::Backend::kNccl, predict::GpuTurns::find(run));
  const auto ms_of = [&](double bytes) {
    return costs.of(costs.recorded(), Function::kAllReduce, {2}, bytes)->transfer.ns / 1e6;
  };
  EXPECT_NEAR(ms_of(9.009 * kMib), 9.02, 0.1) << "two rounds";
  EXPECT_NEAR(ms_of(27 * kMib), 18.05, 0.1) << "as measured, within a tenth";
  EXPECT_NEAR(ms_of(4), 2.4, 0.1) << "as measured";
}

}  // namespace
}  // namespace shardlens::trace::tuning
