// The texts and tables that panels take from figures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/ui/testing/sample_snapshot.h"
#include "ui/present/headline.h"
#include "ui/present/job_text.h"
#include "ui/present/ledger_text.h"
#include "ui/present/memory_stack.h"
#include "ui/present/palette_match.h"
#include "ui/runs/ledger_cells.h"
#include "ui/runs/ledger_table.h"
#include "ui/tune/replay_bar.h"
#include "ui/tune/timeline/timeline_item.h"

namespace shardlens::ui {

namespace {

std::vector<std::string> titles(const LedgerTable& table) {
  std::vector<std::string> out;
  for (const auto& column : table.columns) out.push_back(column.title);
  return out;
}

const LedgerColumn* find_column(const LedgerTable& table, std::string_view title) {
  for (const auto& column : table.columns) {
    if (column.title == title) return &column;
  }
  return nullptr;
}

TEST(Headlines, LeadWithStepAndExposedTime) {
  const auto lines = headlines(sample_snapshot().run->figures);
  ASSERT_GE(lines.size(), 3u);
  EXPECT_EQ(lines[0].label, "Step");
  EXPECT_EQ(lines[1].label, "Exposed");
  for (const auto& line : lines) {
    EXPECT_FALSE(line.definition.empty()) << line.label;
    EXPECT_FALSE(line.source.empty()) << line.label;
  }
}

TEST(Headlines, TellWaitingOnlyWhereSomebodyWaited) {
  trace::RunFigures figures = sample_snapshot().run->figures;
  figures.summary.exposed_wait_ns = 3.27e6;
  EXPECT_TRUE(headlines(figures)[1].note.ends_with("of step, 3.27 ms waiting"));
  EXPECT_TRUE(headlines(figures)[1].brief_note.ends_with("%, 3.27 ms waiting"));
  figures.summary.exposed_wait_ns = 0;
  EXPECT_TRUE(headlines(figures)[1].note.ends_with("of step"));
}

TEST(Headlines, LeaveOutWhatIsNotKnown) {
  trace::RunFigures figures = sample_snapshot().run->figures;
  EXPECT_FALSE(figures.summary.mfu.has_value());
  for (const auto& line : headlines(figures)) EXPECT_NE(line.label, "MFU");
  EXPECT_TRUE(headlines(trace::RunFigures{}).empty());
}

TEST(StartControls, SayWhatStartDoes) {
  Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(start_controls(snapshot).label, "Queue run 5");
  EXPECT_EQ(start_controls(snapshot).detail, "cap 60");
  EXPECT_EQ(start_controls(snapshot).stop_and_start, "Stop run 4 and start");
  snapshot.job = {};
  EXPECT_EQ(start_controls(snapshot).label, "Start run 5");
  EXPECT_EQ(start_controls(empty_snapshot()).label, "Start run 1");
  snapshot.job.phase = JobPhase::kRunning;
  snapshot.job.queued = {{1, "cap 60"}, {2, "cap 90"}};
  EXPECT_EQ(start_controls(snapshot).kind, StartControls::Kind::kQueue);
  EXPECT_EQ(start_controls(snapshot).label, "Queue run 7") << "behind those that wait";
  EXPECT_EQ(start_controls(installing_snapshot()).kind, StartControls::Kind::kInstalling);
}

TEST(StartControls, RefuseSettingsWithAProblem) {
  Snapshot snapshot = empty_snapshot();
  snapshot.knobs.problems.push_back({"ranks", "…"});
  EXPECT_FALSE(start_controls(snapshot).enabled);
}

TEST(ProgressText, TellsHowFarAndHowARunEnded) {
  const Snapshot live = sample_snapshot();
  EXPECT_EQ(progress_text(live).left, "step 120 of 200");
  EXPECT_FLOAT_EQ(progress_text(live).fraction, 0.6f);
  EXPECT_TRUE(progress_text(failed_snapshot()).failed);
  EXPECT_EQ(progress_text(failed_snapshot()).left, "failed");
  EXPECT_THAT(progress_text(failed_snapshot()).details,
              testing::StartsWith("failed after 40 steps"));
  EXPECT_EQ(progress_text(empty_snapshot()).left, "");
}

TEST(ProgressText, LeavesOutATotalThatIsNotKnown) {
  Snapshot live = sample_snapshot();
  live.job.steps = 0;
  live.job.step = 12;
  EXPECT_EQ(progress_text(live).left, "step 12");
  EXPECT_EQ(steps_text(1), "1 step");
}

TEST(StartControls, CountOnlyTheUsersOwnRuns) {
  Snapshot snapshot = empty_snapshot();
  LedgerRow bundled;
  bundled.ordinal = "run 9";
  bundled.is_bundled = true;
  snapshot.ledger =
      std::make_shared<Ledger>(Ledger{.rows = {bundled}, .spread_note = "", .problems = {}});
  EXPECT_EQ(start_controls(snapshot).label, "Start run 1");
}

TEST(Headlines, NameTheSourcesThatTheRecorderUsed) {
  SampleOptions options;
  options.gpu = true;
  trace::RunFigures figures = sample_snapshot(options).run->figures;
  EXPECT_EQ(time_source(figures), "Sources: kernels: CUPTI; collectives: the host's calls");
  EXPECT_EQ(memory_source(figures), "Source: CUDA's caching allocator");
  figures.ranks.clear();
  EXPECT_THAT(time_source(figures), testing::HasSubstr("does not name"));
}

TEST(MemoryStacks, ListACategoryThatIsGoneAtThePeak) {
  auto ranks = sample_snapshot().run->figures.ranks;
  constexpr auto kGradients = static_cast<std::size_t>(trace::MemoryCategory::kGradients);
  for (auto& rank : ranks) rank.peak.bytes[kGradients] = 0;
  EXPECT_THAT(memory_stacks(ranks).categories,
              testing::Not(testing::Contains(trace::MemoryCategory::kGradients)));
  ranks[0].category_peaks[kGradients] = 4096;
  const auto stacks = memory_stacks(ranks);
  EXPECT_THAT(stacks.categories, testing::Contains(trace::MemoryCategory::kGradients));
  EXPECT_DOUBLE_EQ(stacks.bars[0].category_peaks[kGradients], 4096);
}

TEST(Progress, TellsTheLengthOfAShortRunThatEnded) {
  auto run = std::make_shared<RunView>();
  run->figures.info.status = trace::RunStatus::kDone;
  run->figures.info.start_ns = 1;
  run->figures.info.end_ns = 1 + 87'400'000;
  Snapshot snapshot;
  snapshot.run = run;
  EXPECT_EQ(progress_text(snapshot).right, "87.4 ms");
  run->figures.info.end_ns = 1 + 75'000'000'000;
  EXPECT_EQ(progress_text(snapshot).right, "1:15.0");
}

TEST(MemoryStacks, NameACategoryOfWhichNobodyTold) {
  using trace::MemoryCategory;
  auto ranks = sample_snapshot().run->figures.ranks;
  constexpr auto kGradients = static_cast<std::size_t>(MemoryCategory::kGradients);
  for (auto& rank : ranks) {
    rank.peak.bytes[kGradients] = rank.category_peaks[kGradients] = 0;
    rank.peak.untold = trace::MemorySample::bit(MemoryCategory::kGradients);
  }
  const auto stacks = memory_stacks(ranks);
  EXPECT_THAT(stacks.categories, testing::Contains(MemoryCategory::kGradients));
  EXPECT_EQ(part_text(stacks.bars[0], MemoryCategory::kGradients), "not known");
  EXPECT_NE(part_text(stacks.bars[0], MemoryCategory::kParameters), "not known");
  for (auto& rank : ranks) rank.peak.untold = trace::MemorySample::kUntoldPurposes;
  EXPECT_THAT(memory_stacks(ranks).categories,
              testing::Not(testing::Contains(MemoryCategory::kGradients)))
      << "of none is anything known";
}

TEST(Messages, TellOfLostRecordsAndOfAHangBeforeTheBanner) {
  Snapshot snapshot = sample_snapshot();
  EXPECT_EQ(messages(snapshot).size(), 1u) << "the banner alone";
  const auto run = std::make_shared<RunView>(*snapshot.run);
  run->diagnosis = "Rank 1 did not arrive in bucket 3";
  run->figures.recorder.lost = 1200;
  run->figures.recorder.losses.push_back({0, "operator queue full", 1200});
  snapshot.run = run;
  const auto lines = messages(snapshot);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[0].is_error);
  EXPECT_EQ(lines[1].text, "1,200 records were lost: operator queue full");
}

TEST(RecorderText, TellsTheCostOfRecording) {
  trace::RecorderFigures recorder;
  recorder.events = 12'340;
  recorder.bytes_on_disk = 1'258'291;
  recorder.overhead_fraction = 0.008;
  EXPECT_EQ(
      recorder_text(recorder),
      "12,340 events in 1.20 MiB; recording makes steps about 0.8 % longer, estimated; none lost");
  recorder.overhead_is_measured = true;
  EXPECT_EQ(recorder_text(recorder),
            "12,340 events in 1.20 MiB; recording makes steps 0.8 % longer, measured; none lost");
  recorder.lost = 1'200;
  EXPECT_TRUE(recorder_text(recorder).ends_with("; 1,200 lost"));
}

TEST(LedgerTable, ShowsSettingsInWhichRunsDiffer) {
  const Snapshot snapshot = sample_snapshot();
  const auto columns = titles(ledger_table(*snapshot.ledger));
  EXPECT_THAT(columns, testing::Contains("Bucket cap"));
  EXPECT_THAT(columns, testing::Contains("Communication hook"));
  EXPECT_THAT(columns, testing::Not(testing::Contains("Precision")));
}

TEST(LedgerTable, HidesColumnsWithoutAValue) {
  Snapshot snapshot = sample_snapshot();
  Ledger ledger = *snapshot.ledger;
  for (auto& row : ledger.rows) {
    row.summary.overlap_fraction.reset();
    row.loss_at_common_step.reset();
    row.relative_to_baseline.reset();
  }
  const LedgerTable table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Overlap"), nullptr);
  EXPECT_EQ(find_column(table, "Loss"), nullptr);
  EXPECT_EQ(find_column(table, "Against baseline"), nullptr) << "nothing is compared with it";
  EXPECT_NE(find_column(table, "Step time"), nullptr);
}

TEST(LedgerTable, MarksSlowerAndFasterWithASignAndGreysNoise) {
  const Snapshot snapshot = sample_snapshot();
  const LedgerTable table = ledger_table(*snapshot.ledger);
  const LedgerColumn* column = find_column(table, "Against baseline");
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->cell(snapshot.ledger->rows[0], {}).tone, Tone::kMuted) << "below the noise";
  EXPECT_EQ(column->cell(snapshot.ledger->rows[1], {}).text, "baseline");
  EXPECT_EQ(column->cell(snapshot.ledger->rows[2], {}).trend, Trend::kFaster);
  EXPECT_EQ(column->cell(snapshot.ledger->rows[3], {}).trend, Trend::kSlower);
  EXPECT_EQ(column->cell(snapshot.ledger->rows[3], {}).text.front(), '+');
  EXPECT_EQ(column->cell(snapshot.ledger->rows[4], {}).text, "");
}

