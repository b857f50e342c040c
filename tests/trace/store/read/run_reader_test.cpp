#include "trace/store/read/run_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <thread>

#include "tests/trace/store/batches_in_range.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/read/rank_tail.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/batch_queue.h"
#include "trace/store/write/row_writer.h"
#include "trace/store/write/trace_writer.h"

namespace shardlens::trace::store {
namespace {

using namespace std::chrono_literals;
using test::Folder;

std::unique_ptr<RunReader> open(const std::filesystem::path& run) {
  auto reader = RunReader::open(run);
  EXPECT_TRUE(reader) << reader.error().message;
  return reader ? std::move(*reader) : nullptr;
}

std::vector<model::Batch> poll(RunReader& reader, std::int64_t until_ns = INT64_MAX) {
  auto batches = reader.poll(until_ns);
  EXPECT_TRUE(batches) << batches.error().message;
  return batches ? std::move(*batches) : std::vector<model::Batch>();
}

std::string all_text(const std::vector<model::Batch>& batches, int ranks) {
  std::string text;
  for (int rank = 0; rank < ranks; ++rank) text += test::text_of(test::joined(batches, rank));
  return text;
}

void move_into(std::vector<model::Batch>& all, std::vector<model::Batch>&& some) {
  for (model::Batch& batch : some) all.push_back(std::move(batch));
}

TEST(RunReader, ALiveTailEqualsTheFinishedFile) {
  const Folder folder;
  constexpr std::int64_t kSteps = 25;
  model::RunInfo info = test::run_info("tail", 2);
  const auto run = create_run(folder.path(), info, false);
  ASSERT_TRUE(run);
  const auto reader = open(*run);
  std::vector<model::Batch> tail;
  // The second rank's file appears while the first is being followed.
  for (int rank = 0; rank < 2; ++rank) {
    auto writer = TraceWriter::create(rank_file(*run, rank), rank, {5ms, INT64_MAX, 256});
    ASSERT_TRUE(writer);
    for (std::int64_t step = 0; step < kSteps; ++step) {
      (*writer)->submit(test::step_batch(rank, step));
      std::this_thread::sleep_for(4ms);
      move_into(tail, poll(*reader));
    }
    ASSERT_TRUE((*writer)->close());
  }
  move_into(tail, poll(*reader));
  EXPECT_GT(tail.size(), 6u);
  EXPECT_EQ(all_text(tail, 2), all_text(poll(*open(*run)), 2));
  EXPECT_TRUE(poll(*reader).empty());
}

TEST(RunReader, ReadsOnInWhatItOpenedAndKnowsThatAnotherRunTookItsPlace) {
  const Folder folder, elsewhere;
  const auto run = test::record_run(folder.path(), "a", 2, 12, true);
  const auto other = test::record_run(elsewhere.path(), "a", 2, 4, true);
  const auto packed = folder.path() / "a.shardlens";
  const auto other_packed = elsewhere.path() / "a.shardlens";
  ASSERT_TRUE(pack_run(run, packed));
  ASSERT_TRUE(pack_run(other, other_packed));
  const std::array wholes{all_text(poll(*open(run)), 2), all_text(poll(*open(packed)), 2)};
  const std::array readers{open(run), open(packed)};
  for (const auto& reader : readers) EXPECT_FALSE(reader->is_replaced());
  std::filesystem::rename(other_packed, packed);
  std::filesystem::remove_all(run);
  EXPECT_FALSE(readers[0]->is_replaced()) << "nothing is there";
  std::filesystem::rename(other, run);
  for (std::size_t i = 0; i < readers.size(); ++i) {
    EXPECT_TRUE(readers[i]->is_replaced());
    EXPECT_EQ(all_text(poll(*readers[i]), 2), wholes[i]);
  }
  EXPECT_FALSE(open(run)->is_replaced());
}

TEST(RunReader, ReplaysCommitByCommitWhatALiveViewerSaw) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "replay", 2, 12, true);
  const auto reader = open(run);
  const auto range = reader->commit_range();
  ASSERT_TRUE(range);
  EXPECT_LT(range->first_ns, range->last_ns);
  EXPECT_TRUE(poll(*reader, range->first_ns - 1).empty());
  std::vector<model::Batch> replayed;
  std::size_t polls_with_news = 0;
  const std::int64_t stride = (range->last_ns - range->first_ns) / 50;
  for (std::int64_t now = range->first_ns; now < range->last_ns; now += stride) {
    auto some = poll(*reader, now);
    for (const model::Batch& batch : some) {
      EXPECT_FALSE(batch.steps.empty() && batch.spans.empty() && batch.lost.empty() &&
                   !batch.heartbeat);
    }
    polls_with_news += some.empty() ? 0 : 1;
    move_into(replayed, std::move(some));
    EXPECT_TRUE(poll(*reader, now - stride).empty()) << "time went backwards";
  }
  move_into(replayed, poll(*reader, range->last_ns));
  EXPECT_GT(polls_with_news, 8u);
  const std::string whole = all_text(poll(*open(run)), 2);
  EXPECT_EQ(all_text(replayed, 2), whole);
  reader->rewind();
  EXPECT_EQ(all_text(poll(*reader), 2), whole);
}

