#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <random>

#include "tests/trace/store/store_fixture.h"
#include "trace/store/pack.h"
#include "trace/store/query.h"
#include "trace/store/row_writer.h"
#include "trace/store/run_folder.h"

namespace shardlens::trace {
namespace {

namespace fs = std::filesystem;
using test::Folder;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kBegin = 1'790'000'000'000'000'000;
constexpr std::int64_t kCommitNs = 1'000'000'000;
constexpr int kRanks = 3, kCommits = 5, kLanes = 2;
constexpr std::size_t kEventsOfChunk = 300;

// An event with everything that its chunk does not say.
struct KnownEvent {
  int rank = 0, lane = 0;
  EventKind kind = EventKind::kKernel;
  Event event;
  std::string name;
};

// Every rank numbers the same names in an order of its own.
std::string name_of(int rank, StringId id) {
  const char* const names[] = {"gemm", "relu", "softmax", "it's \"quoted\" 🚀", "Gemm"};
  return id == 0 ? "" : names[(id + static_cast<StringId>(rank)) % std::size(names)];
}

class EventTables : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new Folder();
    events_ = new std::vector<KnownEvent>();
    RunInfo info = test::run_info("known", kRanks);
    run_ = *create_run(folder_->path(), info, false);
    for (int rank = 0; rank < kRanks; ++rank) write_rank(rank);
    packed_ = *folder_ / "known.shardlens";
    ASSERT_TRUE(pack_run(run_, packed_));
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete events_;
  }

  // Commit by commit one chunk per lane and kind, each within its own second.
  static void write_rank(int rank) {
    auto writer = RowWriter::create_file(rank_file(run_, rank), rank);
    ASSERT_TRUE(writer);
    std::mt19937 random(static_cast<unsigned>(rank));
    for (int commit = 0; commit < kCommits; ++commit) {
      Batch batch;
      const std::int64_t start = kBegin + commit * kCommitNs;
      if (commit == 0) {
        for (StringId id = 1; id <= 5; ++id) batch.strings.push_back({rank, id, name_of(rank, id)});
        batch.lanes = {{rank, 0, LaneKind::kOperators, 1}, {rank, 1, LaneKind::kCompute, 2}};
      }
      Step step;
      step.rank = rank;
      step.index = commit + 10;
      step.start_ns = start;
      step.end_ns = start + kCommitNs / 2;
      batch.steps = {step};
      for (int kind = 0; kind < kEventKindCount; ++kind) {
        for (int lane = 0; lane < kLanes; ++lane) {
          batch.events.push_back(
              random_run(rank, lane, static_cast<EventKind>(kind), start, random));
        }
      }
      ASSERT_TRUE(writer->begin());
      ASSERT_TRUE(writer->write(batch));
      ASSERT_TRUE(writer->commit(start + kCommitNs));
    }
  }

