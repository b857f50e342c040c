#include "app/session/inspect/sql_answer.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/app/session/synthetic_run.h"
#include "trace/explore/run_explorer.h"
#include "ui/inspect/sql/sql_examples.h"

namespace shardlens::app::session {
namespace {

struct SqlAnswerTest : testing::Test {
  TemporaryFolder folder;
  std::filesystem::path run;
  SqlAnswerTest() {
    SyntheticRun synthetic(folder.path());
    synthetic.add_steps(5);
    synthetic.finish();
    run = synthetic.folder();
  }
};

bool always() { return true; }

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
