// Chunks of a whole run as columns, against the events that were written.
#include "trace/store/chunk/event_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <tuple>

#include "tests/trace/store/testing/known_events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_file.h"

namespace shardlens::trace::store {
namespace {

// In a constant a sum that overflows does not compile: the rank stands above 40 bits in packed
// runs.
constexpr std::size_t hash_of_rank(std::int64_t rank) {
  return ChunkKeyHash()({.file = 0, .row_id = (rank << 40) + 7});
}
static_assert(hash_of_rank(1023) != hash_of_rank(9));
static_assert(ChunkKeyHash()({.file = -1, .row_id = INT64_MAX}) != 0);

namespace fs = std::filesystem;
using testing::HasSubstr;

// Everything of an event that columns have, under its name. Values: of copies.
using EventText = std::tuple<int, int, model::EventKind, std::int64_t, std::int64_t, std::string,
                             std::uint32_t, std::int64_t>;

class EventStores : public EventTables {
 protected:
  static std::unique_ptr<EventStore> store(const fs::path& run, EventStoreOptions options = {}) {
    auto opened = EventStore::open(run, options);
    EXPECT_TRUE(opened) << opened.error().message;
    return opened ? std::move(*opened) : nullptr;
  }
  static std::vector<EventText> events_of(const EventStore& store, const ChunkEntry& chunk,
                                          const EventColumns& columns) {
    std::vector<EventText> events;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(columns.end_ns(i), columns.start_ns(i) + columns.duration_ns(i));
      events.emplace_back(chunk.rank, chunk.lane, chunk.kind, columns.start_ns(i),
                          columns.duration_ns(i),
                          std::string(store.names().text(chunk.rank, columns.name(i))),
                          columns.flags(i), columns.value(i));
    }
    return events;
  }
  static std::vector<EventText> known() {
    std::vector<EventText> all;
    for (const KnownEvent& one : *events_) {
      all.emplace_back(one.rank, one.lane, one.kind, one.event.start_ns, one.event.duration_ns,
                       one.name, one.event.flags,
                       one.kind == model::EventKind::kCopy ? one.event.value : 0);
    }
    std::ranges::sort(all);
    return all;
  }
  // A copy of the packed run, changed by SQL.
  static fs::path damaged(const std::string& sql) {
    const fs::path copy = *folder_ / "store_damage.shardlens";
    fs::copy_file(packed_, copy, fs::copy_options::overwrite_existing);
    test::change_file(copy, sql);
    return copy;
  }
};

TEST_F(EventStores, GiveEveryEventOfAFolderAndOfAPackedFileOnce) {
  for (const fs::path& run : {run_, packed_}) {
    for (const int threads : {1, 3}) {
      const auto opened = store(run, {1 << 20, threads});
      std::vector<std::vector<EventText>> found(static_cast<std::size_t>(opened->threads()));
      const auto visit = opened->visit(
          *opened->chunks(), [&](int worker, const ChunkEntry& chunk, const EventColumns& columns) {
            auto& all = found[static_cast<std::size_t>(worker)];
            const auto events = events_of(*opened, chunk, columns);
            all.insert(all.end(), events.begin(), events.end());
          });
      EXPECT_TRUE(visit.finished);
      EXPECT_EQ(visit.unreadable, 0);
      EXPECT_EQ(visit.visited, static_cast<std::int64_t>(opened->chunks()->size()));
      std::vector<EventText> all;
      for (const auto& some : found) all.insert(all.end(), some.begin(), some.end());
      std::ranges::sort(all);
      EXPECT_EQ(all, known());
    }
  }
}

TEST_F(EventStores, ReadNoDataToOpen) {
  const auto opened = store(run_);
  EXPECT_EQ(opened->chunks()->size(),
            std::size_t{kRanks * kLanes * kCommits * model::kEventKindCount});
  EXPECT_EQ(opened->decoded_chunks(), 0);
  EXPECT_EQ(opened->cached_bytes(), 0U);
}

TEST_F(EventStores, FindTheChunksOfALaneThatTouchARange) {
  const auto opened = store(packed_);
  const auto count = [&](std::int64_t from, std::int64_t to) {
    return opened->chunks_in(1, 1, model::EventKind::kCopy, kBegin + from, kBegin + to).size();
  };
  EXPECT_EQ(count(0, kCommits * kCommitNs), std::size_t{kCommits});
  EXPECT_EQ(count(kCommitNs + kCommitNs / 2, kCommitNs + kCommitNs / 2 + 1), 1U);
  EXPECT_EQ(count(kCommitNs / 2, kCommitNs + 1), 2U);
  EXPECT_EQ(count(-5 * kCommitNs, -kCommitNs), 0U);
  EXPECT_EQ(count(9 * kCommitNs, 10 * kCommitNs), 0U);
  EXPECT_TRUE(opened->chunks_in(7, 1, model::EventKind::kCopy, kBegin, kBegin + kCommitNs).empty());
}

TEST_F(EventStores, HaveWholeEventsToo) {
  const auto opened = store(run_);
  const ChunkEntry chunk = opened->chunks()->front();
  const auto events = opened->load_whole(chunk);
  ASSERT_TRUE(events) << events.error().message;
  std::vector<model::Event> expected;
  for (const KnownEvent& one : *events_) {
    if (one.rank == chunk.rank && one.lane == chunk.lane && one.kind == chunk.kind) {
      expected.push_back(one.event);
    }
  }
  ASSERT_GE(expected.size(), events->size());
  for (std::size_t i = 0; i < events->size(); ++i) {
    EXPECT_EQ((*events)[i].start_ns, expected[i].start_ns);
    EXPECT_EQ((*events)[i].correlation, expected[i].correlation);
    EXPECT_EQ((*events)[i].value, expected[i].value);
  }
  EXPECT_EQ(opened->cached_bytes(), 0U);
}

TEST_F(EventStores, NumberTheSameNameOfAllRanksAlike) {
  const auto opened = store(packed_);
  EXPECT_EQ(opened->names().count(), 6U);
  for (int rank = 0; rank < kRanks; ++rank) {
    for (model::StringId id = 0; id <= 5; ++id) {
      const std::uint32_t global = opened->names().number(rank, id);
      EXPECT_EQ(opened->names().text(global), name_of(rank, id));
      EXPECT_EQ(opened->names().text(rank, id), name_of(rank, id));
      EXPECT_EQ(opened->names().numbers(rank)[id], global);
    }
    EXPECT_EQ(opened->names().text(rank, 6), "");
    EXPECT_EQ(opened->names().text(rank, UINT32_MAX), "");
  }
  EXPECT_EQ(opened->names().text(9, 1), "");
}

TEST_F(EventStores, KeepNoMoreThanTheirLimitAndDecodeWhatIsKeptOnce) {
  const auto all = store(run_);
  const auto nothing = [](int, const ChunkEntry&, const EventColumns&) {};
  const auto count = static_cast<std::int64_t>(all->chunks()->size());
  all->visit(*all->chunks(), nothing);
  all->visit(*all->chunks(), nothing);
  EXPECT_EQ(all->decoded_chunks(), count);

  const std::size_t limit = all->cached_bytes() / 3;
  const auto some = store(run_, {limit, 2});
  std::atomic<bool> is_within = true;
  for (int pass = 0; pass < 2; ++pass) {
    some->visit(*some->chunks(), [&](int, const ChunkEntry&, const EventColumns&) {
      if (some->cached_bytes() > limit) is_within = false;
    });
  }
  EXPECT_TRUE(is_within);
  // What the first pass left behind is taken before it is dropped.
  EXPECT_LT(some->decoded_chunks(), 2 * count - count / 4);
  EXPECT_GT(some->decoded_chunks(), count);
}

TEST_F(EventStores, DropWhatWasNotUsedForLongest) {
  const auto measured = store(run_);
  const auto chunks = *measured->chunks();
  ASSERT_TRUE(measured->load(chunks[0]));
  const std::size_t one = measured->cached_bytes();
  const auto opened = store(run_, {one * 5 / 2, 1});
  for (const std::size_t i : {0U, 1U, 0U, 2U, 0U}) ASSERT_TRUE(opened->load(chunks[i]));
  EXPECT_EQ(opened->decoded_chunks(), 3);
  ASSERT_TRUE(opened->load(chunks[1]));
  EXPECT_EQ(opened->decoded_chunks(), 4);
}

TEST_F(EventStores, DecodeAChunkOnceForAllThreadsThatWantIt) {
  const auto opened = store(packed_);
  const auto chunks = opened->chunks();
  std::atomic<int> failures = 0;
  {
    std::vector<std::jthread> threads;
    for (int thread = 0; thread < 8; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = 0; i < chunks->size(); ++i) {
          const auto& chunk =
              (*chunks)[(i + static_cast<std::size_t>(thread % 2)) % chunks->size()];
          const auto columns = opened->load(chunk);
          if (!columns || (*columns)->size() != kEventsOfChunk) ++failures;
        }
      });
    }
  }
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(opened->decoded_chunks(), static_cast<std::int64_t>(chunks->size()));
}