  static EventRun random_run(int rank, int lane, EventKind kind, std::int64_t start,
                             std::mt19937& random) {
    EventRun run{rank, lane, kind, {}};
    std::int64_t now = start;
    for (std::size_t i = 0; i < kEventsOfChunk; ++i) {
      Event event;
      event.start_ns = now;
      event.duration_ns = static_cast<std::int64_t>(random() % 4'000'000) - 1'000;
      event.name = random() % 6;
      event.flags = random() % 4 | random() % 3 << kEventDepthShift;
      event.correlation = random() % 1'000;
      event.value = static_cast<std::int64_t>(random() % 1'000'000) - 500'000;
      now += static_cast<std::int64_t>(random() % (kCommitNs / kEventsOfChunk * 2 - 40'000));
      now = std::min(now, start + kCommitNs - 5'000'000);
      run.events.push_back(event);
      events_->push_back({rank, lane, kind, event, name_of(rank, event.name)});
    }
    return run;
  }

  static QueryResult result(const std::string& sql) {
    const auto from_folder = query_run(run_, sql);
    EXPECT_TRUE(from_folder) << sql << ": " << from_folder.error().message;
    const auto from_packed = query_run(packed_, sql);
    EXPECT_TRUE(from_packed) << sql << ": " << from_packed.error().message;
    if (!from_folder || !from_packed) return {};
    EXPECT_EQ(from_folder->rows, from_packed->rows) << sql;
    EXPECT_EQ(from_folder->decoded_chunks, from_packed->decoded_chunks) << sql;
    return *from_folder;
  }
  static std::string value(const std::string& sql) {
    const QueryResult all = result(sql);
    return all.rows.empty() ? "nothing" : to_text(all.rows[0][0]);
  }
  static std::int64_t decoded(const std::string& sql) { return result(sql).decoded_chunks; }

  template <typename Holds>
  static std::int64_t count(EventKind kind, Holds&& holds) {
    return std::ranges::count_if(
        *events_, [&](const KnownEvent& known) { return known.kind == kind && holds(known); });
  }

  static inline Folder* folder_ = nullptr;
  static inline std::vector<KnownEvent>* events_ = nullptr;
  static inline fs::path run_, packed_;
};

TEST_F(EventTables, HoldEveryEventOfEveryRankInFull) {
  for (const auto& [table, kind] : {std::pair{"kernel", EventKind::kKernel},
                                    {"launch", EventKind::kLaunch},
                                    {"op", EventKind::kOperator},
                                    {"copy", EventKind::kCopy}}) {
    std::multiset<std::string> expected, got;
    for (const KnownEvent& known : *events_) {
      if (known.kind != kind) continue;
      const Event& event = known.event;
      const std::int64_t offset = (event.start_ns - kBegin) % kCommitNs;
      const std::int64_t step = 10 + (event.start_ns - kBegin) / kCommitNs;
      expected.insert(std::to_string(known.rank) + "," + std::to_string(known.lane) + "," +
                      std::to_string(offset < kCommitNs / 2 ? step : -1) + "," + known.name + "," +
                      std::to_string(event.start_ns) + "," + std::to_string(event.end_ns()) + "," +
                      std::to_string(event.duration_ns) + "," + std::to_string(event.correlation));
    }
    const QueryResult all = result(
        std::string("select rank, lane, step, name, start_ns, end_ns, duration_ns, correlation "
                    "from ") +
        table);
    for (const auto& row : all.rows) {
      std::string line;
      for (const QueryValue& one : row) line += (line.empty() ? "" : ",") + to_text(one);
      got.insert(line);
    }
    EXPECT_EQ(got, expected) << table;
  }
}

TEST_F(EventTables, HaveTheColumnsOfTheirKind) {
  const auto sum = [&](EventKind kind, auto figure) {
    std::int64_t total = 0;
    for (const KnownEvent& known : *events_) {
      if (known.kind == kind) total += figure(known.event);
    }
    return std::to_string(total);
  };
  const auto bytes = [](const Event& event) { return event.value; };
  EXPECT_EQ(value("select sum(bytes) from copy"), sum(EventKind::kCopy, bytes));
  EXPECT_EQ(value("select sum(bytes) from allocation"), sum(EventKind::kAllocation, bytes));
  EXPECT_EQ(value("select sum(depth) from op"),
            sum(EventKind::kOperator, [](const Event& event) { return event.depth(); }));
  EXPECT_EQ(value("select sum(is_leaf) from op"),
            sum(EventKind::kOperator, [](const Event& event) { return event.flags & kEventLeaf; }));
  EXPECT_EQ(value("select sum(is_compute) from kernel"),
            sum(EventKind::kKernel,
                [](const Event& event) { return (event.flags & kEventCompute) >> 1; }));
  EXPECT_EQ(value("select group_concat(distinct lane_name) from op where rank = 0 and lane = 0"),
            name_of(0, 1));
  EXPECT_THAT(result("select * from allocation limit 1").columns,
              ElementsAre("rank", "lane", "lane_name", "step", "name", "start_ns", "bytes"));
}

// The same by brute force, for every order that is given without sorting.
TEST_F(EventTables, GroupByNameAsBruteForceDoes) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
  for (const KnownEvent& known : *events_) {
    if (known.kind != EventKind::kKernel) continue;
    auto& [events, ns] = expected[known.name];
    ++events;
    ns += known.event.duration_ns;
  }
  const QueryResult all = result(
      "select name, count(*), sum(end_ns - start_ns) from kernel group by name order by name");
  ASSERT_EQ(all.rows.size(), expected.size());
  auto row = all.rows.begin();
  for (const auto& [name, figures] : expected) {
    EXPECT_EQ(*row++, (std::vector<QueryValue>{name, figures.first, figures.second}));
  }
  // Another way to the same: a plus hides the column from the planner, and SQLite sorts.
  for (const std::string keys : {"name", "rank, name", "name, rank", "lane, name, rank", "rank",
                                 "lane, rank", "lane_name", "rank, name, step"}) {
    std::string hidden;
    for (const char c : keys) hidden += c == ' ' ? std::string(" +") : std::string(1, c);
    const std::string figures = ", count(*), sum(duration_ns), min(start_ns), max(correlation) ";
    const std::string rows = figures + "from kernel where duration_ns > 1000 group by ";
    EXPECT_EQ(result("select " + keys + rows + keys + " order by " + keys).rows,
              result("select " + keys + rows + "+" + hidden + " order by +" + hidden).rows)
        << keys;
  }
}

TEST_F(EventTables, ComeInTheOrderThatIsAskedFor) {
  for (const std::string order :
       {"name", "name desc", "rank desc, name", "lane desc, rank", "name, lane desc"}) {
    std::string hidden = "+" + order;
    for (auto at = hidden.find(", "); at != hidden.npos; at = hidden.find(", ", at + 3)) {
      hidden.replace(at, 2, ", +");
    }
    const std::string sql = "select name, rank, lane from kernel order by ";
    EXPECT_EQ(result(sql + order).rows, result(sql + hidden).rows) << order;
  }
  EXPECT_EQ(result("select distinct name from op where name > ''").rows.size(), 5u);
}

TEST_F(EventTables, AnswerConditionsAsBruteForceDoes) {
  const std::int64_t middle = kBegin + 2 * kCommitNs + 300'000'000;
  const auto start = [](const KnownEvent& known) { return known.event.start_ns; };
  const auto end = [](const KnownEvent& known) { return known.event.end_ns(); };
  const std::string at = std::to_string(middle);
  const auto check = [&](const std::string& condition, auto holds) {
    EXPECT_EQ(value("select count(*) from op where " + condition),
              std::to_string(count(EventKind::kOperator, holds)))
        << condition;
  };
  check("start_ns < " + at, [&](auto& e) { return start(e) < middle; });
  check("start_ns <= " + at + " and end_ns > " + at,
        [&](auto& e) { return start(e) <= middle && end(e) > middle; });
  check("end_ns between " + at + " and " + at + " + 100000000",
        [&](auto& e) { return end(e) >= middle && end(e) <= middle + 100'000'000; });
  check("start_ns >= " + at + ".5", [&](auto& e) { return start(e) > middle; });
  check("rank > 0 and lane = 1", [](auto& e) { return e.rank > 0 && e.lane == 1; });
  check("rank <> 1 and rank != 7", [](auto& e) { return e.rank != 1; });
  check("rank in (0, 2, 9)", [](auto& e) { return e.rank != 1; });
  check("rank = 1.5", [](auto&) { return false; });
  check("rank = 'one'", [](auto&) { return false; });
  check("start_ns < 'text'", [](auto&) { return true; });
  check("rank = null", [](auto&) { return false; });
  check("name = null", [](auto&) { return false; });
  check("name = 'gemm'", [](auto& e) { return e.name == "gemm"; });
  check("name = 'gemm' collate nocase",
        [](auto& e) { return e.name == "gemm" || e.name == "Gemm"; });
  check("name in ('relu', 'softmax', null, 'absent')",
        [](auto& e) { return e.name == "relu" || e.name == "softmax"; });
  check("name like 'ge%'", [](auto& e) { return e.name == "gemm" || e.name == "Gemm"; });
  check("name not like 'ge%'", [](auto& e) { return e.name != "gemm" && e.name != "Gemm"; });
  check("name glob 'ge*'", [](auto& e) { return e.name == "gemm"; });
  check("name = 'it''s \"quoted\" 🚀'", [](auto& e) { return e.name.starts_with("it's"); });
  check("name = ''", [](auto& e) { return e.name.empty(); });
  const auto step = [&](const KnownEvent& e) {
    const bool inside = (start(e) - kBegin) % kCommitNs < kCommitNs / 2;
    return inside ? 10 + (start(e) - kBegin) / kCommitNs : -1;
  };
  check("step = 12", [&](auto& e) { return step(e) == 12; });
  check("step = -1", [&](auto& e) { return step(e) == -1; });
  check("step >= 13", [&](auto& e) { return step(e) >= 13; });
  check("step < 13", [&](auto& e) { return step(e) < 13; });
}

// Of each kind a rank has a chunk per lane and commit.
TEST_F(EventTables, DecodeOnlyChunksThatMayHoldAnAnswer) {
  const std::int64_t all = kRanks * kLanes * kCommits;
  const std::string second = std::to_string(kBegin + kCommitNs);
  const std::string late = std::to_string(kBegin + kCommitNs - 2'000'000);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel"), all);
  EXPECT_EQ(decoded("select count(*) from kernel"), 0);
  EXPECT_EQ(decoded("select rank, lane, count(*) from kernel where rank < 2 group by 1, 2"), 0);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where rank = 1"), all / kRanks);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where rank in (0, 2)"), 2 * all / kRanks);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where rank = 1 and lane = 0"), kCommits);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where start_ns < " + late),
            all / kCommits);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where rank = 2 and lane = 1 and "
                    "end_ns > " +
                    second + " and start_ns < " + second + " + 1000"),
            1);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where step = 13"), all / kCommits);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where name = 'absent'"), 0);
  EXPECT_EQ(decoded("select sum(duration_ns) from kernel where name in ('gemm', 'relu')"), all);
  EXPECT_EQ(decoded("select name, sum(duration_ns) from kernel where lane = 0 group by name"),
            all / kLanes);
  EXPECT_EQ(decoded("select sum(k.duration_ns) from step s join kernel k on k.rank = s.rank and "
                    "k.start_ns >= s.start_ns and k.start_ns < s.end_ns where s.step = 11 and "
                    "s.rank = 0"),
            kLanes);
}

