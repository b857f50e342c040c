#include "trace/analysis/compare/named_times.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "trace/analysis/compare/run_difference.h"
#include "trace/analysis/figures/run_summary.h"

namespace shardlens::trace::analysis {
namespace {

constexpr std::int64_t kStepLength = 100'000'000;
constexpr model::StringId kMmId = 1, kAddId = 2, kWaitId = 3;

RunFigures named_run(int steps, int ranks) {
  RunFigures run;
  run.info.world_size = ranks;
  for (int i = 0; i < steps; ++i) {
    auto& step = run.steps.emplace_back();
    step.index = i;
    step.warmup = i < 2;
    step.complete = true;
    step.start_ns = i * kStepLength;
    step.end_ns = step.start_ns + kStepLength;
    step.tokens = 100;
    for (int rank = 0; rank < ranks; ++rank) {
      auto& own = step.ranks.emplace_back();
      own.start_ns = step.start_ns;
      own.step_ns = kStepLength;
      own.compute_ns = kStepLength / 2;
      own.idle_ns = kStepLength - own.compute_ns;
      own.has_detail = true;
    }
  }
  run.summary = summarize(run.info, run.steps, run.ranks);
  return run;
}

model::Batch named_strings(int rank) {
  model::Batch batch;
  batch.strings = {{rank, kMmId, "aten::mm"}, {rank, kAddId, "aten::add"}, {rank, kWaitId, "wait"}};
  return batch;
}

TEST(NamedTimes, SumsWhatBeginsInEachMeasuredStepAndTakesTheMeanOverRanks) {
  const auto run = named_run(6, 2);
  NamedTimesReader reader(run);
  EXPECT_EQ(reader.window(), (base::Interval{2 * kStepLength, 6 * kStepLength}));
  std::mt19937_64 random(7);
  std::uniform_int_distribution<std::int64_t> at(0, 6 * kStepLength - 1), length(1, 1'000'000);
  std::vector<double> mm(4), reduced(4);
  for (int rank = 0; rank < 2; ++rank) {
    reader.learn(named_strings(rank));
    model::Batch batch;
    model::EventRun events{
        .rank = rank, .lane = 0, .kind = model::EventKind::kOperator, .events = {}};
    for (int i = 0; i < 500; ++i) {
      model::Event event{.start_ns = at(random), .duration_ns = length(random), .name = kMmId};
      event.flags = model::kEventCompute;
      events.events.push_back(event);
      const auto step = event.start_ns / kStepLength;
      if (step >= 2)
        mm[static_cast<std::size_t>(step - 2)] += static_cast<double>(event.duration_ns) / 2;
      event.name = kWaitId;  // no computation
      event.flags = 0;
      events.events.push_back(event);
      model::Collective call;
      call.rank = rank;
      call.function = model::CollectiveFunction::kAllReduce;
      call.bytes = 4 << 20;
      call.tag_kind = model::TagKind::kBucket;
      call.tag_index = 3;
      call.start_ns = at(random);
      call.end_ns = call.start_ns + length(random);
      batch.collectives.push_back(call);
      const auto in = call.start_ns / kStepLength;
      if (in >= 2) {
        reduced[static_cast<std::size_t>(in - 2)] +=
            static_cast<double>(call.end_ns - call.start_ns) / 2;
      }
    }
    batch.events.push_back(std::move(events));
    reader.add(batch);
  }
  const auto times = reader.times();
  EXPECT_EQ(times.steps, 4u);
  ASSERT_EQ(times.ns.size(), 3u);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(times.ns.at({DetailKind::kWork, "aten::mm"})[i], mm[i], 1e-6);
    EXPECT_NEAR(times.ns.at({DetailKind::kCollective, "all_reduce 4.00 MiB"})[i], reduced[i], 1e-6);
    EXPECT_NEAR(times.ns.at({DetailKind::kTag, "bucket 3"})[i], reduced[i], 1e-6);
  }
}

// What was asked for earlier is gathered for the same unit.
TEST(NamedTimes, APrefetchedGatherIsComparedWithTheSameOneThatIsNot) {
  const auto run = named_run(20, 1);
  const auto times_with = [&](const char* tag) {
    NamedTimesReader reader(run);
    model::Batch batch;
    batch.strings = {{0, kWaitId, tag}};
    reader.learn(batch);
    for (int i = 0; i < 20; ++i) {
      model::Collective call;
      call.tag_kind = model::TagKind::kUnit;
      call.tag_index = 4;
      call.tag_name = kWaitId;
      call.start_ns = i * kStepLength;
      call.end_ns = call.start_ns + 1000;
      batch.collectives.push_back(call);
    }
    reader.add(batch);
    return reader.times();
  };
  const auto ahead = times_with("h.3 backward gather, prefetched");
  const auto late = times_with("h.3 backward gather"), other = times_with("h.3 forward gather");
  const auto units_of = [&](const NamedTimes& first, const NamedTimes& second) {
    auto details = difference_between({run, &first}, {run, &second}).details;
    std::erase_if(details, [](const auto& detail) { return detail.kind != DetailKind::kTag; });
    return details;
  };
  const auto same = units_of(ahead, late);
  ASSERT_EQ(same.size(), 1u);
  EXPECT_EQ(same[0].first, same[0].second);
  EXPECT_EQ(units_of(ahead, other).size(), 2u);
}

TEST(NamedTimes, DoNotTellCollectivesApartWhoseSizeIsNotKnown) {
  const auto run = named_run(20, 1);
  const auto times_with = [&](std::int64_t bytes) {
    NamedTimesReader reader(run);
    model::Batch batch;
    for (int i = 0; i < 20; ++i) {
      model::Collective call;
      call.bytes = i == 7 ? bytes : 1024;
      call.start_ns = i * kStepLength;
      call.end_ns = call.start_ns + 1000;
      batch.collectives.push_back(call);
    }
    reader.add(batch);
    return reader.times();
  };
  const auto known = times_with(1024), unknown = times_with(model::kNotKnown);
  EXPECT_EQ(difference_between({run, &known}, {run, &known}).details.size(), 1u);
  EXPECT_TRUE(difference_between({run, &known}, {run, &unknown}).details.empty());
}

// One of bucket 0's calls by rank 0 takes `took_ns`, all others 1000.
NamedTimes times_of_buckets(const RunFigures& run, std::int64_t took_ns,
                            const model::ProcessGroup& group = {.ranks = {0, 1}}) {
  NamedTimesReader reader(run);
  model::Batch batch;
  batch.process_groups = {group};
  reader.learn(batch);
  for (int i = 0; i < 20; ++i) {
    for (const int bucket : {0, 1}) {
      model::Collective call;
      call.tag_kind = model::TagKind::kBucket;
      call.tag_index = bucket;
      call.bytes = 1024 * (bucket + 1);
      call.start_ns = i * kStepLength;
      call.end_ns = call.start_ns + (bucket == 0 && i == 7 ? took_ns : 1000);
      batch.collectives.push_back(call);
    }
  }
  reader.add(batch);
  return reader.times();
}

// As of a run that was recorded without its GPU.
TEST(NamedTimes, AreNotComparedOfCollectivesWithoutTimes) {
  const auto run = named_run(20, 2);
  const auto timed = times_of_buckets(run, 1000), not_timed = times_of_buckets(run, 0);
  EXPECT_FALSE(not_timed.ns.contains({DetailKind::kTag, "bucket 0"}));
  EXPECT_EQ(difference_between({run, &timed}, {run, &timed}).details.size(), 4u);
  for (const auto& difference : {difference_between({run, &timed}, {run, &not_timed}),
                                 difference_between({run, &not_timed}, {run, &timed})}) {
    EXPECT_EQ(difference.details.size(), 2u) << "of bucket 1, by its size and its name";
    for (const auto& detail : difference.details) EXPECT_FALSE(detail.is_only_in_one);
  }
}

// It takes no time, which is known: what communication costs from the second rank on is told.
TEST(NamedTimes, OfARankAloneAreComparedAlsoWhereItsCollectivesTakeNone) {
  const auto run = named_run(20, 2);
  const auto timed = times_of_buckets(run, 1000);
  const auto of_group = times_of_buckets(run, 0, {.ranks = {0}});
  const auto of_world = times_of_buckets(named_run(20, 1), 0, {.id = 7, .ranks = {0}});
  for (const auto& alone : {of_group, of_world}) {
    EXPECT_EQ(difference_between({run, &alone}, {run, &timed}).details.size(), 4u);
  }
}

// As of a clock that was set back, or of a damaged file.
TEST(NamedTimes, LeaveOutWhatEndsBeforeItBegins) {
  const auto run = named_run(20, 2);
  const NamedTimes::Key bucket{DetailKind::kTag, "bucket 0"};
  const auto reversed = times_of_buckets(run, -5000).ns.at(bucket);
  auto expected = times_of_buckets(run, 1000).ns.at(bucket);
  expected[5] = 0;  // step 7, of which the first two are warm-up
  EXPECT_EQ(reversed, expected);
}

// `mean_ns` of one operator in each step, give or take.
NamedTimes steady_times(double mean_ns, double spread_ns, unsigned seed, std::string name) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(mean_ns, spread_ns);
  NamedTimes times{.ns = {}, .steps = 40};
  auto& series = times.ns[{DetailKind::kWork, std::move(name)}];
  for (int i = 0; i < 40; ++i) series.push_back(noise(random));
  return times;
}