TEST(RunReader, TellsThePresentOnlyAtTheEnd) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "present", 1, 6, true);
  const auto reader = open(run);
  const auto range = reader->commit_range();
  ASSERT_TRUE(range);
  const auto early = poll(*reader, (range->first_ns + range->last_ns) / 2);
  ASSERT_EQ(early.size(), 1u);
  EXPECT_FALSE(early[0].heartbeat);
  EXPECT_FALSE(early[0].pending);
  EXPECT_TRUE(early[0].rank_info);
  const auto late = poll(*reader);
  ASSERT_EQ(late.size(), 1u);
  ASSERT_TRUE(late[0].heartbeat);
  EXPECT_EQ(late[0].heartbeat->step, 5);
  ASSERT_TRUE(late[0].pending);
  EXPECT_EQ(late[0].pending->front().sequence, 5);
  EXPECT_FALSE(late[0].rank_info);
}

TEST(RunReader, TellsOfARankAgainOnceAnythingOfItHasChanged) {
  const Folder folder;
  const auto run = folder / "changed";
  model::RunInfo info = test::run_info("changed", 1);
  ASSERT_TRUE(create_run_at(run, info));
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer) << writer.error().message;
  model::Batch batch = test::step_batch(0, 0);
  model::RankInfo rank = *batch.rank_info;
  const auto told = [&](RunReader& reader) {
    EXPECT_TRUE(writer->begin() && writer->write(batch) && writer->commit(1));
    const auto batches = poll(reader);
    return batches.empty() ? std::nullopt : batches.front().rank_info;
  };
  const auto reader = open(run);
  EXPECT_EQ(told(*reader), rank);
  batch = {};
  EXPECT_EQ(told(*reader), std::nullopt);
  rank.link = "NVLink, 4 links";
  batch.rank_info = rank;
  EXPECT_EQ(told(*reader), rank);
}

TEST(RunReader, ReadsARangeWithoutMovingTheTail) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "range", 2, 10);
  const auto reader = open(run);
  const auto all = poll(*reader);
  const model::Step step = all[0].steps[4];
  const auto range = test::batches_in_range(*reader, step.start_ns, step.end_ns);
  ASSERT_TRUE(range) << range.error().message;
  ASSERT_EQ(range->size(), 2u);
  for (const model::Batch& batch : *range) {
    EXPECT_EQ(batch.spans.size(), 2u);
    EXPECT_EQ(batch.collectives.size(), 3u);
    EXPECT_EQ(batch.bucket_ready.size(), 1u);
    EXPECT_EQ(batch.memory.size(), 1u);
    EXPECT_EQ(count_events(batch), 40);
    EXPECT_TRUE(batch.strings.empty());
    // Ids are those that poll() told.
    EXPECT_EQ(batch.collectives[0].data_type, all[0].collectives[0].data_type);
  }
  EXPECT_TRUE(poll(*reader).empty());
}

TEST(RunReader, ReadsOfARangeNoMoreThanHadBeenCommitted) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "until", 2, 12, true);
  const auto reader = open(run);
  const auto range = reader->commit_range();
  ASSERT_TRUE(range);
  const auto count = [](const std::vector<model::Batch>& batches) {
    std::size_t rows = 0;
    for (const model::Batch& batch : batches) {
      rows += batch.collectives.size() + batch.spans.size() + batch.memory.size() +
              static_cast<std::size_t>(count_events(batch));
    }
    return rows;
  };
  EXPECT_EQ(count(*test::batches_in_range(*reader, 0, INT64_MAX, range->first_ns - 1)), 0u);
  std::size_t polled = 0, most = 0;
  const std::int64_t stride = (range->last_ns - range->first_ns) / 20;
  for (std::int64_t now = range->first_ns; now < range->last_ns; now += stride) {
    polled += count(poll(*reader, now));
    EXPECT_EQ(count(*test::batches_in_range(*reader, 0, INT64_MAX, now)), polled);
    most = std::max(most, polled);
  }
  EXPECT_GT(most, 0u);
  EXPECT_GT(count(*test::batches_in_range(*reader, 0, INT64_MAX)), most);
}