TEST_F(EventStores, StopBetweenChunksWhenNoLongerWanted) {
  const auto opened = store(run_, {1 << 20, 1});
  int asked = 0;
  const auto visit = opened->visit(
      *opened->chunks(), [](int, const ChunkEntry&, const EventColumns&) {},
      [&] { return ++asked <= 3; });
  EXPECT_FALSE(visit.finished);
  EXPECT_EQ(visit.visited, 3);
  EXPECT_EQ(opened->decoded_chunks(), 3);
}

TEST_F(EventStores, NameADamagedChunkReadItOnceAndGoOnWithTheOthers) {
  const auto opened = store(
      damaged("update chunk set data = zeroblob(50) where rank = 1 and lane = 1 and kind = 'copy' "
              "and first_ns < " +
              std::to_string(kBegin + kCommitNs)));
  const auto all = opened->chunks();
  const auto visit = opened->visit(*all, [](int, const ChunkEntry&, const EventColumns&) {});
  EXPECT_EQ(visit.unreadable, 1);
  EXPECT_EQ(visit.visited, static_cast<std::int64_t>(all->size()) - 1);
  EXPECT_THAT(visit.problem, HasSubstr("rank 1, lane 1, copy"));
  const auto broken =
      opened->chunks_in(1, 1, model::EventKind::kCopy, kBegin, kBegin + kCommitNs / 2);
  ASSERT_EQ(broken.size(), 1U);
  const auto decoded = opened->decoded_chunks();
  for (int attempt = 0; attempt < 3; ++attempt) {
    const auto failed = opened->load(broken[0]);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().kind, base::ErrorKind::kDamaged);
    EXPECT_THAT(failed.error().message, HasSubstr("checksum"));
  }
  EXPECT_EQ(opened->decoded_chunks(), decoded);
}

