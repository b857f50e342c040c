// Answers, errors and words of the SQL console; the log's filter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "ui/inspect/sql/sql_editor.h"
#include "ui/inspect/sql/sql_examples.h"
#include "ui/inspect/sql/sql_result.h"
#include "ui/inspect/sql/sql_words.h"
#include "ui/inspect/tabs/log_tab.h"

namespace shardlens::ui::inspect {

namespace {

TEST(SqlResult, SortsNumbersAsNumbersAndKeepsTextsWhole) {
  auto answer = std::make_shared<state::SqlAnswer>();
  answer->columns = {"n", "n", "name"};
  answer->is_number = {true, false, false};
  answer->rows = {{"10", "x", "b\nc"}, {"9", "y", "a,\"d\""}, {"", "z"}};
  const auto table = sql_result_table(answer);
  EXPECT_THAT(present::table_order(*table, {"n", false}, ""), testing::ElementsAre(1, 0, 2));
  EXPECT_EQ(table->columns[1].title, "n (2)") << "heads must be told apart";
  EXPECT_EQ(present::csv_of(*table, {0, 1, 2}),
            "n,n,name\r\n10,x,\"b\nc\"\r\n9,y,\"a,\"\"d\"\"\"\r\n,z,\r\n");
}

TEST(SqlResult, KeepsIntegersExact) {
  auto answer = std::make_shared<state::SqlAnswer>();
  answer->columns = {"start_ns"};
  answer->is_number = {true};
  answer->rows = {{"1795183331000000001"}};
  EXPECT_EQ(present::csv_of(*sql_result_table(answer), {0}), "start_ns\r\n1795183331000000001\r\n");
  // A nanosecond apart, where a double tells some two hundred.
  answer->rows = {{"1795183331000000003"}, {"1795183331000000001"}, {"1795183331000000002"}};
  EXPECT_THAT(present::table_order(*sql_result_table(answer), {"start_ns", false}, ""),
              testing::ElementsAre(1, 2, 0));
  EXPECT_THAT(present::table_order(*sql_result_table(answer), {"start_ns", true}, ""),
              testing::ElementsAre(0, 2, 1));
}

TEST(SqlResult, FindsTheTimeOfARow) {
  state::SqlAnswer answer;
  answer.columns = {"rank", "start_ns", "duration_ns"};
  answer.rows = {{"3", "1000", "50"}, {"x", "1000", ""}, {"0", "later", "1"}};
  EXPECT_EQ(time_of_row(answer, 0), (trace::timeline::TimeRange{1000, 1050, {3}}));
  EXPECT_EQ(time_of_row(answer, 1), (trace::timeline::TimeRange{1000, 1000, {}}));
  EXPECT_EQ(time_of_row(answer, 2), std::nullopt);
  EXPECT_EQ(time_of_row(answer, 9), std::nullopt);
  answer.columns = {"rank", "start_ns", "end_ns"};
  answer.rows = {{"1", "900", "200"}};
  EXPECT_EQ(time_of_row(answer, 0), (trace::timeline::TimeRange{200, 900, {1}})) << "reversed";
  answer.columns = {"a", "b", "c"};
  EXPECT_EQ(time_of_row(answer, 0), std::nullopt);
}

TEST(SqlError, IsTheWordThatBeginsThere) {
  const SqlErrorPlace place = sql_error_place("select 'é', a,\n  é, nam from kernel", 22);
  EXPECT_EQ(place.line, 2);
  EXPECT_EQ(place.column, 6);
  EXPECT_EQ(place.offset, 22u);
  EXPECT_EQ(place.length, 3u);
  EXPECT_EQ(sql_error_place("select x.y from t x", 7).length, 3u);
  EXPECT_EQ(sql_error_place("select # from t", 7).length, 1u) << "a sign is underlined, too";
  EXPECT_EQ(sql_error_place("selec 1", 0).column, 1);
}

TEST(SqlWords, CoverAllThatIsNotSpace) {
  const std::string query =
      "select count(*), 'it''s' -- a note\nfrom \"kernel\" where x >= 1.5e3 /* open";
  std::string joined;
  std::set<std::size_t> seen;
  for (const SqlWord& word : sql_words(query)) {
    for (std::size_t i = 0; i < word.length; ++i) EXPECT_TRUE(seen.insert(word.offset + i).second);
  }
  for (std::size_t i = 0; i < query.size(); ++i) {
    if (query[i] != ' ' && query[i] != '\n') {
      EXPECT_TRUE(seen.contains(i)) << i;
    }
  }
}

TEST(SqlWords, KnowTheirKinds) {
  const std::string query = "SELECT name FROM t WHERE n > 12 AND s = 'from' -- order";
  std::vector<std::string> keywords, texts, numbers, comments;
  for (const SqlWord& word : sql_words(query)) {
    const std::string text = query.substr(word.offset, word.length);
    if (word.kind == SqlWordKind::kKeyword) keywords.push_back(text);
    if (word.kind == SqlWordKind::kText) texts.push_back(text);
    if (word.kind == SqlWordKind::kNumber) numbers.push_back(text);
    if (word.kind == SqlWordKind::kComment) comments.push_back(text);
  }
  EXPECT_THAT(keywords, testing::ElementsAre("SELECT", "FROM", "WHERE", "AND"));
  EXPECT_THAT(texts, testing::ElementsAre("'from'"));
  EXPECT_THAT(numbers, testing::ElementsAre("12"));
  EXPECT_THAT(comments, testing::ElementsAre("-- order"));
}

TEST(SqlEditorText, PutsAWordApartFromItsNeighbours) {
  int cursor = 6;
  EXPECT_EQ(inserted_word("selectfrom", cursor, "name"), "select name from");
  EXPECT_EQ(cursor, 11);
  cursor = 7;
  EXPECT_EQ(inserted_word("select ", cursor, "rank"), "select rank");
  cursor = 99;
  EXPECT_EQ(inserted_word("a", cursor, "b"), "a b");
  cursor = -5;
  EXPECT_EQ(inserted_word("", cursor, "b"), "b");
}

TEST(SqlExamples, AreManyAndTellTheirPurpose) {
  EXPECT_GE(sql_examples(nullptr).size(), 8u);
  std::set<std::string_view> titles;
  for (const SqlExample& example : sql_examples(nullptr)) {
    EXPECT_TRUE(titles.insert(example.title).second);
    EXPECT_THAT(std::string(example.query), testing::HasSubstr("from "));
  }
}

TEST(SqlExamples, AskForWhatTheRunHas) {
  trace::timeline::TimelineRows rows;
  EXPECT_TRUE(sql_examples(&rows).empty());
  rows.steps.resize(1);
  rows.rows.resize(1);
  rows.rows[0].kind = trace::timeline::RowKind::kCommunication;
  rows.events_of[static_cast<std::size_t>(trace::model::EventKind::kOperator)] = 5;
  std::set<std::string> tables;
  for (const SqlExample& example : sql_examples(&rows)) {
    std::string_view words = example.query;
    for (std::size_t at = 0; (at = words.find("from ", at)) != words.npos; at += 5) {
      tables.emplace(words.substr(at + 5, words.find_first_of("\n )", at + 5) - at - 5));
    }
  }
  tables.erase("call");  // named by the query itself
  // Joined from the left: groups that no row tells of count as one.
  EXPECT_EQ(tables, (std::set<std::string>{"step", "op", "collective", "process_group"}));
  EXPECT_EQ(sql_hint(&rows), "select … from op …");
  rows.events_of[static_cast<std::size_t>(trace::model::EventKind::kKernel)] = 5;
  EXPECT_EQ(sql_hint(&rows), "select … from kernel …");
}

TEST(LogFilter, TakesRankLevelAndText) {
  using Level = trace::model::LogLine::Level;
  const std::vector<trace::model::LogLine> log{{0, 1, Level::kInfo, "Buckets rebuilt"},
                                               {1, 2, Level::kWarning, "slow"},
                                               {1, 3, Level::kError, "Out of memory, \"x\""}};
  EXPECT_EQ(filtered_log(log, {}).size(), 3u);
  EXPECT_EQ(filtered_log(log, {.rank = 1, .least = Level::kInfo, .text = ""}).size(), 2u);
  EXPECT_EQ(filtered_log(log, {.rank = -1, .least = Level::kError, .text = ""}).size(), 1u);
  EXPECT_EQ(filtered_log(log, {.rank = -1, .least = Level::kInfo, .text = "BUCKETS"}).size(), 1u);
  EXPECT_EQ(filtered_log(log, {.rank = 0, .least = Level::kWarning, .text = ""}).size(), 0u);
  EXPECT_EQ(log_csv(filtered_log(log, {.rank = 1, .least = Level::kError, .text = ""})),
            "time_ns,rank,level,text\r\n3,1,error,\"Out of memory, \"\"x\"\"\"\r\n");
}

}  // namespace

}  // namespace shardlens::ui::inspect