TEST_F(EventTables, JoinWithRowsAndEachOther) {
  EXPECT_EQ(value("select count(*) from step s join op o on o.rank = s.rank and "
                  "o.start_ns >= s.start_ns and o.start_ns < s.end_ns"),
            value("select count(*) from op where step >= 0"));
  EXPECT_EQ(value("select count(*) from lane l join kernel k using (rank, lane) "
                  "where l.kind = 'compute'"),
            std::to_string(count(EventKind::kKernel, [](auto& e) { return e.lane == 1; })));
}

// Nested loops without the index would decode all chunks for every row.
TEST_F(EventTables, JoinByCorrelationWithoutAScanPerRow) {
  const std::string columns = "select k.rank, k.correlation, k.start_ns, l.start_ns, l.name from ";
  const std::string join = " on l.rank = k.rank and l.correlation = k.correlation ";
  const std::string end =
      "where k.name = 'gemm' and k.duration_ns > 1000000 and k.correlation > 0 "
      "order by 1, 2, 3, 4";
  const QueryResult joined = result(columns + "kernel k join launch l" + join + end);
  const QueryResult hidden =
      result(columns + "kernel k join (select * from launch limit 1000000) l" + join + end);
  std::size_t pairs = 0;
  for (const KnownEvent& kernel : *events_) {
    if (kernel.kind != EventKind::kKernel || kernel.name != "gemm" ||
        kernel.event.duration_ns <= 1'000'000 || kernel.event.correlation == 0) {
      continue;
    }
    pairs += static_cast<std::size_t>(count(EventKind::kLaunch, [&](const KnownEvent& launch) {
      return launch.rank == kernel.rank && launch.event.correlation == kernel.event.correlation;
    }));
  }
  ASSERT_GT(pairs, 500u);
  EXPECT_EQ(joined.rows.size(), pairs);
  EXPECT_EQ(joined.rows, hidden.rows);
  // The scan of one side, the index of the other, and the chunks of that again.
  EXPECT_LE(joined.decoded_chunks, 3 * kRanks * kLanes * kCommits);
  EXPECT_EQ(value("select count(*) from op where correlation = 77"),
            std::to_string(
                count(EventKind::kOperator, [](auto& e) { return e.event.correlation == 77; })));
  EXPECT_EQ(value("select count(*) from op where correlation = 0"),
            std::to_string(
                count(EventKind::kOperator, [](auto& e) { return e.event.correlation == 0; })));
  EXPECT_EQ(value("select count(*) from op where correlation = 77 and lane = 1 and rank <> 2"),
            std::to_string(count(EventKind::kOperator, [](auto& e) {
              return e.event.correlation == 77 && e.lane == 1 && e.rank != 2;
            })));
  EXPECT_EQ(value("select count(*) from op where correlation = null"), "0");
  EXPECT_EQ(value("select count(*) from op where correlation = 76.5"), "0");
}