TEST_F(EventStores, LeaveOutRowsThatMakeNoSenseAndSaySo) {
  for (const std::string damage :
       {"kind = 'kernol'", "count = -1", "count = 1 << 50", "rank = 1 << 40", "lane = 1 << 40"}) {
    const auto opened = store(
        damaged("update chunk set " + damage + " where rank = 1 and kind = 'kernel' and lane = 1"));
    EXPECT_EQ(opened->chunks()->size(),
              std::size_t{kRanks * kLanes * kCommits * model::kEventKindCount - kCommits});
    EXPECT_THAT(opened->problem(), HasSubstr("5 rows of table chunk make no sense"));
  }
}

TEST_F(EventStores, TakeNoMemoryForAbsurdStringIds) {
  const auto opened = store(damaged("update string set id = 4000000000 where id = 5"));
  EXPECT_EQ(opened->names().text(0, 4'000'000'000U), "");
  EXPECT_EQ(opened->names().text(0, 4), name_of(0, 4));
  EXPECT_LT(opened->names().numbers(0).size(), 100U);
}

TEST_F(EventStores, OpenWhatRanksAreLeftAndExplainWhatIsNotThere) {
  const fs::path copy = *folder_ / "half";
  fs::copy(run_, copy, fs::copy_options::recursive | fs::copy_options::overwrite_existing);
  test::write_text(rank_file(copy, 1), "nothing of a trace");
  const auto opened = store(copy);
  EXPECT_THAT(opened->problem(), HasSubstr("not a Shardlens trace"));
  EXPECT_EQ(opened->chunks()->size(),
            std::size_t{(kRanks - 1) * kLanes * kCommits * model::kEventKindCount});
  for (int rank = 0; rank < kRanks; ++rank) test::write_text(rank_file(copy, rank), "nothing");
  const auto none = EventStore::open(copy);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, base::ErrorKind::kForeign);
  const auto missing = EventStore::open(*folder_ / "no such run");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, base::ErrorKind::kMissing);
}

TEST_F(EventStores, FollowARunThatIsBeingRecordedAndItsLateRanks) {
  model::RunInfo info = test::run_info("followed", 2);
  const auto run = *create_run(folder_->path(), info, false);
  const auto opened = store(run);
  ASSERT_TRUE(opened);
  EXPECT_TRUE(opened->chunks()->empty());
  std::vector<RowWriter> writers;
  for (int commit = 1; commit <= 6; ++commit) {
    if (commit % 3 == 1) {
      const int rank = static_cast<int>(writers.size());
      auto writer = RowWriter::create_file(rank_file(run, rank), rank);
      ASSERT_TRUE(writer);
      writers.push_back(std::move(*writer));
    }
    model::Batch batch;
    const int rank = static_cast<int>(writers.size()) - 1;
    batch.strings = {
        {rank, static_cast<model::StringId>(commit), "live " + std::to_string(commit)}};
    batch.events = {{rank,
                     0,
                     model::EventKind::kKernel,
                     {{kBegin + commit, 5, static_cast<model::StringId>(commit), 0, 0, 0}}}};
    ASSERT_TRUE(writers.back().begin());
    ASSERT_TRUE(writers.back().write(batch));
    ASSERT_TRUE(writers.back().commit(kBegin + commit));
    ASSERT_TRUE(opened->refresh());
    EXPECT_FALSE(opened->refresh());
    const auto chunks = opened->chunks();
    ASSERT_EQ(chunks->size(), static_cast<std::size_t>(commit));
    const auto columns = opened->load(chunks->back());
    ASSERT_TRUE(columns) << columns.error().message;
    EXPECT_EQ(opened->names().text(rank, (*columns)->name(0)), "live " + std::to_string(commit));
  }
  EXPECT_EQ(opened->problem(), "");
}

}  // namespace
}  // namespace shardlens::trace::store
