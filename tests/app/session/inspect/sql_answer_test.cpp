#include "app/session/inspect/sql_answer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/session/synthetic_run.h"
#include "trace/explore/run_explorer.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/trace_writer.h"
#include "ui/inspect/sql/sql_examples.h"

namespace shardlens::app::session {
namespace {

struct SqlAnswerTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path run = finished_run(folder.path(), {}, 5);
};

bool always() { return true; }

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of_example(const std::filesystem::path& run, std::string_view title) {
  const auto examples = ui::inspect::sql_examples(nullptr);
  const auto example = std::ranges::find(examples, title, &ui::inspect::SqlExample::title);
  EXPECT_NE(example, examples.end()) << title;
  if (example == examples.end()) return {};
  auto answer = ask_sql(run, std::string(example->query), always);
  EXPECT_EQ(answer.error, "");
  std::ranges::sort(answer.rows);
  return answer.rows;
}

// One batch of each rank.
std::filesystem::path run_of(const std::filesystem::path& runs_dir,
                             std::vector<trace::model::Batch> batches) {
  trace::model::RunInfo info;
  info.name = "run";
  info.world_size = static_cast<int>(batches.size());
  auto run = trace::store::create_run(runs_dir, info, false).value();
  for (int rank = 0; rank < info.world_size; ++rank) {
    auto writer = trace::store::TraceWriter::create(trace::store::rank_file(run, rank), rank, {});
    writer.value()->submit(std::move(batches[static_cast<std::size_t>(rank)]));
    EXPECT_TRUE(writer.value()->close());
  }
  return run;
}

TEST_F(SqlAnswerTest, HoldsColumnsRowsAndWhichOfThemAreFigures) {
  const auto answer = ask_sql(
      run, "select phase, count(*) as n, null as absent from span group by phase order by phase",
      always);
  EXPECT_EQ(answer.error, "");
  EXPECT_EQ(answer.columns, (std::vector<std::string>{"phase", "n", "absent"}));
  ASSERT_FALSE(answer.rows.empty());
  EXPECT_EQ(answer.rows[0], (std::vector<std::string>{"backward", "10", ""}));
  EXPECT_EQ(answer.is_number, (std::vector<bool>{false, true, true}));
  EXPECT_FALSE(answer.truncated);
}

TEST_F(SqlAnswerTest, SaysWhatIsWrongWithAQuery) {
  const auto answer = ask_sql(run, "select nonsense from step", always);
  EXPECT_NE(answer.error.find("nonsense"), std::string::npos);
  EXPECT_EQ(answer.wrong_at, 7u);
  EXPECT_TRUE(answer.rows.empty());
}

TEST_F(SqlAnswerTest, AnswersEveryExampleOfTheConsole) {
  for (const ui::inspect::SqlExample& example : ui::inspect::sql_examples(nullptr)) {
    const auto answer = ask_sql(run, std::string(example.query), always);
    EXPECT_EQ(answer.error, "") << example.title;
    EXPECT_FALSE(answer.columns.empty()) << example.title;
  }
}

TEST_F(SqlAnswerTest, TheExamplesOfARunHaveRows) {
  const auto explorer = trace::explore::RunExplorer::open(run);
  ASSERT_TRUE(explorer);
  while ((*explorer)->work().value_or(false)) {
  }
  const auto examples = ui::inspect::sql_examples((*explorer)->rows().get());
  EXPECT_GE(examples.size(), 4u);
  EXPECT_LT(examples.size(), ui::inspect::sql_examples(nullptr).size()) << "it has not everything";
  for (const ui::inspect::SqlExample& example : examples) {
    if (example.title.starts_with("Gaps")) continue;  // which a run may not have
    EXPECT_FALSE(ask_sql(run, std::string(example.query), always).rows.empty()) << example.title;
  }
}

// As of a run that was resumed, or of one whose schedule records some steps.
TEST(SqlExamples, OfOneStepTakeOneThatHasDetail) {
  constexpr std::int64_t kStep = 1'000'000;
  trace::model::Batch batch;
  batch.strings = {{.rank = 0, .id = 1, .text = "kernel"}};
  batch.lanes = {{.rank = 0, .id = 0, .kind = trace::model::LaneKind::kCompute, .name = 1},
                 {.rank = 0, .id = 1, .kind = trace::model::LaneKind::kOperators, .name = 1}};
  trace::model::EventRun kernels, launches;
  kernels.kind = trace::model::EventKind::kKernel;
  launches.kind = trace::model::EventKind::kLaunch;
  launches.lane = 1;
  for (std::int64_t index = 100; index < 110; ++index) {
    trace::model::Step step;
    step.index = index;
    step.start_ns = index * kStep;
    step.end_ns = step.start_ns + kStep;
    step.full_detail = index >= 108;
    for (const std::int64_t at : {0, 200'000}) {
      if (!step.full_detail) continue;
      const auto id = static_cast<std::uint64_t>(index * kStep + at);
      const std::int64_t start_ns = step.start_ns + at;
      launches.events.push_back(
          {.start_ns = start_ns + 10, .duration_ns = 10, .name = 1, .correlation = id});
      kernels.events.push_back(
          {.start_ns = start_ns + 1'020, .duration_ns = 5'000, .name = 1, .correlation = id});
    }
    batch.steps.push_back(step);
  }
  batch.events = {std::move(kernels), std::move(launches)};
  const TemporaryFolder folder;
  const auto run = run_of(folder.path(), {batch});
  EXPECT_EQ(rows_of_example(run, "Queueing between launch and kernel"),
            (Rows{{"kernel", "2", "1"}}));
  EXPECT_EQ(rows_of_example(run, "Gaps of more than 50 µs on a stream").size(), 1u);
}

// Ranks 0 and 1, and 2 and 3, each have a group "shard" of the same number; of group 2 each rank
// knows itself alone.
TEST(SqlExamples, TellGroupsOfTheSameNumberApart) {
  struct Call {
    int group;
    std::int64_t start_ns, end_ns;
  };
  const std::vector<std::vector<Call>> calls{{{1, 1000, 1300}, {2, 5000, 5500}},
                                             {{1, 1100, 1300}, {2, 5010, 5500}},
                                             {{1, 2000, 2400}, {2, 5020, 5500}},
                                             {{1, 2050, 2400}, {2, 5030, 5500}}};
  std::vector<trace::model::Batch> batches(calls.size());
  for (int rank = 0; rank < 4; ++rank) {
    const auto i = static_cast<std::size_t>(rank);
    const int first = rank / 2 * 2;
    batches[i].process_groups = {{.rank = rank, .id = 1, .ranks = {first, first + 1}},
                                 {.rank = rank, .id = 2, .ranks = {-1, -1, -1, rank}}};
    for (const Call& call : calls[i]) {
      trace::model::Collective row;
      row.rank = rank;
      row.process_group = call.group;
      row.sequence = 0;
      row.function = trace::model::CollectiveFunction::kAllGather;
      row.bytes = call.group == 1 ? 1000 : 4700;
      row.start_ns = row.enqueued_ns = call.start_ns;
      row.end_ns = call.end_ns;
      batches[i].collectives.push_back(row);
    }
  }
  const TemporaryFolder folder;
  const auto run = run_of(folder.path(), std::move(batches));
  EXPECT_EQ(rows_of_example(run, "Which rank comes last in collectives"),
            (Rows{{"1", "1"}, {"3", "2"}}));
  const auto bandwidth = rows_of_example(run, "Bandwidth of collectives by size");
  ASSERT_EQ(bandwidth.size(), 2u);
  EXPECT_EQ(bandwidth[0][2], "2") << "calls of 1000 bytes";
  EXPECT_EQ(bandwidth[0][3], "0.275") << "µs: 200 and 350 ns";
  EXPECT_EQ(bandwidth[1][2], "1") << "of all four ranks";
  EXPECT_EQ(bandwidth[1][4], "10") << "GB/s: 4700 bytes in 470 ns";
}

// Of a job of two ranks whose second file is not here nobody knows how long it was waited for.
TEST(SqlExamples, GiveNoBandwidthOfCallsThatNotAllRanksTellOf) {
  const auto bandwidth_of = [](std::vector<int> ranks) {
    trace::model::Batch batch;
    batch.process_groups = {{.rank = 0, .id = 1, .ranks = std::move(ranks)}};
    trace::model::Collective call;
    call.process_group = 1;
    call.sequence = 0;
    call.function = trace::model::CollectiveFunction::kAllReduce;
    call.bytes = 1000;
    call.start_ns = call.enqueued_ns = 1000;
    call.end_ns = 2000;
    batch.collectives = {call};
    const TemporaryFolder folder;
    return rows_of_example(run_of(folder.path(), {std::move(batch)}),
                           "Bandwidth of collectives by size");
  };
  EXPECT_EQ(bandwidth_of({0, 1}), Rows{});
  EXPECT_EQ(bandwidth_of({0}), Rows{});
  EXPECT_EQ(bandwidth_of({-1, 0}), Rows{}) << "a communicator of which one rank knows itself alone";
}

// A step has a phase as often as it has micro-batches.
TEST(SqlExamples, OfPhasesAddUpWhatAStepHas) {
  constexpr std::int64_t kMs = 1'000'000;
  trace::model::Batch batch;
  for (const std::int64_t index : {0, 1}) {
    trace::model::Step step;
    step.index = index;
    step.start_ns = index * 100 * kMs;
    step.end_ns = step.start_ns + 100 * kMs;
    batch.steps.push_back(step);
    for (const std::int64_t at : {0, 30}) {
      trace::model::Span span;
      span.step = index;
      span.phase = trace::base::Phase::kForward;
      span.start_ns = step.start_ns + at * kMs;
      span.end_ns = span.start_ns + 10 * kMs;
      batch.spans.push_back(span);
    }
  }
  const TemporaryFolder folder;
  EXPECT_EQ(
      rows_of_example(run_of(folder.path(), {std::move(batch)}), "Host phases, mean over steps"),
      (Rows{{"0", "forward", "4", "20"}}));
}

// Of other programs' traces it is not known whether an allocation was there before the step.
TEST(SqlExamples, OfAllocationsTakeThoseOfOtherPrograms) {
  trace::model::Batch batch;
  batch.strings = {{.rank = 0, .id = 1, .text = "aten::empty"}};
  batch.lanes = {{.rank = 0, .id = 0, .kind = trace::model::LaneKind::kOperators, .name = 1}};
  trace::model::EventRun moments;
  moments.kind = trace::model::EventKind::kAllocation;
  moments.events = {{.start_ns = 10, .name = 1, .value = 1 << 20},
                    {.start_ns = 20, .name = 1, .value = -(1 << 20)}};
  batch.events = {std::move(moments)};
  const TemporaryFolder folder;
  EXPECT_EQ(
      rows_of_example(run_of(folder.path(), {std::move(batch)}), "Operators that allocate most"),
      (Rows{{"aten::empty", "1", "1"}}));
}

TEST_F(SqlAnswerTest, AnEndlessQueryEndsWhenNobodyWaitsForIt) {
  int asked = 0;
  const auto answer = ask_sql(
      run, "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
      [&] { return ++asked < 20; });
  EXPECT_NE(answer.error, "");
}

TEST_F(SqlAnswerTest, MoreRowsThanATableTakesAreCutAndSaidToBe) {
  const auto answer =
      ask_sql(run,
              "with recursive n(i) as (select 1 union all select i + 1 from n limit "
              "10001) select i from n",
              always);
  EXPECT_TRUE(answer.truncated);
  EXPECT_EQ(answer.rows.size(), 10'000u);
}

TEST(SqlTables, NameTheRowTablesAndThoseOfEvents) {
  std::vector<std::string> names;
  for (const auto& table : sql_tables()) {
    names.push_back(table.name);
    EXPECT_FALSE(table.columns.empty()) << table.name;
  }
  for (const char* name : {"step", "collective", "kernel", "op"}) {
    EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
  }
}

}  // namespace
}  // namespace shardlens::app::session