TEST(RunReader, ReadsWhatHoldsForTheWholeRunAndItsLogWithoutTheRest) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "facts", 2, 10, true);
  const auto reader = open(run);
  std::vector<model::Batch> facts, expected;
  ASSERT_TRUE(reader->read_facts([&](const model::Batch& batch) { facts.push_back(batch); }));
  for (int rank = 0; rank < 2; ++rank) {
    const model::Batch all = test::joined(poll(*open(run)), rank);
    model::Batch& of_rank = expected.emplace_back();
    of_rank.strings = all.strings;
    of_rank.process_groups = all.process_groups;
    of_rank.buckets = all.buckets;
    of_rank.units = all.units;
    of_rank.unit_parameters = all.unit_parameters;
    of_rank.log = all.log;
    of_rank.rank_info = all.rank_info;
    EXPECT_FALSE(all.buckets.empty() || all.units.empty() || all.unit_parameters.empty());
    EXPECT_EQ(of_rank.log.size(), 10u);
    EXPECT_TRUE(of_rank.rank_info);
  }
  ASSERT_EQ(facts.size(), 2u);
  for (std::size_t i = 0; i < 2; ++i)
    EXPECT_EQ(test::text_of(facts[i]), test::text_of(expected[i]));
  reader->rewind();
  EXPECT_EQ(all_text(poll(*reader), 2), all_text(poll(*open(run)), 2));
}

TEST(RunReader, TellsThePulseOfALiveRunWithoutTheRest) {
  const Folder folder;
  const auto run = folder / "pulse";
  model::RunInfo info = test::run_info("pulse", 1);
  ASSERT_TRUE(create_run_at(run, info));
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer) << writer.error().message;
  const auto reader = open(run);
  std::vector<model::Batch> told;
  const auto read = [&] {
    told.clear();
    return reader->read_pulse([&](const model::Batch& batch) { told.push_back(batch); });
  };
  ASSERT_TRUE(read());
  EXPECT_TRUE(told.empty()) << "nothing was committed";
  for (std::int64_t step = 0; step < 3; ++step) {
    const model::Batch all = test::step_batch(0, step);
    ASSERT_TRUE(writer->begin() && writer->write(all) && writer->commit(1));
    model::Batch expected;
    expected.steps = all.steps;
    expected.heartbeat = all.heartbeat;
    expected.rank_info = all.rank_info;
    ASSERT_TRUE(read());
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(test::text_of(told[0]), test::text_of(expected)) << step;
    ASSERT_TRUE(read());
    ASSERT_EQ(told.size(), 1u);
    EXPECT_TRUE(told[0].steps.empty()) << "told before";
    ASSERT_TRUE(told[0].heartbeat);
    EXPECT_EQ(told[0].heartbeat->step, step);
  }
}

TEST(RunReader, ALongRunComesInPartsAndItsRangesAreWhatAWholeScanFinds) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "long", 1, 280, true);
  // As if each step had been committed a millisecond after its end.
  test::change_file(
      rank_file(run, 0),
      "update batch set committed_ns = 1000000 + coalesce((select end_ns from step where "
      "step.row_id = last_step), (select min(start_ns) from step))");
  const auto reader = open(run);
  std::vector<model::Batch> all = poll(*reader);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_LT(all[0].steps.size(), 280u);
  for (auto more = poll(*reader); !more.empty(); more = poll(*reader)) {
    move_into(all, std::move(more));
  }
  const model::Batch whole = test::joined(all, 0);
  ASSERT_EQ(whole.steps.size(), 280u);
  for (const std::size_t index : {0u, 60u, 140u, 279u}) {
    const model::Step step = whole.steps[index];
    const auto touches = [&](const auto& row) {
      return row.end_ns > step.start_ns && row.start_ns < step.end_ns;
    };
    const auto inside = [&](const auto& row) {
      return row.time_ns >= step.start_ns && row.time_ns < step.end_ns;
    };
    model::Batch expected;
    std::ranges::copy_if(whole.spans, std::back_inserter(expected.spans), touches);
    std::ranges::copy_if(whole.collectives, std::back_inserter(expected.collectives), touches);
    std::ranges::copy_if(whole.bucket_ready, std::back_inserter(expected.bucket_ready), inside);
    std::ranges::copy_if(whole.unit_ready, std::back_inserter(expected.unit_ready), inside);
    std::ranges::copy_if(whole.memory, std::back_inserter(expected.memory), inside);
    const auto range = test::batches_in_range(*reader, step.start_ns, step.end_ns);
    ASSERT_TRUE(range) << range.error().message;
    model::Batch found = test::joined(*range, 0);
    EXPECT_EQ(count_events(found), 40) << index;
    found.events.clear();
    EXPECT_EQ(test::text_of(found), test::text_of(expected)) << index;
  }
}