TEST(LedgerTable, CountsMoreTokensPerSecondAsFaster) {
  Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[2].by_throughput = true;
  ledger.rows[2].relative_to_baseline = 0.2;
  const LedgerTable table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Against baseline")->cell(ledger.rows[2], {}).trend, Trend::kFaster);
}

TEST(LedgerTable, NamesTheStepOfTheBaselineAndThatOfOthers) {
  Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.common_step = 99;
  ledger.rows.back().common_step = 29;
  const LedgerTable table = ledger_table(ledger);
  const LedgerColumn* column = find_column(table, "Loss at step 99");
  ASSERT_NE(column, nullptr);
  EXPECT_EQ(column->cell(ledger.rows[0], {}).mark, "");
  EXPECT_EQ(column->cell(ledger.rows.back(), {}).mark, "@ 29");
  for (auto& row : ledger.rows) row.is_baseline = false;
  const LedgerTable without = ledger_table(ledger);
  ASSERT_NE(find_column(without, "Loss"), nullptr) << "no step holds for all rows";
  EXPECT_EQ(find_column(without, "Loss")->cell(ledger.rows[0], {}).mark, "@ 99");
}

TEST(LedgerTable, ShowsBatchAndTrafficOnlyWhereRunsDifferInThem) {
  Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) {
    row.summary.effective_batch = 16;
    row.summary.samples_per_s = 100 + row.summary.step_ns.mean / 1e6;
    row.summary.bytes_sent_per_step = 9.0 * (1 << 20);
  }
  ledger.rows.back().summary.bytes_sent_per_step.reset();  // failed before its first step
  const LedgerTable same = ledger_table(ledger);
  EXPECT_EQ(find_column(same, "Effective batch"), nullptr);
  EXPECT_EQ(find_column(same, "Samples/s"), nullptr) << "step time says the same";
  EXPECT_EQ(find_column(same, "Sent per step"), nullptr);

  ledger.rows[0].summary.effective_batch = 32;
  ledger.rows[1].summary.bytes_sent_per_step = 27.0 * (1 << 20);
  const LedgerTable table = ledger_table(ledger);
  ASSERT_NE(find_column(table, "Effective batch"), nullptr);
  EXPECT_EQ(find_column(table, "Effective batch")->cell(ledger.rows[0], {}).text, "32");
  EXPECT_NE(find_column(table, "Samples/s"), nullptr);
  ASSERT_NE(find_column(table, "Sent per step"), nullptr);
  EXPECT_EQ(find_column(table, "Sent per step")->cell(ledger.rows[1], {}).text, "27.0 MiB");
  EXPECT_EQ(find_column(table, "Sent per step")->cell(ledger.rows.back(), {}).text, "");
}

