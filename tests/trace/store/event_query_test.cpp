#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/trace/store/testing/known_events.h"

namespace shardlens::trace::store {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(EventTables, HoldEveryEventOfEveryRankInFull) {
  for (const auto& [table, kind] : {std::pair{"kernel", model::EventKind::kKernel},
                                    {"launch", model::EventKind::kLaunch},
                                    {"op", model::EventKind::kOperator},
                                    {"copy", model::EventKind::kCopy}}) {
    std::multiset<std::string> expected, got;
    for (const KnownEvent& known : *events_) {
      if (known.kind != kind) continue;
      const model::Event& event = known.event;
      const std::int64_t offset = (event.start_ns - kBegin) % kCommitNs;
      const std::int64_t step = 10 + (event.start_ns - kBegin) / kCommitNs;
      expected.insert(std::to_string(known.rank) + "," + std::to_string(known.lane) + "," +
                      std::to_string(offset < kCommitNs / 2 ? step : -1) + "," + known.name + "," +
                      std::to_string(event.start_ns) + "," + std::to_string(event.end_ns()) + "," +
                      std::to_string(event.duration_ns) + "," +
                      (event.correlation == 0 ? "" : std::to_string(event.correlation)));
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
  const auto sum = [&](model::EventKind kind, auto figure) {
    std::int64_t total = 0;
    for (const KnownEvent& known : *events_) {
      if (known.kind == kind) total += figure(known.event);
    }
    return std::to_string(total);
  };
  const auto bytes = [](const model::Event& event) { return event.value; };
  EXPECT_EQ(value("select sum(bytes) from copy"), sum(model::EventKind::kCopy, bytes));
  EXPECT_EQ(value("select sum(bytes) from allocation"), sum(model::EventKind::kAllocation, bytes));
  EXPECT_EQ(
      value("select sum(depth) from op"),
      sum(model::EventKind::kOperator, [](const model::Event& event) { return event.depth(); }));
  EXPECT_EQ(value("select sum(is_leaf) from op"),
            sum(model::EventKind::kOperator,
                [](const model::Event& event) { return event.flags & model::kEventLeaf; }));
  EXPECT_EQ(value("select sum(is_compute) from kernel"),
            sum(model::EventKind::kKernel, [](const model::Event& event) {
              return (event.flags & model::kEventCompute) >> 1;
            }));
  EXPECT_EQ(value("select group_concat(distinct lane_name) from op where rank = 0 and lane = 0"),
            name_of(0, 1));
  EXPECT_THAT(result("select * from allocation limit 1").columns,
              ElementsAre("rank", "lane", "lane_name", "step", "name", "start_ns", "end_ns",
                          "duration_ns", "bytes", "address", "category", "is_older", "is_freed"));
}

TEST_F(EventTables, TellOfAllocationsWhatForAndHowLong) {
  std::map<std::string, std::int64_t> bytes_by_category;
  std::int64_t older = 0, freed = 0, addresses = 0, ends = 0, moments = 0;
  for (const KnownEvent& known : *events_) {
    if (known.kind != model::EventKind::kAllocation) continue;
    const auto category = model::category_of(known.event.flags);
    bytes_by_category[category ? std::string(model::to_string(*category)) : ""] +=
        known.event.value;
    older += category && (known.event.flags & model::kEventOlder) != 0 ? 1 : 0;
    freed += category && (known.event.flags & model::kEventNotFreed) == 0 ? 1 : 0;
    moments += category ? 0 : 1;
    if (category) addresses += static_cast<std::int64_t>(known.event.correlation);
    ends += known.event.duration_ns;
  }
  EXPECT_EQ(bytes_by_category.size(), model::kMemoryCategoryCount + 1u)
      << "with those of no category";
  const QueryResult got =
      result("select category, sum(bytes) from allocation group by category order by category");
  ASSERT_EQ(got.rows.size(), bytes_by_category.size());
  auto row = got.rows.begin();
  for (const auto& [category, bytes] : bytes_by_category) {
    EXPECT_EQ(*row++, (std::vector<QueryValue>{category, bytes}));
  }
  EXPECT_EQ(value("select sum(is_older) from allocation"), std::to_string(older));
  EXPECT_EQ(value("select sum(is_freed) from allocation"), std::to_string(freed));
  EXPECT_EQ(value("select sum(address) from allocation"), std::to_string(addresses));
  EXPECT_EQ(value("select sum(end_ns - start_ns) from allocation"), std::to_string(ends));
  for (const char* column : {"address", "is_older", "is_freed"}) {
    const std::string is_null = std::string(" from allocation where ") + column + " is null";
    EXPECT_EQ(value("select count(*)" + is_null), std::to_string(moments)) << column;
    EXPECT_EQ(value("select count(*)" + is_null + " and category <> ''"), "0") << column;
  }
}

// The same by brute force, for every order that is given without sorting.
TEST_F(EventTables, GroupByNameAsBruteForceDoes) {
  std::map<std::string, std::pair<std::int64_t, std::int64_t>> expected;
  for (const KnownEvent& known : *events_) {
    if (known.kind != model::EventKind::kKernel) continue;
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
              std::to_string(count(model::EventKind::kOperator, holds)))
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
            std::to_string(count(model::EventKind::kKernel, [](auto& e) { return e.lane == 1; })));
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
    if (kernel.kind != model::EventKind::kKernel || kernel.name != "gemm" ||
        kernel.event.duration_ns <= 1'000'000 || kernel.event.correlation == 0) {
      continue;
    }
    pairs +=
        static_cast<std::size_t>(count(model::EventKind::kLaunch, [&](const KnownEvent& launch) {
          return launch.rank == kernel.rank && launch.event.correlation == kernel.event.correlation;
        }));
  }
  ASSERT_GT(pairs, 500u);
  EXPECT_EQ(joined.rows.size(), pairs);
  EXPECT_EQ(joined.rows, hidden.rows);
  // The scan of one side, the index of the other, and the chunks of that again.
  EXPECT_LE(joined.decoded_chunks, 3 * kRanks * kLanes * kCommits);
  EXPECT_EQ(value("select count(*) from op where correlation = 77"),
            std::to_string(count(model::EventKind::kOperator,
                                 [](auto& e) { return e.event.correlation == 77; })));
  EXPECT_EQ(value("select count(*) from op where correlation = 0"), "0") << "none is no number";
  EXPECT_EQ(value("select count(*) from op where correlation is null"),
            std::to_string(count(model::EventKind::kOperator,
                                 [](auto& e) { return e.event.correlation == 0; })));
  EXPECT_EQ(value("select count(*) from op where correlation = 77 and lane = 1 and rank <> 2"),
            std::to_string(count(model::EventKind::kOperator, [](auto& e) {
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
    EXPECT_EQ(failed.error().kind, base::ErrorKind::kUsage) << sql;
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

}  // namespace
}  // namespace shardlens::trace::store
