#include "trace/store/write/row_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace::store {
namespace {

// What the only chunk of a file holds after these were written.
base::Result<std::vector<model::Event>> written_and_read(const std::vector<model::Event>& events) {
  const test::Folder folder;
  const auto file = folder / "rank_0.sqlite";
  TRY_ASSIGN(RowWriter writer, RowWriter::create_file(file, 0));
  model::Batch batch;
  batch.events.push_back({0, 1, model::EventKind::kLaunch, events});
  TRY(writer.begin());
  TRY(writer.write(batch));
  TRY(writer.commit(1'000'000));
  TRY_ASSIGN(auto chunk,
             writer.database().prepare(std::string(kSelectChunks) + ",data from chunk"));
  TRY(chunk.step());
  ChunkOpener opener;
  return decode_chunk(chunk_entry(chunk).header, chunk.blob(9), opener);
}

TEST(RowWriter, OrdersNeighboursThatCameTheWrongWayRound) {
  std::vector<model::Event> events;
  for (const std::int64_t start : {20, 10, 40, 30, 30, 60, 50, 50, 40}) {
    events.push_back({start, 3, 1, 0, events.size(), 0});
  }
  const auto read = written_and_read(events);
  ASSERT_TRUE(read) << read.error().message;
  std::ranges::stable_sort(events, {}, &model::Event::start_ns);
  EXPECT_TRUE(std::ranges::equal(*read, events, {}, &model::Event::correlation,
                                 &model::Event::correlation));
}

// So that a fuzzer can repeat a case that begins with a file.
TEST(RowWriter, WritesTheSameBytesForTheSameRows) {
  const test::Folder folder;
  const auto bytes = [&](const char* name) {
    const auto file = folder / name;
    {
      auto writer = RowWriter::create_file(file, 0, 5);
      EXPECT_TRUE(writer && writer->begin() && writer->write(test::step_batch(0, 1)) &&
                  writer->commit(1000));
    }
    EXPECT_TRUE(checkpoint_trace_file(file));
    return test::bytes_of(file);
  };
  const std::string first = bytes("first");
  std::this_thread::sleep_for(std::chrono::milliseconds(2));  // another time
  EXPECT_FALSE(first.empty());
  EXPECT_TRUE(first == bytes("second"));
}

}  // namespace
}  // namespace shardlens::trace::store
