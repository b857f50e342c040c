// One trace file whose chunks several threads read, each through a connection of its own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/reading_time.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// Of table chunk. The data is last in the row: who does not ask for it reads none of its pages.
inline constexpr const char* kSelectChunks =
    "select row_id,rank,lane,kind,first_ns,last_ns,count,codec,checksum";
// From a row that begins with these.
ChunkEntry chunk_entry(const Statement& row);

// Calls visit(row) for the rows of `select`, the row's id the first column, with an id above
// `last`, which becomes the highest one seen. Where a page is broken, the rows behind it are
// reached from the other side. Returns the problem, if there was one.
std::optional<base::Error> visit_news(Database& database, const std::string& select,
                                      std::int64_t& last,
                                      const std::function<void(const Statement&)>& visit);

struct ChunkConnection {
  std::shared_ptr<TraceFile> trace;  // it belongs to
  Database database;
  Statement data;
  ReadingTime time;  // of all chunks
  std::optional<WholeReading> reading;
};

// Connections that chunks were read through and nobody uses at the moment, of all files of a run
// together: each holds its file open and some 40 KB, and where as many threads as there are cores
// read a thousand files, as many were needed for each of them at one time or another. Any thread.
class IdleConnections {
 public:
  // `most`: of more, the one that was given back longest ago is closed.
  explicit IdleConnections(std::size_t most) : most_(most) {}
  void allow(std::size_t most);

  // The one of `trace` that was given back last; null: there is none.
  std::unique_ptr<ChunkConnection> take(const TraceFile& trace);
  void give(std::unique_ptr<ChunkConnection> connection);
  void close(const TraceFile& trace);  // all of it
  std::size_t count() const;

 private:
  struct Idle {
    const TraceFile* trace = nullptr;
    std::unique_ptr<ChunkConnection> connection;
  };
  mutable std::mutex mutex_;
  std::size_t most_;
  std::vector<Idle> idle_;  // in the order in which they were given back
};

class ChunkFile {
 public:
  // `idle`: where the connections are between two chunks. `patience`: see WholeReading; of all
  // chunks that one connection reads. Errors: those of TraceFile.
  static base::Result<std::unique_ptr<ChunkFile>> open(
      const std::filesystem::path& file, std::shared_ptr<IdleConnections> idle,
      std::chrono::nanoseconds patience = Database::kPatience);
  ~ChunkFile();

  // What was committed since the last call; `problems` says what could not be read. One thread at a
  // time.
  struct News {
    std::vector<ChunkEntry> chunks;
    std::vector<model::InternedString> strings;
    std::int64_t damaged_rows = 0;  // of chunks that make no sense
    std::vector<std::string> problems;
    bool was_opened_again = false;
  };
  base::Result<News> tail();

  // Hands a chunk's data to `use`, valid during the call. Any thread. Errors: kDamaged, naming the
  // file; those of `use`.
  base::Result<void> read(std::int64_t row_id,
                          const std::function<base::Result<void>(std::span<const std::byte>)>& use);

 private:
  ChunkFile() = default;
  base::Result<bool> open_again_if_stale();
  base::Result<std::unique_ptr<ChunkConnection>> take();
  void give(std::unique_ptr<ChunkConnection> connection);
  void read_chunks(Database& database, News& news);
  void read_strings(Database& database, News& news);

  std::filesystem::path file_;
  std::chrono::nanoseconds patience_{};
  std::int64_t last_chunk_ = INT64_MIN, last_string_ = INT64_MIN;
  std::shared_ptr<IdleConnections> idle_;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<TraceFile> trace_;
};

}  // namespace shardlens::trace::store