TEST(RunReader, ARangeHasWhatCameSecondsAfterItsStep) {
  const Folder folder;
  const auto run = folder / "late";
  model::RunInfo info = test::run_info("late", 1);
  ASSERT_TRUE(create_run_at(run, info));
  auto writer = RowWriter::create_file(rank_file(run, 0), 0);
  ASSERT_TRUE(writer) << writer.error().message;
  model::Batch late;
  model::Step asked;
  for (std::int64_t step = 0; step < 140; ++step) {  // of 100 ms
    model::Batch batch = test::step_batch(0, step);
    if (step == 4) {
      asked = batch.steps.front();
      std::swap(late.collectives, batch.collectives);
      std::swap(late.events, batch.events);
    }
    ASSERT_TRUE(writer->begin());
    ASSERT_TRUE(writer->write(batch));
    ASSERT_TRUE(writer->write(step == 90 ? late : model::Batch{}));
    ASSERT_TRUE(writer->commit(batch.steps.front().end_ns));
  }
  const auto range = test::batches_in_range(*open(run), asked.start_ns, asked.end_ns);
  ASSERT_TRUE(range) << range.error().message;
  ASSERT_EQ(range->size(), 1u);
  EXPECT_EQ(range->front().spans.size(), 2u);
  EXPECT_EQ(range->front().collectives.size(), 3u);
  ASSERT_EQ(range->front().events.size(), 1u);
  EXPECT_EQ(range->front().events.front().events.size(), 40u);
}

TEST(RunReader, OfManyRanksSomeComeAtATime) {
  const Folder folder;
  constexpr int kRanks = 5;
  const auto run = test::record_run(folder.path(), "many", kRanks, 4, true);
  const std::string whole = all_text(poll(*open(run)), kRanks);
  const auto reader = open(run);
  std::vector<model::Batch> all;
  std::vector<int> order;
  for (;;) {
    auto some = reader->poll(INT64_MAX, 200);
    ASSERT_TRUE(some) << some.error().message;
    if (some->empty()) break;
    EXPECT_LE(some->size(), 2u) << "160 events of each";
    for (const model::Batch& batch : *some) order.push_back(batch.steps.front().rank);
    move_into(all, std::move(*some));
  }
  EXPECT_EQ(order, (std::vector<int>{0, 1, 2, 3, 4}));
  EXPECT_EQ(all_text(all, kRanks), whole);
}

TEST(RunReader, TellsOfADamagedRankOnceTheOthersHaveNothingLeft) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "damaged", 4, 4, true);
  test::change_file(rank_file(run, 1), "update span set phase = 4711");
  const auto reader = open(run);
  for (const int rank : {0, 2, 3}) {
    const auto some = reader->poll(INT64_MAX, 1);
    ASSERT_TRUE(some) << some.error().message;
    ASSERT_EQ(some->size(), 1u);
    EXPECT_EQ(some->front().steps.front().rank, rank);
  }
  EXPECT_FALSE(reader->poll(INT64_MAX, 1));
}

TEST(RunReader, ARankThatCannotBeReadDoesNotTakeTheOthersRowsAlong) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "damaged", 3, 4);
  test::change_file(rank_file(run, 1), "update span set phase = 'sideways'");
  const auto reader = open(run);
  const auto batches = poll(*reader);
  ASSERT_EQ(batches.size(), 2u);
  EXPECT_EQ(batches[0].steps.size(), 4u);
  EXPECT_EQ(batches[1].steps.size(), 4u);
  const auto told = reader->poll();
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().kind, base::ErrorKind::kDamaged);
  EXPECT_NE(told.error().message.find("sideways"), std::string::npos);
  EXPECT_FALSE(reader->poll()) << "it does not go away by itself";
}

