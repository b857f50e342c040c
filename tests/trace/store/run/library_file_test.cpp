#include "trace/store/run/library_file.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <fstream>
#include <set>
#include <thread>

#include "tests/trace/store/testing/store_fixture.h"

namespace shardlens::trace::store {
namespace {

using test::Folder;
using Numbers = std::vector<std::int64_t>;

Numbers numbers(const Folder& folder, const std::vector<RunPlace>& places) {
  const auto given = number_runs(folder.path(), places);
  EXPECT_TRUE(given) << given.error().message;
  return given ? given->numbers : Numbers{};
}

TEST(LibraryFile, AnOlderRunThatAppearsLaterMovesNoNumber) {
  const Folder folder;
  EXPECT_EQ(numbers(folder, {{"b", 20}, {"c", 30}}), (Numbers{1, 2}));
  EXPECT_EQ(numbers(folder, {{"a", 10}, {"b", 20}, {"c", 30}}), (Numbers{3, 1, 2}));
}

TEST(LibraryFile, ANumberIsNeverUsedAgain) {
  const Folder folder;
  numbers(folder, {{"a", 10}, {"b", 20}});
  EXPECT_EQ(numbers(folder, {{"a", 10}, {"c", 30}}), (Numbers{1, 3})) << "b was deleted";
  EXPECT_EQ(numbers(folder, {{"a", 11}}), Numbers{4}) << "another run under its file name";
  EXPECT_EQ(number_runs(folder.path(), {})->next, 5);
}

TEST(LibraryFile, ALibraryWithoutRunsIsNotWrittenTo) {
  const Folder folder;
  EXPECT_EQ(number_runs(folder.path(), {})->next, 1);
  EXPECT_EQ(*pinned_baseline(folder.path()), "");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / kLibraryFile));
}

// As it may come with a folder of runs that somebody else packed.
void change_library(const Folder& folder, const char* sql) {
  sqlite3* connection = nullptr;
  sqlite3_open((folder.path() / kLibraryFile).c_str(), &connection);
  EXPECT_EQ(sqlite3_exec(connection, sql, nullptr, nullptr, nullptr), SQLITE_OK)
      << sqlite3_errmsg(connection);
  sqlite3_close(connection);
}

TEST(LibraryFile, WithViewsOrTriggersIsRefusedByName) {
  for (const char* sql :
       {"drop table run_number; create view run_number as with recursive n(i) as (select 1 union "
        "all select i+1 from n) select max(i) as number, 'b' as file_name, 20 as start_ns from n",
        "create trigger t before insert on remembered begin delete from run_number; end",
        "alter table remembered add column more"}) {
    const Folder folder;
    numbers(folder, {{"b", 20}});
    change_library(folder, sql);
    const std::vector<RunPlace> places{{"b", 20}};
    const auto given = number_runs(folder.path(), places);
    ASSERT_FALSE(given) << sql;
    EXPECT_EQ(given.error().kind, base::ErrorKind::kDamaged);
    EXPECT_NE(given.error().message.find(kLibraryFile), std::string::npos);
    EXPECT_FALSE(pinned_baseline(folder.path()));
  }
}

TEST(LibraryFile, WithAJournalThatIsALinkIsRefusedByName) {
  const Folder folder;
  numbers(folder, {{"b", 20}});
  const auto journal = base::beside(folder / kLibraryFile, "-journal");
  std::filesystem::create_symlink(folder.write("other", "not ours"), journal);
  const std::vector<RunPlace> places{{"b", 20}};
  const auto given = number_runs(folder.path(), places);
  ASSERT_FALSE(given);
  EXPECT_NE(given.error().message.find(journal.filename()), std::string::npos)
      << given.error().message;
  EXPECT_TRUE(std::filesystem::is_symlink(journal));
}

TEST(LibraryFile, TheNextNumberIsNoneThatARunHas) {
  const Folder folder;
  numbers(folder, {{"a", 10}, {"b", 20}});
  change_library(folder, "delete from sqlite_sequence");
  EXPECT_EQ(number_runs(folder.path(), {})->next, 3);
  change_library(folder, "insert into sqlite_sequence values('run_number', 9223372036854775807)");
  EXPECT_EQ(number_runs(folder.path(), {})->next, INT64_MAX);
}

TEST(LibraryFile, ProgramsThatGiveNumbersAtOnceAgree) {
  const Folder folder;
  constexpr int kPrograms = 4, kRuns = 40;
  std::vector<std::vector<Numbers>> seen(kPrograms);
  {
    std::vector<std::jthread> programs;
    for (int program = 0; program < kPrograms; ++program) {
      programs.emplace_back([&, program] {
        std::vector<RunPlace> places;
        for (int run = 0; run < kRuns; ++run) {
          // Half of the programs find them in the other order.
          const int which = program % 2 == 0 ? run : kRuns - 1 - run;
          places.push_back({"run " + std::to_string(which), which});
          seen[static_cast<std::size_t>(program)].push_back(numbers(folder, places));
        }
      });
    }
  }
  std::vector<RunPlace> all;
  for (int run = 0; run < kRuns; ++run) all.push_back({"run " + std::to_string(run), run});
  const Numbers last = numbers(folder, all);
  EXPECT_EQ(std::set<std::int64_t>(last.begin(), last.end()).size(), last.size());
  for (int program = 0; program < kPrograms; ++program) {
    for (const auto& now : seen[static_cast<std::size_t>(program)]) {
      for (std::size_t i = 0; i < now.size(); ++i) {
        EXPECT_EQ(now[i], last[program % 2 == 0 ? i : kRuns - 1 - i]);
      }
    }
  }
}

TEST(LibraryFile, ThePinnedBaselineIsRememberedUntilAnotherIsPinned) {
  const Folder folder;
  ASSERT_TRUE(pin_baseline(folder.path(), "a run's folder"));
  EXPECT_EQ(*pinned_baseline(folder.path()), "a run's folder");
  ASSERT_TRUE(pin_baseline(folder.path(), ""));
  EXPECT_EQ(*pinned_baseline(folder.path()), "");
}

TEST(LibraryFile, ADamagedFileIsAnErrorAndNoCrash) {
  const Folder folder;
  std::ofstream(folder.path() / kLibraryFile) << std::string(5000, 'x');
  EXPECT_FALSE(number_runs(folder.path(), std::vector<RunPlace>{{"a", 1}}));
  EXPECT_FALSE(pin_baseline(folder.path(), "a"));
}

}  // namespace
}  // namespace shardlens::trace::store
