#include "trace/store/sqlite/sqlite.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/trace/store/testing/store_fixture.h"

namespace shardlens::trace::store {
namespace {

constexpr const char* kAbove = "select number from numbers where number > ?1 order by number";

class KeptStatements : public testing::Test {
 protected:
  KeptStatements() : database_(open()) {
    EXPECT_TRUE(
        database_.execute("pragma journal_mode=wal; create table numbers(number integer); "
                          "insert into numbers values(1),(2),(3)"));
  }
  Database open() const {
    return *Database::open(folder_.path() / "numbers.sqlite",
                           SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, "numbers");
  }
  static int statements_of(const Database& database) {
    int count = 0;
    for (auto* next = sqlite3_next_stmt(database.get(), nullptr); next != nullptr;
         next = sqlite3_next_stmt(database.get(), next)) {
      ++count;
    }
    return count;
  }
  static std::int64_t first_above(Database& database, std::int64_t limit) {
    const auto statement = *database.prepare_once(kAbove);
    statement->bind(1, limit);
    EXPECT_TRUE(*statement->step());
    return statement->integer(0);
  }

  const test::Folder folder_;
  Database database_;
};

TEST_F(KeptStatements, ArePreparedOnceAndBeginAnew) {
  EXPECT_EQ(first_above(database_, 0), 1);
  EXPECT_EQ(first_above(database_, 2), 3);
  EXPECT_EQ(first_above(database_, 1), 2);
  EXPECT_EQ(statements_of(database_), 1);
  ASSERT_TRUE(database_.prepare_once("select 1"));
  EXPECT_EQ(statements_of(database_), 2);
}

TEST_F(KeptStatements, HoldNoTransactionOnceGivenBack) {
  const auto can_empty_the_log = [this] {
    Database other = open();
    return *other.integer("pragma wal_checkpoint(truncate)") == 0;
  };
  sqlite3_busy_timeout(database_.get(), 0);
  {
    const auto statement = *database_.prepare_once(kAbove);
    statement->bind(1, 0);
    ASSERT_TRUE(*statement->step());
    EXPECT_NE(sqlite3_stmt_busy(statement->get()), 0);
  }
  EXPECT_EQ(sqlite3_txn_state(database_.get(), nullptr), SQLITE_TXN_NONE);
  EXPECT_TRUE(can_empty_the_log());
}

TEST_F(KeptStatements, SeeWhatTheTableHasBecome) {
  EXPECT_EQ(first_above(database_, 2), 3);
  Database other = open();
  ASSERT_TRUE(
      other.execute("alter table numbers add column name text; "
                    "update numbers set number = 30 where number = 3"));
  EXPECT_EQ(first_above(database_, 2), 30);
}

TEST_F(KeptStatements, GoWithTheConnectionAndEndWithIt) {
  EXPECT_EQ(first_above(database_, 0), 1);
  Database moved = std::move(database_);
  EXPECT_EQ(first_above(moved, 1), 2);
  EXPECT_EQ(statements_of(moved), 1);
  moved = open();
  EXPECT_EQ(statements_of(moved), 0);
  EXPECT_EQ(first_above(moved, 2), 3);
  moved.drop_statements();
  EXPECT_EQ(statements_of(moved), 0);
}

TEST_F(KeptStatements, ThatCannotBePreparedAreNotKept) {
  const auto wrong = database_.prepare_once("select number from nowhere");
  ASSERT_FALSE(wrong);
  EXPECT_NE(wrong.error().message.find("nowhere"), std::string::npos) << wrong.error().message;
  EXPECT_EQ(statements_of(database_), 0);
}

}  // namespace
}  // namespace shardlens::trace::store
