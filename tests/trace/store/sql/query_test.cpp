#include "trace/store/sql/query.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::trace::store {
namespace {

using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

class QueryRun : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder();
    run_ = test::record_run(folder_->path(), "it's 16 \"ranks\"", 16, 3);
    packed_ = *folder_ / "sixteen.shardlens";
    ASSERT_TRUE(pack_run(run_, packed_));
  }
  static void TearDownTestSuite() { delete folder_; }

  static QueryResult result(const std::string& sql, const QueryOptions& options = {}) {
    const auto from_folder = query_run(run_, sql, options);
    EXPECT_TRUE(from_folder) << from_folder.error().message;
    if (!from_folder) return {};
    const auto from_packed = query_run(packed_, sql, options);
    EXPECT_TRUE(from_packed) << from_packed.error().message;
    EXPECT_EQ(from_folder->rows, from_packed->rows);
    return *from_folder;
  }
  static std::string value(const std::string& sql) {
    const QueryResult all = result(sql);
    return all.rows.empty() ? "nothing" : to_text(all.rows[0][0]);
  }
  static base::Error error(const std::string& sql) {
    const auto failed = query_run(run_, sql);
    EXPECT_FALSE(failed) << sql;
    return failed ? base::Error{} : failed.error();
  }

  static inline Folder* folder_ = nullptr;
  static inline std::filesystem::path run_, packed_;
};

TEST_F(QueryRun, UnitesTheRowsOfMoreRanksThanSqliteAttaches) {
  EXPECT_EQ(value("select count(*) from collective"), "144");
  EXPECT_EQ(value("select count(distinct rank) from step"), "16");
  EXPECT_EQ(value("select count(*) from step where rank = 11"), "3");
  EXPECT_EQ(value("select count(*) from step where rank in (0, 15, 77)"), "6");
  EXPECT_EQ(value("select count(*) from step a join step b on a.step = b.step and b.rank = 3"),
            "48");
}

TEST_F(QueryRun, GroupsByNamesThatPeopleRead) {
  const auto all = result(
      "select function, tag, data_type, phase, avg(end_ns - start_ns), count(*) from collective "
      "group by 1, 2, 3, 4 order by tag");
  EXPECT_THAT(all.columns, ElementsAre("function", "tag", "data_type", "phase",
                                       "avg(end_ns - start_ns)", "count(*)"));
  ASSERT_EQ(all.rows.size(), 4u);
  EXPECT_EQ(all.rows[0],
            (std::vector<QueryValue>{std::string("all_reduce"), std::string("bucket 0"),
                                     std::string("float32"), std::string("backward"), 4999990.0,
                                     std::int64_t{48}}));
  EXPECT_EQ(std::get<std::string>(all.rows[2][1]), "loss");
  EXPECT_EQ(std::get<std::string>(all.rows[3][1]), "unit blocks.0 forward gather, prefetched");
}

TEST_F(QueryRun, KnowsTheRunItself) {
  EXPECT_EQ(value("select value from meta where key = 'name'"), "it's 16 \"ranks\"");
  EXPECT_EQ(value("select value from setting where key = 'bucket_cap_mb'"), "1.5");
  EXPECT_EQ(value("select count(*) from rank"), "16");
}

TEST_F(QueryRun, GivesValuesTheirTypes) {
  const auto row =
      result(
          "select step, loss, gradient_norm, 'a🚀', (select data from chunk limit 1) from step "
          "where rank = 0 limit 1")
          .rows.at(0);
  EXPECT_EQ(row[0], QueryValue(std::int64_t{0}));
  EXPECT_EQ(row[1], QueryValue(5.5));
  EXPECT_EQ(row[2], QueryValue());
  EXPECT_EQ(row[3], QueryValue(std::string("a🚀")));
  EXPECT_THAT(to_text(row[4]), HasSubstr("bytes>"));
  EXPECT_EQ(to_text(row[1]), "5.5");
}

TEST_F(QueryRun, HidesRowIdsFromSelectStar) {
  EXPECT_THAT(result("select * from bucket_ready limit 1").columns,
              ElementsAre("rank", "step", "bucket", "time_ns"));
}

TEST_F(QueryRun, ListsItsTables) {
  const auto tables = query_tables();
  const auto lane = std::find_if(tables.begin(), tables.end(),
                                 [](const QueryTable& table) { return table.name == "lane"; });
  ASSERT_NE(lane, tables.end());
  EXPECT_THAT(lane->columns, ElementsAre("rank", "lane", "kind", "name"));
}