TEST(NamedTimes, AreJudgedAndANameThatIsMissingTookNoTime) {
  auto a = named_run(42, 2), b = a;
  b.info.settings.bucket_cap_mb = 4;
  auto first = steady_times(10e6, 1e5, 1, "aten::mm");
  auto second = steady_times(12e6, 1e5, 2, "aten::mm");
  first.ns.merge(steady_times(5e6, 4e5, 3, "aten::add").ns);
  second.ns.merge(steady_times(5e6, 4e5, 4, "aten::add").ns);
  second.ns.merge(steady_times(3e6, 1e5, 5, "aten::copy_").ns);
  const auto details = difference_between({a, &first}, {b, &second}).details;
  ASSERT_EQ(details.size(), 3u);
  EXPECT_EQ(details[0].name, "aten::copy_");
  EXPECT_EQ(details[0].first, 0);
  EXPECT_EQ(details[0].beyond_noise, true);
  EXPECT_TRUE(details[0].is_only_in_one);
  EXPECT_FALSE(details[1].is_only_in_one);
  EXPECT_EQ(details[1].name, "aten::mm");
  EXPECT_NEAR(details[1].difference(), 2e6, 1e5);
  EXPECT_EQ(details[1].beyond_noise, true);
  EXPECT_EQ(details[2].name, "aten::add");
  EXPECT_EQ(details[2].beyond_noise, false);
  b.info.settings.model = "small";
  for (const auto& detail : difference_between({a, &first}, {b, &second}).details) {
    EXPECT_FALSE(detail.beyond_noise) << "another job: " << detail.name;
  }
}