TEST(RunReader, ReadsEverythingThatIsLeft) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "left", 4, 4, true);
  test::change_file(rank_file(run, 1), "update span set phase = 4711");
  std::filesystem::resize_file(rank_file(run, 2), 700);  // cannot even be opened
  const auto reader = open(run);
  std::map<int, std::size_t> steps;
  const auto problems = read_everything(*reader, [&](const model::Batch& batch) {
    for (const model::Step& step : batch.steps) ++steps[step.rank];
  });
  ASSERT_TRUE(problems) << problems.error().message;
  EXPECT_EQ(steps, (std::map<int, std::size_t>{{0, 4}, {3, 4}}));
  ASSERT_EQ(problems->size(), 2u);
  EXPECT_NE(((*problems)[0] + (*problems)[1]).find("rank_1.sqlite"), std::string::npos);
  EXPECT_NE(((*problems)[0] + (*problems)[1]).find("rank_2.sqlite"), std::string::npos);
  EXPECT_EQ(reader->readable_ranks(), 2);
  EXPECT_TRUE(reader->commit_range());
  const auto answer = query_run(run, "select count(distinct rank) from step", {});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(to_text(answer->rows[0][0]), "3");  // rank 1's steps are whole
  ASSERT_EQ(answer->left_out.size(), 1u);
  EXPECT_NE(answer->left_out[0].find("rank_2.sqlite"), std::string::npos);
}

TEST(RunReader, RangesAndFactsLackRanksThatCannotBeRead) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "left", 3, 4, true);
  test::change_file(rank_file(run, 1), "update span set phase = 4711; update log set level = 4711");
  std::filesystem::resize_file(rank_file(run, 2), 700);  // cannot even be opened
  const auto reader = open(run);
  std::vector<model::Batch> facts;
  ASSERT_TRUE(reader->read_facts([&](const model::Batch& batch) { facts.push_back(batch); }));
  ASSERT_EQ(facts.size(), 1u);
  EXPECT_EQ(facts.front().rank_info->rank, 0);
  EXPECT_EQ(reader->problems().size(), 2u);
  const auto range = test::batches_in_range(*reader, 0, INT64_MAX);
  ASSERT_TRUE(range) << range.error().message;
  ASSERT_EQ(range->size(), 1u);
  EXPECT_EQ(range->front().spans.size(), 8u);
}

TEST(RunReader, WithNothingLeftToReadThereIsAnError) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "none", 2, 2);
  for (const int rank : {0, 1}) std::filesystem::resize_file(rank_file(run, rank), 700);
  const auto reader = RunReader::open(run);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().kind, base::ErrorKind::kDamaged);
  EXPECT_FALSE(query_run(run, "select 1", {}));
}

TEST(RunReader, ReadsAPackedFileLikeItsFolder) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "packed 'twice' 🚀", 3, 8, true);
  const auto packed = folder / "it's a \"run\" 🚀%20?.shardlens";
  PackOptions all;
  all.with_paths = true;
  const auto done = pack_run(run, packed, all);
  ASSERT_TRUE(done) << done.error().message;
  const auto from_folder = open(run);
  const auto from_file = open(packed);
  EXPECT_EQ(from_folder->info()->name, from_file->info()->name);
  EXPECT_EQ(from_folder->info()->settings, from_file->info()->settings);
  EXPECT_EQ(from_file->info()->folder, packed.string());
  const auto range = from_folder->commit_range();
  EXPECT_EQ(range->last_ns, from_file->commit_range()->last_ns);
  const std::int64_t middle = (range->first_ns + range->last_ns) / 2;
  for (const std::int64_t until : {middle, INT64_MAX}) {
    EXPECT_EQ(all_text(poll(*from_folder, until), 3), all_text(poll(*from_file, until), 3));
  }
  const auto a =
      test::batches_in_range(*from_folder, range->first_ns - 1'000'000'000'000, range->last_ns);
  const auto b =
      test::batches_in_range(*from_file, range->first_ns - 1'000'000'000'000, range->last_ns);
  EXPECT_EQ(all_text(*a, 3), all_text(*b, 3));
  EXPECT_GT(from_file->bytes_on_disk(), 0);
}

TEST(RunReader, OpensARunThatHasNoRanksYet) {
  const Folder folder;
  model::RunInfo info = test::run_info("young", 2);
  const auto run = create_run(folder.path(), info, false);
  const auto reader = open(*run);
  EXPECT_TRUE(poll(*reader).empty());
  EXPECT_EQ(reader->commit_range()->last_ns, 0);
  EXPECT_TRUE(test::batches_in_range(*reader, 0, INT64_MAX)->empty());
}