TEST(LedgerText, SaysWhichScalingItIs) {
  EXPECT_EQ(scaling_text({trace::ScalingKind::kWeak, 2, 4, 1.84, 0.92}),
            "2 → 4 ranks: 1.84 × the samples/s, efficiency 92 % (same batch per rank)");
  EXPECT_EQ(scaling_title({trace::ScalingKind::kStrong, 2, 4, 1.5, 0.75}), "Strong scaling");
  EXPECT_EQ(scaling_text({trace::ScalingKind::kStrong, 2, 4, 1.5, 0.75}),
            "2 → 4 ranks: 1.50 × the samples/s, efficiency 75 % (same effective batch)");
  EXPECT_EQ(scaling_text({trace::ScalingKind::kWeak, 1, 2, 1.2, 0.6, true}),
            "1 → 2 ranks: 1.20 × the samples/s, efficiency 60 % (same batch per rank, all on the "
            "same CPU cores)");
}

TEST(LedgerTable, MarksSimulatedRunsAndSaysWhatWasSimulated) {
  Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[1].simulated = true;
  const LedgerTable table = ledger_table(ledger);
  EXPECT_EQ(table.columns.front().cell(ledger.rows[0], {}).mark, "");
  EXPECT_EQ(table.columns.front().cell(ledger.rows[1], {}).mark, "simulated");
  trace::Settings settings;
  EXPECT_EQ(simulation_text(settings), "");
  settings.simulate_link = "latency_us=50, gbit_per_s=1";
  settings.overlap_comm = false;
  EXPECT_EQ(simulation_text(settings),
            "link of 1 Gbit/s, 50 µs; communication kept from overlapping");
}

