#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/sql/query.h"

namespace shardlens::trace::store {
namespace {

using testing::HasSubstr;

class Aggregates : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new test::Folder();
    run_ = test::record_run(folder_->path(), "aggregates", 1, 1);
  }
  static void TearDownTestSuite() { delete folder_; }

  // Of the values, which are SQL's.
  static QueryValue of(const std::string& function, const std::string& values) {
    const auto result =
        query_run(run_, "with t(x) as (values " + values + ") select " + function + " from t");
    EXPECT_TRUE(result) << result.error().message;
    return result ? result->rows.at(0).at(0) : QueryValue("failed");
  }
  static std::string error(const std::string& sql) {
    const auto result = query_run(run_, sql);
    return result ? "none" : result.error().message;
  }

  static inline test::Folder* folder_ = nullptr;
  static inline std::filesystem::path run_;
};

TEST_F(Aggregates, TellTheMiddleAndPlacesBetweenNeighbours) {
  EXPECT_EQ(of("median(x)", "(3), (1), (10)"), QueryValue(3.0));
  EXPECT_EQ(of("median(x)", "(3), (1), (10), (2)"), QueryValue(2.5));
  EXPECT_EQ(of("percentile(x, 0)", "(3), (1), (10)"), QueryValue(1.0));
  EXPECT_EQ(of("percentile(x, 100)", "(3), (1), (10)"), QueryValue(10.0));
  EXPECT_EQ(of("percentile(x, 75)", "(3), (1), (10)"), QueryValue(6.5));
}

TEST_F(Aggregates, TellTheSpreadOfASampleHoweverLargeItsValues) {
  EXPECT_EQ(of("stdev(x)", "(2), (4), (4), (4), (6)"), QueryValue(std::sqrt(2.0)));
  EXPECT_EQ(of("stdev(x)", "(1700000000000000001), (1700000000000000001)"), QueryValue(0.0));
  EXPECT_EQ(of("stdev(x)", "(1000000000000001), (1000000000000003)"), QueryValue(std::sqrt(2.0)));
}

TEST_F(Aggregates, LeaveOutNull) {
  EXPECT_EQ(of("median(x)", "(null), (1), (3), (null)"), QueryValue(2.0));
  EXPECT_EQ(of("median(x)", "(null)"), QueryValue());
  EXPECT_EQ(of("percentile(x, 5)", "(null)"), QueryValue());
  EXPECT_EQ(of("stdev(x)", "(null), (7)"), QueryValue());
}

// As SQLite's own windows have it, of groups that the events are read by.
TEST_F(Aggregates, AreOfEachGroup) {
  const auto ours =
      query_run(run_, "select name, median(duration_ns) from op group by name order by 1");
  const auto theirs = query_run(run_,
                                "select name, avg(d) from (select name, duration_ns + 0.0 as d, "
                                "row_number() over (partition by name order by "
                                "duration_ns) as i, count(*) over (partition by name) as n from "
                                "op) where i in ((n + 1) / 2, n / 2 + 1) "
                                "group by name order by 1");
  ASSERT_TRUE(ours && theirs);
  EXPECT_FALSE(ours->rows.empty());
  EXPECT_EQ(ours->rows, theirs->rows);
}

TEST_F(Aggregates, RefuseWhatIsNone) {
  EXPECT_THAT(error("select median('a')"), HasSubstr("of text"));
  EXPECT_THAT(error("select stdev(key) from meta"), HasSubstr("of text"));
  EXPECT_THAT(error("select percentile(1, 101)"), HasSubstr("from 0 to 100"));
}

}  // namespace
}  // namespace shardlens::trace::store
