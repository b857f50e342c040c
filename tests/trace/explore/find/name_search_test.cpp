// Counts and neighbours of a search against a look at every event.
#include "trace/explore/find/name_search.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <map>
#include <regex>
#include <set>

#include "tests/trace/explore/testing/random_run.h"
#include "trace/explore/run/run_snapshot.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace::explore {
namespace {

using test::RandomEvent;
using test::RandomRun;
using test::RandomRunOptions;
using testing::HasSubstr;
using Key = std::pair<std::string, timeline::EventTableKind>;

timeline::EventTableKind table_of(model::EventKind kind) {
  constexpr timeline::EventTableKind kTables[] = {
      timeline::EventTableKind::kOperator, timeline::EventTableKind::kKernel,
      timeline::EventTableKind::kLaunch, timeline::EventTableKind::kCopy,
      timeline::EventTableKind::kAllocation};
  return kTables[static_cast<std::size_t>(kind)];
}

// Everything that can be found: its name, table, begin and length.
struct Known {
  std::string name;
  timeline::EventTableKind table = timeline::EventTableKind::kNone;
  int rank = 0;
  std::int64_t start_ns = 0, duration_ns = 0;
  std::vector<std::string> function = {};  // of a collective, as it is written
};

std::vector<std::string> written(model::CollectiveFunction function) {
  switch (function) {
    case model::CollectiveFunction::kAllReduce:
      return {"all_reduce", "all-reduce", "AllReduce"};
    case model::CollectiveFunction::kReduceScatter:
      return {"reduce_scatter", "reduce-scatter", "ReduceScatter"};
    default:
      return {"all_gather", "all-gather", "AllGather"};
  }
}

class NameSearches : public testing::Test {
 protected:
  NameSearches() : run_({.events_of_chunk = 150}), texts_{"", "bucket 1", "gemm of spans", "loss"} {
    store_ = *store::EventStore::open(run_.path(), {16 << 20, 2});
    search_ = std::make_unique<NameSearch>(*store_);
    for (const RandomEvent& one : run_.events()) {
      if (one.kind == model::EventKind::kAllocation) continue;
      known_.push_back({one.name, table_of(one.kind), one.rank, one.event.start_ns,
                        std::max<std::int64_t>(0, one.event.duration_ns)});
    }
    for (int rank = 0; rank < 3; ++rank) add_rows(rank);
  }

  void add_rows(int rank) {
    auto rows = std::make_shared<RankRows>();
    rows->labels = texts_;
    for (const auto& [row, id] : run_.calls()[static_cast<std::size_t>(rank)]) {
      rows->collectives.rows.push_back(row);
      model::Span span;
      span.start_ns = row.start_ns + 17;
      span.end_ns = row.end_ns + 4'000;
      rows->spans.rows.push_back(span);
      const std::string& text = texts_[static_cast<std::size_t>(id % 4)];
      for (auto* const labels : {&rows->spans.labels, &rows->collectives.labels})
        labels->push_back(static_cast<std::uint32_t>(id % 4));
      for (auto* const ids : {&rows->spans.ids, &rows->collectives.ids}) ids->push_back(id);
      known_.push_back({text, timeline::EventTableKind::kCollective, rank, row.start_ns,
                        std::max<std::int64_t>(0, row.end_ns - row.start_ns),
                        written(row.function)});
      known_.push_back({text, timeline::EventTableKind::kSpan, rank, span.start_ns,
                        std::max<std::int64_t>(0, span.end_ns - span.start_ns)});
    }
    snapshot_.ranks.emplace_back().rank = rank;
    snapshot_.ranks.back().rows = std::move(rows);
  }
  const RunSnapshot& rows() const { return snapshot_; }