float total_width(const LedgerTable& table) {
  float width = 0;
  for (const auto& column : table.columns) width += column.width;
  return width;
}

TEST(LedgerTable, DropsWhatDoesNotTellRunsApartWhenNarrow) {
  const Snapshot snapshot = sample_snapshot();
  // A window of 1280 pixels, and one of 1920.
  for (const float width : {900.0f, 1540.0f}) {
    LedgerTable table = ledger_table(*snapshot.ledger);
    fit_columns(table, width);
    EXPECT_LE(total_width(table), width + 0.5f);
    EXPECT_EQ(table.columns.front().title, "Run");
    for (const char* title :
         {"Bucket cap", "Communication hook", "Simulated link", "Step time", "Against baseline"}) {
      EXPECT_NE(find_column(table, title), nullptr) << title << " at " << width;
    }
  }
  LedgerTable table = ledger_table(*snapshot.ledger);
  fit_columns(table, 560);
  EXPECT_LE(total_width(table), 560.5f);
  EXPECT_NE(find_column(table, "Step time"), nullptr);
  EXPECT_NE(find_column(table, "Bucket cap"), nullptr);
  EXPECT_EQ(find_column(table, "Ranks"), nullptr) << "the same in all runs";
}

TEST(LedgerTable, AllSettingsInWhichRunsDifferAreThereWhereThereIsRoom) {
  Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[0].settings.batch_per_rank = 3;
  ledger.rows[1].settings.sequence_length = 99;
  ledger.rows[2].settings.learning_rate = 0.5;
  ledger.rows[3].settings.precision = trace::Precision::kBf16;
  LedgerTable table = ledger_table(ledger);
  fit_columns(table, 1540);
  int settings = 0;
  for (const auto& column : table.columns) settings += column.key.empty() ? 0 : 1;
  EXPECT_GE(settings, 7);
  EXPECT_NE(find_column(table, "Simulated link"), nullptr);
}