// The noise of runs is as large as all communication: by it alone nothing would be told.
TEST(NamedTimes, WhatOnlyOneRunDoesInEveryStepIsNoMatterOfNoise) {
  auto a = named_run(42, 2), b = a;
  b.info.settings.bucket_cap_mb = 4;
  auto first = steady_times(3e6, 2.5e6, 1, "always");
  auto second = steady_times(3e6, 1e5, 2, "other");
  for (double& ns : first.ns.begin()->second) ns = std::max(ns, 1e4);
  auto now_and_then = steady_times(5e6, 1e5, 3, "now and then");
  for (int i = 0; i < 37; ++i) now_and_then.ns.begin()->second[static_cast<std::size_t>(i)] = 0;
  first.ns.merge(now_and_then.ns);
  for (const auto& detail : difference_between({a, &first}, {b, &second}).details) {
    const bool is_always = detail.name != "now and then";
    EXPECT_EQ(detail.is_only_in_one, is_always) << detail.name;
    EXPECT_EQ(detail.beyond_noise, is_always) << detail.name;
    EXPECT_EQ(detail.half_width.has_value(), !is_always) << detail.name;
  }
  b.info.settings.model = "small";
  for (const auto& detail : difference_between({a, &first}, {b, &second}).details) {
    EXPECT_FALSE(detail.beyond_noise) << "another job: " << detail.name;
  }
}