TEST_F(QueryRun, ExplainsWrongSqlWithTheTables) {
  for (const char* sql : {"select * from kernels", "selec 1", "", "  ;", "select nothing from step",
                          "select abs(1,2,3)", "select 1; select 2", "select 'open"}) {
    const base::Error wrong = error(sql);
    EXPECT_EQ(wrong.kind, base::ErrorKind::kUsage) << sql;
    EXPECT_THAT(wrong.message, HasSubstr("collective, ")) << sql;
  }
  EXPECT_THAT(error("select * from kernels").message, HasSubstr("no such table: kernels"));
  // A mistake that only shows while running.
  EXPECT_EQ(error("select abs(-9223372036854775807 - 1)").kind, base::ErrorKind::kUsage);
}

TEST_F(QueryRun, TellsAtWhichByteTheSqlIsWrong) {
  const auto wrong_at = [](const std::string& sql) {
    std::optional<std::size_t> at;
    EXPECT_FALSE(query_run(run_, sql, {.wrong_at = &at})) << sql;
    return at;
  };
  EXPECT_EQ(wrong_at("selec 1"), 0u);
  EXPECT_EQ(wrong_at("select rank,\n  nowhere, nowhere from step"), 15u) << "the first of two";
  EXPECT_EQ(wrong_at("select 'é', s.nowhere from step s"), 13u);
  EXPECT_EQ(wrong_at("select nowhere(1)"), 7u);
  EXPECT_EQ(wrong_at("select rank from step a, step b"), 7u);
  EXPECT_EQ(wrong_at("select 'open"), 7u);
  EXPECT_EQ(wrong_at("select 1 from kernels -- not kernels2"), 14u);
  EXPECT_EQ(wrong_at("select kernels.rank from kernels"), std::nullopt) << "which one is not known";
  EXPECT_EQ(wrong_at("select rank from step where"), std::nullopt);
  EXPECT_EQ(wrong_at("select 1; select 2"), std::nullopt);
  EXPECT_EQ(wrong_at("delete from step"), std::nullopt);
}

TEST_F(QueryRun, TakesATrailingSemicolonAndComments) {
  EXPECT_EQ(value("select 1;"), "1");
  EXPECT_EQ(value("select 1; -- one\n"), "1");
}

TEST_F(QueryRun, OnlyReads) {
  for (const char* sql :
       {"delete from step", "insert into step(rank) values(1)", "drop table step",
        "create table x(a)", "attach '/tmp/x.sqlite' as x", "pragma journal_mode=wal", "vacuum",
        "begin", "create temp table x as select 1", "select load_extension('x')",
        "update main.sqlite_schema set sql=''", "detach main", "reindex"}) {
    EXPECT_EQ(error(sql).kind, base::ErrorKind::kUsage) << sql;
  }
  EXPECT_EQ(value("select count(*) from step"), "48");
}

TEST_F(QueryRun, StopsAtTheRowLimit) {
  QueryOptions options;
  options.row_limit = 5;
  const auto some = result("select * from step", options);
  EXPECT_EQ(some.rows.size(), 5u);
  EXPECT_TRUE(some.truncated);
  options.row_limit = 48;
  EXPECT_FALSE(result("select * from step", options).truncated);
}

TEST_F(QueryRun, CanBeInterrupted) {
  QueryOptions options;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 3; };
  const auto stopped = query_run(
      run_,
      "with recursive n(i) as (select 1 union all select i + 1 from n) select count(*) from n",
      options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_THAT(stopped.error().message, HasSubstr("interrupted"));
}

TEST(QueryMemory, IsBoundedAndRowsMayBeTakenAsTheyCome) {
  const test::Folder folder;
  const auto run = test::record_run(folder.path(), "bounded", 1, 2);
  const std::string many =
      "with recursive n(i) as (select 1 union all select i + 1 from n limit 100000) select i from "
      "n";
  QueryOptions options;
  options.byte_limit = 1 << 20;
  const auto refused = query_run(run, many, options);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1 MiB"), std::string::npos) << refused.error().message;
  std::int64_t rows = 0;
  options.take_row = [&](const auto& columns, const auto& row) {
    EXPECT_EQ(columns.size(), row.size());
    ++rows;
  };
  const auto taken = query_run(run, many, options);
  ASSERT_TRUE(taken) << taken.error().message;
  EXPECT_EQ(rows, 100'000);
  EXPECT_TRUE(taken->rows.empty());
  const auto large = query_run(run, "select zeroblob(900000000)", {});
  ASSERT_FALSE(large);
  EXPECT_NE(large.error().message.find("64 MiB"), std::string::npos) << large.error().message;
}

}  // namespace
}  // namespace shardlens::trace::store