TEST_F(EventTables, CannotBeWrittenOrNamedAnew) {
  for (const char* sql :
       {"delete from kernel", "update op set rank = 1", "insert into copy(rank) values(1)",
        "create table kernel(a)", "create virtual table temp.k using kernel", "drop table op"}) {
    const auto failed = query_run(run_, sql);
    ASSERT_FALSE(failed) << sql;
    EXPECT_EQ(failed.error().kind, ErrorKind::kUsage) << sql;
  }
}

TEST_F(EventTables, AreNotInTheTraceItself) {
  auto database = Database::open(packed_.string(), SQLITE_OPEN_READONLY, "packed");
  ASSERT_TRUE(database);
  EXPECT_EQ(*database->integer("select count(*) from sqlite_schema where sql like '%virtual%' or "
                               "name in ('kernel', 'op', 'launch', 'copy', 'allocation')"),
            0);
}

TEST_F(EventTables, AreListedWithTheirColumnsWhereAQueryIsWrong) {
  const auto column = query_run(run_, "select nonsense from kernel where rank = 1");
  ASSERT_FALSE(column);
  EXPECT_THAT(column.error().message, HasSubstr("Columns of kernel: rank, lane, lane_name, step"));
  const auto table = query_run(run_, "select 1 from kernels");
  ASSERT_FALSE(table);
  EXPECT_THAT(table.error().message, HasSubstr("kernel, launch, op, copy, allocation"));
}

