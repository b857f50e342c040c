// Times and numbers that no job has: an import is bounded by its events.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"
#include "trace/interop/imported_rows.h"

namespace shardlens::trace::interop {
namespace {

using testing::HasSubstr;

class KinetoBounds : public KinetoImport {};

TEST_F(KinetoBounds, AnEventDecadesFromAllOthersIsLeftOutAndCounted) {
  const std::vector files{write("far.json", trace_of({kernel_at("0"), kernel_at("1700000000000000"),
                                                      complete("user_annotation", "ProfilerStep#1",
                                                               "77", 1'700'000'000'000'000, 5)},
                                                     ""))};
  const auto imported = import_kineto(files, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings,
              testing::ElementsAre(HasSubstr("1 event was left out: timed days before")));
  EXPECT_EQ(imported->events, 2) << "of those that are in it, with the step";
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 1);
  EXPECT_EQ(run.figures.info.start_ns, 1'700'000'000'000'000'000);
  EXPECT_EQ(run.figures.info.end_ns, 1'700'000'000'000'005'000);
  EXPECT_EQ(run.figures.recorder.lost, 1);
}

TEST_F(KinetoBounds, ZerosOfCuptiAndEndlessDurationsAreLeftOutWhereverTheyStand) {
  std::vector<std::string> events;
  for (int i = 0; i < 10; ++i)
    events.push_back(kernel_at(std::to_string(1'700'000'000'000'000 + i * 10)));
  for (const char* ts : {"0", "0", "-5000000000000000000000", "99999999999999999999", "1e300"}) {
    events.push_back(kernel_at(ts));
  }
  events.push_back(kernel_at("1700000000000050", "1e18"));
  events.push_back(complete("user_annotation", "## forward ##", "77", 0, 5));
  const auto imported =
      import_kineto(std::vector{write("zeros.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 10);
  EXPECT_EQ(run.figures.recorder.lost, 7);
  EXPECT_EQ(run.figures.info.end_ns - run.figures.info.start_ns, 95'000);
}

TEST_F(KinetoBounds, WhatHasNoDurationIsLeftOutAndNotTakenForNothing) {
  std::vector<std::string> events;
  for (const char* dur : {"5", "-5", "NaN", "Infinity", "null", "\"-3\"", "0"}) {
    events.push_back(kernel_at("1700000000000000", dur));
  }
  const auto imported = import_kineto(std::vector{write("odd.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_THAT(imported->warnings,
              testing::Contains(HasSubstr("5 events were left out: their durations are negative")));
  EXPECT_EQ(open(imported->folder).figures.ranks[0].totals.compute_events, 2);
}

TEST_F(KinetoBounds, AStepThatIsMissingIsNoPartOfTheOneBeforeIt) {
  std::vector<std::string> events;
  for (const int step : {1, 2, 4}) {
    events.push_back(complete("user_annotation", "ProfilerStep#" + std::to_string(step), "77",
                              1000 + 100 * step, 90));
  }
  const auto imported = import_kineto(std::vector{write("gap.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  const Run run = open(imported->folder);
  const auto& steps = run.figures.steps;
  ASSERT_EQ(steps.size(), 3u);
  EXPECT_EQ(steps[0].shown().step_ns, 100'000) << "until the next one begins";
  EXPECT_EQ(steps[1].shown().step_ns, 90'000);
}

TEST_F(KinetoBounds, ATraceThatMarksAStepTwiceIsOfSeveralRanksAndRefused) {
  const std::vector events{complete("user_annotation", "ProfilerStep#7", "77", 1000, 90),
                           complete("user_annotation", "ProfilerStep#7", "78", 1001, 90)};
  const auto imported =
      import_kineto(std::vector{write("merged.json", trace_of(events, ""))}, runs());
  ASSERT_FALSE(imported);
  EXPECT_THAT(imported.error().message, HasSubstr("merged.json' marks step 7 more than once"));
  EXPECT_THAT(imported.error().message, HasSubstr("one file per rank"));
}

TEST_F(KinetoBounds, NumbersOfStepsThatNoJobCountsMarkNone) {
  for (const char* number : {"-9223372036854775808", "-1", "4294967296", "", "1x"}) {
    const std::vector events{complete("user_annotation", std::string("ProfilerStep#") + number,
                                      "77", 1'700'000'000'000'000, 50),
                             kernel_at("1700000000000010")};
    ImportOptions options;
    options.overwrite = true;
    const std::vector files{write("steps.json", trace_of(events, ""))};
    const auto imported = import_kineto(files, runs(), options);
    ASSERT_TRUE(imported) << imported.error().message;
    EXPECT_THAT(imported->warnings, testing::ElementsAre(HasSubstr("No steps are marked")))
        << number;
  }
}

TEST_F(KinetoBounds, WhatNoViewWouldCountIsNotImported) {
  const auto imported = import_kineto(
      std::vector{write("late.json", trace_of({kernel_at("2500000000000000")}, ""))}, runs());
  ASSERT_FALSE(imported) << "in 2049";
}

TEST_F(KinetoBounds, ATraceWithLongPausesIsWrittenByItsEventsAndNotByItsTime) {
  // 15 hours apart each: nothing is left out, and half a month has 13 million tenths of seconds.
  std::vector<std::string> events{
      complete("user_annotation", "ProfilerStep#1", "77", 1'700'000'000'000'000, 5)};
  for (std::int64_t i = 0; i < 24; ++i) {
    events.push_back(kernel_at(std::to_string(1'700'000'000'000'000 + i * 15 * 3'600'000'000)));
  }
  const auto imported =
      import_kineto(std::vector{write("slow.json", trace_of(events, ""))}, runs());
  ASSERT_TRUE(imported) << imported.error().message;
  EXPECT_TRUE(imported->warnings.empty());
  const Run run = open(imported->folder);
  EXPECT_EQ(run.figures.ranks[0].totals.compute_events, 24);
  EXPECT_LT(run.batches.size(), 30u);
}

TEST_F(KinetoBounds, RowsDecadesApartAreWrittenInAFewCommits) {
  model::Batch rows;
  rows.strings.push_back({0, 1, "gemm"});
  rows.lanes.push_back({0, 0, model::LaneKind::kCompute, 1});
  rows.events.push_back({0,
                         0,
                         model::EventKind::kKernel,
                         {{0, 5, 1, 0, 0, 0}, {1'700'000'000'000'000'000, 5, 1, 0, 0, 0}}});
  int asked = 0;
  const auto file = folder_->path() / "rank_0.sqlite";
  ASSERT_TRUE(write_imported_rows(file, 0, rows, [&] { return ++asked < 10; }));
  EXPECT_LT(asked, 10);
  EXPECT_LT(std::filesystem::file_size(file), 1'000'000u);
}

TEST_F(KinetoBounds, NumbersThatNoJobHasAreRefused) {
  for (const char* info :
       {"\"rank\":0,\"world_size\":300000000", "\"rank\":2000000,\"world_size\":2",
        "\"rank\":0,\"world_size\":99999999999999"}) {
    const auto imported =
        import_kineto(std::vector{write("big.json", trace_of({kernel_at("5")}, info))}, runs());
    ASSERT_FALSE(imported) << info;
    EXPECT_EQ(imported.error().kind, base::ErrorKind::kDamaged);
    EXPECT_THAT(imported.error().message, HasSubstr("at most 65,536 ranks"));
  }
}

}  // namespace
}  // namespace shardlens::trace::interop