// A bucket's number means something only within its plan.
TEST(NamedTimes, BucketsAreComparedWhereBothPlansPutTheSameParametersIntoThem) {
  const auto bucket = [](int index, std::vector<std::string> parameters, std::int64_t bytes) {
    BucketFigures made;
    made.index = index;
    made.bytes = bytes;
    made.parameters = std::move(parameters);
    return made;
  };
  auto a = named_run(42, 2), b = a;
  a.buckets = {bucket(0, {"head"}, 8), bucket(1, {"h.1"}, 16), bucket(2, {"h.0"}, 16)};
  b.buckets = {bucket(0, {"head"}, 8), bucket(1, {"h.1", "h.0"}, 32)};
  NamedTimes first{.ns = {}, .steps = 40}, second = first;
  for (const char* tag : {"bucket 0", "bucket 1", "bucket 2", "loss"}) {
    first.ns[{DetailKind::kTag, tag}].assign(40, 1e6);
    second.ns[{DetailKind::kTag, tag}].assign(40, 2e6);
  }
  const auto compared = [&] {
    std::vector<std::string> names;
    for (const auto& detail : difference_between({a, &first}, {b, &second}).details) {
      names.push_back(detail.name);
    }
    std::ranges::sort(names);
    return names;
  };
  EXPECT_EQ(compared(), (std::vector<std::string>{"bucket 0", "loss"}));
  EXPECT_EQ((difference_between({a, &first}, {b, &second}).other_buckets), 2u);
  b.buckets.clear();
  EXPECT_EQ(compared().size(), 4u) << "of one nobody knows the plan";
}

TEST(MemoryDifferences, SumToThePeakOfTensors) {
  RunFigures a, b;
  a.ranks.resize(2);
  b.ranks.resize(2);
  constexpr std::int64_t kKibibyte = 1024;
  a.ranks[1].peak.bytes = {
      100 * kKibibyte, 0, 40 * kKibibyte, 80 * kKibibyte, 300 * kKibibyte, 0, 0, 999};
  b.ranks[0].peak.bytes = {
      100 * kKibibyte, 0, 20 * kKibibyte, 80 * kKibibyte + 8, 350 * kKibibyte, 0, 0, 1};
  const auto details = memory_differences(a, b, true);
  double sum = 0;
  for (const auto& detail : details) sum += detail.difference();
  EXPECT_EQ(sum, static_cast<double>(b.ranks[0].peak.allocated_bytes() -
                                     a.ranks[1].peak.allocated_bytes()));
  ASSERT_EQ(details.size(), 4u);
  EXPECT_EQ(details[0].difference(), 50 * kKibibyte);
  EXPECT_EQ(details[1].difference(), -20 * kKibibyte);
  EXPECT_EQ(details[1].beyond_noise, true);
  EXPECT_EQ(details[2].difference(), 8);
  EXPECT_EQ(details[2].beyond_noise, false) << "nobody cares for 8 bytes";
  EXPECT_EQ(details[3].beyond_noise, false) << "the same bytes";
  EXPECT_FALSE(memory_differences(a, b, false)[0].beyond_noise);
}

}  // namespace
}  // namespace shardlens::trace::analysis