TEST_F(EventTables, ShowWhatARunningJobHasCommitted) {
  RunInfo info = test::run_info("live", 1);
  const auto run = *create_run(folder_->path(), info, false);
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  for (int commit = 1; commit <= 3; ++commit) {
    Batch batch;
    if (commit == 1) batch.strings = {{0, 1, "live"}};
    batch.events = {{0, 0, EventKind::kKernel, {{kBegin + commit, 5, 1, 0, 0, 0}}}};
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit(kBegin + commit));
    const auto count = query_run(run, "select count(*), min(name) from kernel where name = 'live'");
    ASSERT_TRUE(count) << count.error().message;
    EXPECT_EQ(count->rows[0][0], QueryValue(std::int64_t{commit}));
  }
}

TEST_F(EventTables, EndAtOnceWhenInterrupted) {
  QueryOptions options;
  int asked = 0;
  options.interrupted = [&] { return ++asked > 4; };
  const auto stopped =
      query_run(run_, "select name, sum(duration_ns) from kernel group by name", options);
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, ErrorKind::kFailed);
  EXPECT_LT(asked, 8);
}

TEST_F(EventTables, FailOnlyWhereTheRowOfADamagedChunkWouldBeNeeded) {
  for (const std::string damage :
       {"kind = 'kernol'", "count = -1", "count = 1 << 50", "rank = 1 << 40"}) {
    const fs::path copy = *folder_ / "headers.shardlens";
    fs::copy_file(packed_, copy, fs::copy_options::overwrite_existing);
    {
      auto database = Database::open(copy.string(), SQLITE_OPEN_READWRITE, "copy");
      ASSERT_TRUE(database);
      ASSERT_TRUE(database->execute("update chunk set " + damage +
                                    " where rank = 1 and kind = 'kernel' and lane = 1"));
    }
    for (const char* sql : {"select count(*) from kernel", "select sum(duration_ns) from kernel",
                            "select name, count(*) from kernel group by name"}) {
      const auto failed = query_run(copy, sql);
      ASSERT_FALSE(failed) << damage << sql;
      EXPECT_EQ(failed.error().kind, ErrorKind::kDamaged);
      EXPECT_THAT(failed.error().message, HasSubstr("rank 1, lane 1"));
    }
    EXPECT_TRUE(query_run(copy, "select sum(duration_ns) from kernel where rank = 1 and lane = 0"));
    EXPECT_TRUE(query_run(copy, "select count(*) from op where rank <> 1"));
  }
}