TEST(LedgerTable, HeadingsAreWideEnoughToBeRead) {
  Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.common_step = 123456;
  for (const float width : {560.0f, 900.0f, 1540.0f}) {
    LedgerTable table = ledger_table(ledger);
    fit_columns(table, width);
    for (const auto& column : table.columns) {
      const auto letters = static_cast<float>(column.title.size());
      EXPECT_GE(column.width, letters * 6.2f + 12) << column.title;
    }
  }
}

TEST(LedgerTable, ASettingThatDoesNotApplyIsBlankAndMakesNoDifference) {
  Ledger ledger = *sample_snapshot().ledger;
  for (auto& row : ledger.rows) row.settings.bucket_cap_mb = 25;
  ledger.rows[1].settings.sharding_strategy = trace::Strategy::kFullShard;
  ledger.rows[1].settings.bucket_cap_mb = 60;
  const LedgerTable table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Bucket cap"), nullptr);
  const trace::Knob& knob = *trace::find_knob("bucket_cap_mb");
  EXPECT_EQ(setting_cell(ledger.rows[1], knob).text, "");
  EXPECT_NE(setting_cell(ledger.rows[0], knob).text, "");
}

TEST(LedgerTable, SaysWhyARunIsNotComparedAndShowsTheUsersWords) {
  Ledger ledger = *sample_snapshot().ledger;
  EXPECT_EQ(find_column(ledger_table(ledger), "Tags"), nullptr);
  ledger.rows[2].not_compared = "other machine";
  ledger.rows[2].tags = {"slow", "cluster"};
  ledger.rows[2].note = "the switch was broken";
  const LedgerTable table = ledger_table(ledger);
  EXPECT_EQ(find_column(table, "Against baseline")->cell(ledger.rows[2], {}).text, "other machine");
  EXPECT_EQ(find_column(table, "Tags")->cell(ledger.rows[2], {}).text, "slow cluster");
  EXPECT_EQ(find_column(table, "Note")->cell(ledger.rows[2], {}).text, "the switch was broken");
}