TEST(RunReader, SeesTheStatusThatTheLauncherWrites) {
  const Folder folder;
  model::RunInfo info = test::run_info("status", 2);
  const auto run = create_run(folder.path(), info, false);
  const auto reader = open(*run);
  EXPECT_EQ(reader->info()->status, model::RunStatus::kRunning);
  info.status = model::RunStatus::kFailed;
  info.reason = "rank 1 ran out of memory: \"bad_alloc\" — it's gone";
  info.end_ns = 77;
  ASSERT_TRUE(update_run(*run, info));
  EXPECT_EQ(reader->info()->status, model::RunStatus::kFailed);
  EXPECT_EQ(reader->info()->reason, info.reason);
  EXPECT_EQ(reader->info()->end_ns, 77);
}

TEST(RunReader, FollowsAWriterThatComesBackAfterACheckpoint) {
  const Folder folder;
  model::RunInfo info = test::run_info("checkpoint", 1);
  const auto run = create_run(folder.path(), info, false);
  auto writer = TraceWriter::create(rank_file(*run, 0), 0, {1ms, INT64_MAX, 64});
  ASSERT_TRUE(writer);
  const auto reader = open(*run);
  (*writer)->submit(test::step_batch(0, 0));
  test::wait_until_committed(rank_file(*run, 0), 1);
  ASSERT_TRUE(checkpoint_run(*run));
  EXPECT_EQ(poll(*reader).size(), 1u);
  (*writer)->submit(test::step_batch(0, 1));
  ASSERT_TRUE((*writer)->close());
  const auto last = poll(*reader);
  ASSERT_EQ(last.size(), 1u);
  EXPECT_EQ(last[0].steps.front().index, 1);
}

TEST(RunReader, ReportsADamagedChunkWithTheFile) {
  const Folder folder;
  const auto run = test::record_run(folder.path(), "damage", 1, 2);
  test::change_file(rank_file(run, 0), "update chunk set data = zeroblob(length(data))");
  const auto batches = open(run)->poll();
  ASSERT_FALSE(batches);
  EXPECT_EQ(batches.error().kind, base::ErrorKind::kDamaged);
  EXPECT_NE(batches.error().message.find("rank_0.sqlite"), std::string::npos);
}

// What SQLite did for the first poll of a file of so many full chunks.
std::int64_t steps_of_first_poll(const std::filesystem::path& run, int chunks) {
  constexpr std::size_t kFull = 8192;
  model::RunInfo info = test::run_info("long", 1);
  EXPECT_TRUE(create_run_at(run, info));
  {
    auto writer = RowWriter::create_file(rank_file(run, 0), 0);
    EXPECT_TRUE(writer);
    model::Batch batch;
    batch.events = {{0, 0, model::EventKind::kKernel, std::vector<model::Event>(kFull)}};
    for (int chunk = 0; chunk < chunks; ++chunk) {
      EXPECT_TRUE(writer->begin());
      EXPECT_TRUE(writer->write(batch));
      EXPECT_TRUE(writer->commit(1'700'000'000'000'000'000 + chunk));
    }
  }
  auto file = TraceFile::open(rank_file(run, 0));
  EXPECT_TRUE(file);
  std::int64_t steps = 0;
  const auto count = [](void* to) { return ++*static_cast<std::int64_t*>(to), 0; };
  sqlite3_progress_handler(file->database().get(), 10, count, &steps);
  RankTail tail(0);
  const auto first = tail.poll(file->database(), INT64_MAX);
  EXPECT_TRUE(first && first->events.size() == 4) << "32,768 events";
  std::int64_t events = 0;
  for (auto next = first; next && !next->empty(); next = tail.poll(file->database(), INT64_MAX)) {
    for (const model::EventRun& part : next->events)
      events += static_cast<std::int64_t>(part.events.size());
    if (events == static_cast<std::int64_t>(kFull) * 4)
      sqlite3_progress_handler(file->database().get(), 0, nullptr, nullptr);
  }
  EXPECT_EQ(events, static_cast<std::int64_t>(kFull) * chunks);
  return steps;
}

TEST(RunReader, APollCostsWhatItReadsHoweverMuchComesBehindIt) {
  const Folder folder;
  const auto few = steps_of_first_poll(folder / "few", 16);
  const auto many = steps_of_first_poll(folder / "many", 80);
  EXPECT_GT(few, 0);
  EXPECT_LE(many, few + few / 10);
}

}  // namespace
}  // namespace shardlens::trace::store