  // Names and labels that an expression means, by the standard's own engine.
  std::set<std::string> matching(const std::string& text) const {
    std::set<std::string> names;
    for (const Known& one : known_) names.insert(one.name);
    std::erase_if(names, [pattern = std::regex(text)](const std::string& name) {
      return !std::regex_search(name, pattern);
    });
    return names;
  }
  static bool is_function(const Known& one, const std::string& text) {
    return std::ranges::any_of(one.function, [&](const std::string& name) {
      return std::regex_search(name, std::regex(text));
    });
  }
  std::optional<Known> neighbour(const std::set<std::string>& names, int direction,
                                 std::int64_t from) {
    std::optional<Known> best;
    for (const Known& one : known_) {
      if (direction > 0 ? one.start_ns <= from : one.start_ns >= from) continue;
      if (!names.contains(one.name)) continue;
      const bool is_nearer =
          !best || (direction > 0 ? one.start_ns < best->start_ns : one.start_ns > best->start_ns);
      if (is_nearer) best = one;
    }
    return best;
  }

  RandomRun run_;
  std::unique_ptr<store::EventStore> store_;
  std::unique_ptr<NameSearch> search_;
  std::vector<std::string> texts_;
  RunSnapshot snapshot_;
  std::vector<Known> known_;
};

TEST_F(NameSearches, CountEveryNameThatAnExpressionMeans) {
  const RunSnapshot& all = rows();
  for (const std::string text :
       {"gemm", "^aten::", "kernel<4>$", "a", "l.*e|[0-9]{2}", "nothing", "ReduceScatter",
        "all-(gather|reduce)", "^all_reduce$", "^AllGather.*"}) {
    SCOPED_TRACE(text);
    const auto names = matching(text);
    std::map<Key, std::pair<std::int64_t, std::int64_t>> expected;
    std::int64_t count = 0;
    for (const Known& one : known_) {
      if (!names.contains(one.name) && !is_function(one, text)) continue;
      auto& sum = expected[{one.name, one.table}];
      ++sum.first;
      sum.second += one.duration_ns;
      ++count;
    }
    const auto hits = search_->find({text, false, false}, all);
    ASSERT_TRUE(hits) << hits.error().message;
    EXPECT_EQ(hits->problem, "");
    EXPECT_TRUE(hits->is_complete);
    EXPECT_EQ(hits->count, count);
    ASSERT_EQ(hits->names.size(), expected.size());
    for (std::size_t i = 0; i < hits->names.size(); ++i) {
      const timeline::NameHit& hit = hits->names[i];
      const auto sum = expected.at({hit.name, hit.table});
      EXPECT_EQ(hit.count, sum.first) << hit.name;
      EXPECT_EQ(hit.total_ns, sum.second) << hit.name;
      EXPECT_LE(hit.count, hits->names[i > 0 ? i - 1 : 0].count);
    }
  }
}

TEST_F(NameSearches, CountOnlyWhatBeginsBeforeATime) {
  const RunSnapshot& all = rows();
  const std::int64_t length = run_.end_ns() - RandomRun::kBegin;
  std::set<std::int64_t> counts;
  for (const auto& [text, is_plain] : {std::pair("gemm|loss", false), {"aten::add_", true}}) {
    const auto names = is_plain ? std::set<std::string>{text} : matching(text);
    for (int i = 0; i <= 10; ++i) {
      const std::int64_t until = RandomRun::kBegin - 1'000 + length * i / 9;
      SCOPED_TRACE(text + std::string(" until ") + std::to_string(until));
      std::int64_t count = 0, total_ns = 0, found_ns = 0;
      for (const Known& one : known_) {
        if (one.start_ns >= until || !names.contains(one.name)) continue;
        ++count;
        total_ns += one.duration_ns;
      }
      const auto hits = search_->find({text, is_plain, false}, all, {}, until);
      ASSERT_TRUE(hits);
      EXPECT_EQ(hits->count, count);
      for (const timeline::NameHit& hit : hits->names) found_ns += hit.total_ns;
      EXPECT_EQ(found_ns, total_ns);
      for (const timeline::HitInstance& one : hits->instances) EXPECT_LT(one.place.start_ns, until);
      counts.insert(count);
    }
  }
  EXPECT_GT(counts.size(), 10u);
}

TEST_F(NameSearches, TakePlainPatternsAsTheWholeName) {
  EXPECT_GT(search_->find({"vectorized_elementwise_kernel<4>", true, true}, {})->count, 0);
  EXPECT_EQ(search_->find({"Vectorized_elementwise_kernel<4>", true, true}, {})->count, 0);
  EXPECT_EQ(search_->find({"gemm", true, true}, {})->count, 0);
  EXPECT_EQ(search_->find({"", true, true}, rows())->count, 0);
  EXPECT_EQ(search_->find({"", false, true}, rows())->count, 0);
}

TEST_F(NameSearches, FindCollectivesByTheirFunction) {
  std::set<std::int64_t> starts;
  for (const Known& one : known_) {
    if (is_function(one, "all_gather")) starts.insert(one.start_ns);
  }
  ASSERT_GT(starts.size(), 10u);
  std::set<std::int64_t> found;
  for (std::int64_t from = INT64_MIN;;) {
    const auto hit = search_->neighbour_hit({"allgather|all.gather", false, true}, 1, from, rows());
    if (!hit) break;
    found.insert(from = hit->start_ns);
  }
  EXPECT_EQ(found, starts);
  EXPECT_EQ(search_->find({"all_gather", true, true}, rows())->count, 0)
      << "a plain pattern is what an event is called";
}

TEST_F(NameSearches, ObeyCase) {
  EXPECT_EQ(search_->find({"GEMM", false, false}, rows())->count, 0);
  EXPECT_EQ(search_->find({"GEMM", false, true}, rows())->count,
            search_->find({"gemm", false, false}, rows())->count);
}

TEST_F(NameSearches, ExplainWhatIsWrongWithAnExpression) {
  const auto unfinished = search_->find({"gemm(", false, true}, rows());
  ASSERT_TRUE(unfinished);
  EXPECT_THAT(unfinished->problem, HasSubstr("missing )"));
  EXPECT_TRUE(unfinished->names.empty());
  EXPECT_THAT(search_->find({"(a)\\1", false, true}, {})->problem, HasSubstr("cannot be read"));
  EXPECT_THAT(search_->find({std::string(100'000, 'a'), false, true}, {})->problem,
              HasSubstr("too long"));
  EXPECT_NE(search_->find({"((((a{100}){100}){100}){100})", false, true}, {})->problem, "");
  EXPECT_FALSE(search_->neighbour_hit({"gemm(", false, true}, 1, 0, rows()));
}

// Backtracking engines need longer than the universe exists for it.
TEST_F(NameSearches, TakeNoLongerForExpressionsThatAreMadeToHang) {
  auto rows = std::make_shared<RankRows>();
  rows->labels = {std::string(5'000, 'a') + "b"};
  rows->spans.rows.resize(1);
  rows->spans.ids = {1};
  rows->spans.labels = {0};
  RunSnapshot run;
  run.ranks.emplace_back().rows = std::move(rows);
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_EQ(search_->find({"^(a+)+(a+)+X$", false, true}, run)->count, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begun, std::chrono::seconds(5));
}

TEST_F(NameSearches, WalkThroughAllHitsInBothDirections) {
  const RunSnapshot& all = rows();
  for (const std::string text : {"gemm", "aten::mm|loss", "wide"}) {
    SCOPED_TRACE(text);
    const auto names = matching(text);
    std::set<std::int64_t> starts;
    for (const Known& one : known_) {
      if (names.contains(one.name)) starts.insert(one.start_ns);
    }
    std::vector<std::int64_t> forward, backward;
    for (std::int64_t from = INT64_MIN;;) {
      const auto hit = search_->neighbour_hit({text, false, false}, 1, from, all);
      if (!hit) break;
      forward.push_back(from = hit->start_ns);
    }
    for (std::int64_t from = INT64_MAX;;) {
      const auto hit = search_->neighbour_hit({text, false, false}, -1, from, all);
      if (!hit) break;
      backward.push_back(from = hit->start_ns);
    }
    EXPECT_EQ(forward, std::vector(starts.begin(), starts.end()));
    EXPECT_EQ(backward, std::vector(starts.rbegin(), starts.rend()));
  }
}

TEST_F(NameSearches, FindTheNearestHitFromAnyTime) {
  const RunSnapshot& all = rows();
  const std::int64_t length = run_.end_ns() - RandomRun::kBegin;
  int found = 0;
  for (const std::string text : {"flash", "tiny", "bucket", "nowhere"}) {
    const auto names = matching(text);
    for (int i = 0; i <= 40; ++i) {
      const std::int64_t from = RandomRun::kBegin - 1'000 + length * i / 39;
      for (const int direction : {1, -1}) {
        const auto expected = neighbour(names, direction, from);
        NameSearch fresh(*store_);
        const auto hit = fresh.neighbour_hit({text, false, false}, direction, from, all);
        ASSERT_EQ(hit.has_value(), expected.has_value()) << text << " from " << from;
        if (!hit) continue;
        ++found;
        EXPECT_EQ(hit->start_ns, expected->start_ns);
        EXPECT_GE(hit->ref.rank, 0);
      }
    }
  }
  EXPECT_GT(found, 200);
}

TEST_F(NameSearches, LeadToTheEventItself) {
  const auto hit = search_->neighbour_hit({"aten::add_", true, false}, 1, INT64_MIN, {});
  ASSERT_TRUE(hit);
  const auto& chunks = *store_->chunks();
  const auto chunk = std::ranges::find_if(chunks, [&](const store::ChunkEntry& one) {
    return one.rank == hit->ref.rank && one.row_id == hit->ref.row;
  });
  ASSERT_NE(chunk, chunks.end());
  const auto events = store_->load_whole(*chunk);
  ASSERT_TRUE(events);
  const model::Event& event = (*events)[hit->ref.index];
  EXPECT_EQ(table_of(chunk->kind), hit->ref.table);
  EXPECT_EQ(store_->names().text(chunk->rank, event.name), "aten::add_");
  EXPECT_EQ(event.start_ns, hit->start_ns);
  EXPECT_EQ(event.end_ns(), hit->end_ns);
}

TEST_F(NameSearches, DecodeNothingForNamesThatNobodyHasAndNothingTwice) {
  EXPECT_EQ(search_->find({"nobody is called this", false, true}, rows())->count, 0);
  EXPECT_EQ(store_->decoded_chunks(), 0);
  const auto tiny = store::EventStore::open(run_.path(), {1, 2});  // a cache that keeps nothing
  NameSearch search(**tiny);
  EXPECT_GT(search.find({"gemm", false, true}, {})->count, 0);
  const auto decoded = (*tiny)->decoded_chunks();
  EXPECT_GT(decoded, 0);
  EXPECT_GT(search.find({"flash", false, true}, {})->count, 0);
  EXPECT_EQ((*tiny)->decoded_chunks(), decoded);
  EXPECT_TRUE(search.neighbour_hit({"flash", false, true}, 1, RandomRun::kBegin, {}));
  EXPECT_LT((*tiny)->decoded_chunks(), decoded + decoded / 2);
}

TEST_F(NameSearches, GiveUpWhenNoLongerWanted) {
  std::atomic<int> asked = 0;
  const auto stopped = search_->find({"gemm", false, true}, {}, [&] { return ++asked < 3; });
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().kind, base::ErrorKind::kFailed);
  EXPECT_GT(search_->find({"gemm", false, true}, {})->count, 0);
}

TEST(NameSearch, FindsWhatARunningJobHasAdded) {
  test::Folder folder;
  model::RunInfo info = test::run_info("searched", 1);
  const auto run = *store::create_run(folder.path(), info, false);
  auto writer = store::RowWriter::create_file(store::rank_file(run, 0), 0);
  ASSERT_TRUE(writer);
  const auto store = std::move(*store::EventStore::open(run));
  NameSearch search(*store);
  for (int commit = 1; commit <= 4; ++commit) {
    model::Batch batch;
    const auto id = static_cast<model::StringId>(commit);
    const std::int64_t start_ns = RandomRun::kBegin + commit;
    batch.strings = {{0, id, "live " + std::to_string(commit)}};
    batch.events = {{0, 0, model::EventKind::kKernel, {{start_ns, 5, id, 0, 0, 0}}}};
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->commit(start_ns));
    ASSERT_TRUE(store->refresh());
    EXPECT_EQ(search.find({"live", false, true}, {})->count, commit);
    const auto last = search.neighbour_hit({"live", false, true}, -1, INT64_MAX, {});
    ASSERT_TRUE(last);
    EXPECT_EQ(last->start_ns, start_ns);
  }
}

}  // namespace
}  // namespace shardlens::trace::explore