TEST(LedgerTable, ShowsALongNameBeforeColumnsThatMatterLess) {
  Ledger ledger = *sample_snapshot().ledger;
  ledger.rows[0].name = "slow link, one bucket, bf16";
  LedgerTable table = ledger_table(ledger);
  fit_columns(table, 900);
  EXPECT_GE(table.columns.front().width, table.columns.front().wish);
  EXPECT_EQ(find_column(table, "When"), nullptr) << "gives way";
}

TEST(CollectiveLabel, IsWholeOrTheNumberAlone) {
  trace::CollectiveBar bar;
  bar.label = "bucket 3";
  bar.event.tag_kind = trace::TagKind::kBucket;
  bar.event.tag_index = 3;
  bar.event.bytes = 4 << 20;
  EXPECT_EQ(collective_label(bar).full, "bucket 3 · 4.00 MiB");
  EXPECT_EQ(collective_label(bar).brief, "3");
  bar.event.tag_kind = trace::TagKind::kUnit;
  bar.label = "blocks.11 forward gather, prefetched";
  EXPECT_EQ(collective_label(bar).full, bar.label);
  EXPECT_EQ(collective_label(bar).brief, "11");
  bar.label = "root reduce";
  EXPECT_EQ(collective_label(bar).brief, "");
}

TEST(MemoryStacks, SumToThePeak) {
  const auto stacks = memory_stacks(sample_snapshot().run->figures.ranks);
  ASSERT_EQ(stacks.bars.size(), 2u);
  EXPECT_EQ(stacks.largest, 1u);
  for (const MemoryBar& bar : stacks.bars) {
    double sum = 0;
    for (const auto& part : bar.parts) sum += part.bytes;
    EXPECT_DOUBLE_EQ(sum, bar.peak);
    EXPECT_LE(bar.peak, stacks.top);
    EXPECT_LE(bar.estimate, stacks.top);
  }
  EXPECT_EQ(stacks.categories.size(), 7u) << "gathered parameters exist in no DDP run";
  EXPECT_EQ(estimate_note({.rank = 0, .parts = {}, .peak = 100, .estimate = 103}),
            "Estimate 103 B, 3.0 % above");
  EXPECT_TRUE(memory_stacks({}).bars.empty());
}

TEST(MemoryStacks, OfManyRanksShowTheHighestFirstAndFoldTheRest) {
  constexpr double kGib = 1024.0 * 1024 * 1024;
  MemoryStacks stacks;
  for (int rank = 0; rank < 256; ++rank) {
    MemoryBar bar;
    bar.rank = rank;
    bar.peak = (9.6 + 0.001 * rank) * kGib;
    stacks.bars.push_back(bar);
  }
  stacks.bars[7].peak = 12 * kGib;
  const MemoryFold fold = folded_bars(stacks, 6);
  EXPECT_EQ(fold.shown, (std::vector<std::size_t>{7, 255, 254, 253, 252}));
  EXPECT_EQ(fold.rest, 251u);
  EXPECT_EQ(rest_text(fold), "and 251 more between 9.60 and 9.85 GiB");
  EXPECT_EQ(folded_bars(stacks, 256).shown.size(), 256u);
  EXPECT_EQ(folded_bars(stacks, 256).shown.front(), 0u) << "by rank where there is room";
}

TEST(MemoryStacks, HaveAPresentOnlyWhileTheRunGoesOn) {
  const auto ranks = sample_snapshot().run->figures.ranks;
  EXPECT_GT(memory_stacks(ranks, true).bars.at(0).now, 0);
  EXPECT_EQ(memory_stacks(ranks, false).bars.at(0).now, 0);
}

