// Files with a pyramid, and the comparison of all their tiles with what they must be. For tests.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "tests/trace/store/testing/lod_oracle.h"
#include "tests/trace/store/testing/lod_traces.h"
#include "tests/trace/store/testing/store_fixture.h"
#include "trace/store/lod/tiles/lod_reader.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/write/row_writer.h"

namespace shardlens::trace {

using test::LodCommit;
using test::LodOracle;
using test::LodTraceOptions;

inline std::string text_of(const LodTile& tile) {
  std::string text = "level " + std::to_string(tile.level) + " tile " + std::to_string(tile.index);
  for (std::size_t i = 0; i < tile.cells.size(); ++i) {
    const LodCell& c = tile.cells[i];
    if (c == LodCell()) continue;
    text += "\n  " + std::to_string(i) + ": busy " + std::to_string(c.busy_ns) + " busiest " +
            std::to_string(c.busiest_ns) + " count " + std::to_string(c.count) + " longest " +
            std::to_string(c.longest_ns) + " #" + std::to_string(c.longest_name);
  }
  for (std::size_t i = 0; i < tile.classes.size(); ++i) {
    if (tile.classes[i] == TimeByClass()) continue;
    text += "\n  " + std::to_string(i) + ":";
    for (const auto ns : tile.classes[i]) text += " " + std::to_string(ns);
  }
  return text;
}

inline std::string text_of(const LodStream& stream) {
  return std::string(to_string(stream.kind)) + " " + std::to_string(stream.lane) + " depth " +
         std::to_string(stream.depth);
}

class LodFiles : public testing::Test {
 protected:
  // The run's only rank, or one of two.
  std::filesystem::path new_run(const std::string& name, int ranks = 1) {
    RunInfo info = test::run_info(name, ranks);
    return *create_run(folder_.path(), info, false);
  }
  static void write(RowWriter& writer, const LodCommit& commit) {
    ASSERT_TRUE(writer.begin());
    const auto written = writer.write(commit.batch);
    ASSERT_TRUE(written) << written.error().message;
    const auto committed = writer.commit(commit.now_ns);
    ASSERT_TRUE(committed) << committed.error().message;
  }
  // Records all commits and ends in order, unless told otherwise.
  static LodOracle record(const std::filesystem::path& file, const LodTraceOptions& options,
                          bool ends = true) {
    LodOracle oracle;
    auto writer = RowWriter::create_file(file, options.rank);
    EXPECT_TRUE(writer);
    for (const LodCommit& commit : test::random_recording(options)) {
      write(*writer, commit);
      oracle.add(commit.batch);
    }
    if (ends) {
      const auto finished = writer->finish();
      EXPECT_TRUE(finished) << finished.error().message;
    }
    return oracle;
  }
  static std::unique_ptr<LodReader> open(TraceFile& file, int rank = 0) {
    auto reader = LodReader::open(file.database(), rank);
    EXPECT_TRUE(reader) << reader.error().message;
    return std::move(*reader);
  }
  static int rebuild(LodReader& reader) {
    int calls = 0;
    double before = -1;
    while (true) {
      const auto more = reader.rebuild_some();
      EXPECT_TRUE(more) << more.error().message;
      if (!more || !*more) break;
      EXPECT_LT(reader.fraction(), 1);
      before = reader.fraction();
      if (++calls > 100'000) ADD_FAILURE() << "does not end, at " << before;
      if (calls > 100'000) break;
    }
    EXPECT_EQ(reader.fraction(), 1);
    return calls;
  }
  // Every level of every stream; where the reader says that it is complete it must be right.
  static void expect_right(LodReader& reader, const LodOracle& oracle, bool complete = true) {
    const auto streams = oracle.streams();
    if (complete) {
      const std::set<LodStream> known(reader.streams().begin(), reader.streams().end());
      ASSERT_EQ(known.size(), streams.size());
      EXPECT_EQ(known, streams);
    }
    for (const LodStream& stream : streams) {
      for (int level = 0; level < kLodLevels; ++level) {
        const auto read = reader.read(stream, level, INT64_MIN, INT64_MAX);
        ASSERT_TRUE(read) << read.error().message;
        if (complete) {
          ASSERT_TRUE(read->is_complete) << text_of(stream) << " level " << level;
        }
        if (!read->is_complete) continue;
        const auto expected = oracle.tiles(stream, level);
        std::set<std::int64_t> found, wanted;
        for (const auto& tile : read->tiles) found.insert(tile->index);
        for (const LodTile& tile : expected) wanted.insert(tile.index);
        ASSERT_EQ(found, wanted) << text_of(stream) << " level " << level;
        ASSERT_EQ(read->tiles.size(), expected.size());
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(*read->tiles[i], expected[i])
              << text_of(stream) << ": " << text_of(*read->tiles[i]) << "\nis not "
              << text_of(expected[i]);
        }
      }
    }
  }

  const test::Folder folder_;
};

}  // namespace shardlens::trace