// Whatever is hit: an answer, or an error of the file.
TEST_F(EventTables, AnswerOrExplainWithAFlippedBitAnywhere) {
  const fs::path copy = *folder_ / "flipped.shardlens";
  int failed = 0, answered = 0;
  const auto size = fs::file_size(packed_);
  for (std::uintmax_t offset = 7; offset < size; offset += size / 60) {
    fs::copy_file(packed_, copy, fs::copy_options::overwrite_existing);
    {
      std::fstream stream(copy, std::ios::in | std::ios::out | std::ios::binary);
      stream.seekg(static_cast<std::streamoff>(offset));
      const int byte = stream.get();
      stream.seekp(static_cast<std::streamoff>(offset));
      stream.put(static_cast<char>(byte ^ 1 << offset % 8));
    }
    for (const char* sql :
         {"select name, lane_name, step, sum(bytes), count(*) from copy group by 1, 2, 3",
          "select count(*) from kernel k join launch l using (rank, correlation)"}) {
      const auto answer = query_run(copy, sql);
      ++(answer ? answered : failed);
      if (answer) continue;
      EXPECT_NE(answer.error().kind, ErrorKind::kUsage) << answer.error().message;
    }
  }
  EXPECT_GT(failed, 0);
  EXPECT_GT(answered, 0);
}

TEST_F(EventTables, NameTheChunkThatIsDamagedAndReadTheOthers) {
  const fs::path copy = *folder_ / "damaged.shardlens";
  fs::copy_file(packed_, copy);
  {
    auto database = Database::open(copy.string(), SQLITE_OPEN_READWRITE, "copy");
    ASSERT_TRUE(database);
    ASSERT_TRUE(
        database->execute("update chunk set data = zeroblob(50) where rank = 1 and "
                          "kind = 'kernel' and lane = 1"));
  }
  const auto failed = query_run(copy, "select sum(duration_ns) from kernel");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::kDamaged);
  EXPECT_THAT(failed.error().message, HasSubstr("rank 1, lane 1"));
  const auto others = query_run(copy, "select count(start_ns) from kernel where rank <> 1");
  ASSERT_TRUE(others) << others.error().message;
  EXPECT_EQ(others->rows[0][0],
            QueryValue(count(EventKind::kKernel, [](auto& e) { return e.rank != 1; })));
}

}  // namespace
}  // namespace shardlens::trace