TEST(MemoryStacks, ThePresentIsNeverAboveThePeakThoughTheHeapKeepsWhatTensorsFreed) {
  auto ranks = sample_snapshot().run->figures.ranks;
  const auto outside = static_cast<std::size_t>(trace::MemoryCategory::kOutside);
  ranks[0].now.bytes[outside] = 2 * ranks[0].peak.total_bytes();
  const MemoryStacks stacks = memory_stacks(ranks, true);
  EXPECT_LT(stacks.bars.at(0).now, stacks.bars.at(0).peak);
  EXPECT_EQ(stacks.top, memory_stacks(ranks, false).top) << "nor does it stretch the axis";
}

TEST(Replay, StepsThroughSpeedsAndSeeks) {
  EXPECT_DOUBLE_EQ(faster(1), 2);
  EXPECT_DOUBLE_EQ(slower(1), 0.5);
  EXPECT_DOUBLE_EQ(faster(100), 100);
  EXPECT_DOUBLE_EQ(slower(0.25), 0.25);
  ReplayState replay{true, true, 1, 1000, 3000, 2000};
  EXPECT_FLOAT_EQ(replay_position(replay), 0.5f);
  EXPECT_EQ(replay_time(replay, 0.25f), 1500);
  EXPECT_EQ(replay_time(replay, 7), 3000);
  EXPECT_FLOAT_EQ(replay_position({}), 0);
}

TEST(CommandPalette, RanksWordsBeforeBeginningsBeforeAbbreviations) {
  EXPECT_EQ(match_of("Fit the timeline", "fit the TIMELINE"), Match::kExact);
  EXPECT_EQ(match_of("fit", "Fit the timeline"), Match::kPrefix);
  EXPECT_EQ(match_of("time fit", "Fit the timeline"), Match::kWords);
  EXPECT_EQ(match_of("line", "Fit the timeline"), Match::kPart);
  EXPECT_EQ(match_of("bcap", "Bucket cap"), Match::kAbbreviation);
  EXPECT_EQ(match_of("scale", "Start run 5 · all else"), Match::kNone);
  EXPECT_EQ(match_of("xyz", "Bucket cap"), Match::kNone);
}

TEST(CommandPalette, FindsByTitleAndByOtherWords) {
  const std::vector<Findable> all{{"Fit the timeline", ""},
                                  {"Bucket cap", "bucket_cap_mb"},
                                  {"Dark or light", "theme colours"},
                                  {"The mesh", ""},
                                  {"", "Start the run, train", true}};
  EXPECT_EQ(best_matches("bcap", all).front(), 1u);
  EXPECT_EQ(best_matches("bucket_cap_mb", all).front(), 1u);
  EXPECT_EQ(best_matches("theme", all).front(), 2u);
  EXPECT_EQ(best_matches("", all).size(), 5u);
  EXPECT_EQ(best_matches("start", all), std::vector<std::size_t>{4});
  // What trains is not found by a part of a word or by first letters.
  EXPECT_TRUE(best_matches("rain", all).empty());
  EXPECT_TRUE(best_matches("str", all).empty());
}

TEST(CommandPalette, ReadsAPath) {
  EXPECT_EQ(typed_path("open /data/rank0.json.gz "), "/data/rank0.json.gz");
  EXPECT_EQ(typed_path("Import ./a b.json"), "./a b.json");
  EXPECT_EQ(typed_path("open run"), "");
  EXPECT_EQ(typed_path("open "), "");
}

TEST(CommandPalette, ReadsAnAssignment) {
  EXPECT_EQ(typed_assignment("bucket_cap_mb 60").value, "60");
  EXPECT_EQ(typed_assignment("bucket_cap_mb=60").name, "bucket_cap_mb");
  EXPECT_TRUE(typed_assignment("fit").name.empty());
  EXPECT_TRUE(typed_assignment("bucket_cap_mb ").name.empty());
}

}  // namespace

}  // namespace shardlens::ui
