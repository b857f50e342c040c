// One trace file whose chunks several threads read, each through a connection of its own.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace::store {

// The row of a chunk, without its data.
struct ChunkRow {
  std::int64_t row_id = 0;
  int rank = 0;
  int lane = 0;
  model::EventKind kind = model::EventKind::kKernel;
  ChunkHeader header;
  bool makes_sense = false;
};

// The data is last in the row: SQLite does not touch its pages.
inline constexpr const char* kSelectChunks =
    "select row_id,rank,lane,kind,first_ns,last_ns,count,codec,checksum from chunk";
// From such a row.
ChunkRow chunk_row(const Statement& row);

class ChunkFile {
 public:
  // `patience`: see WholeReading; of all chunks that one connection reads. Errors: those of
  // TraceFile.
  static base::Result<std::unique_ptr<ChunkFile>> open(
      const std::filesystem::path& file, std::chrono::nanoseconds patience = Database::kPatience);
  ~ChunkFile();

  // What was committed since the last call. Where a page is broken, the rows behind it are reached
  // from the other side; `problems` says what could not be read. One thread at a time.
  struct News {
    std::vector<ChunkRow> chunks;
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
  struct Connection;
  ChunkFile() = default;
  base::Result<bool> open_again_if_stale();
  base::Result<std::unique_ptr<Connection>> take();
  void give(std::unique_ptr<Connection> connection);
  void read_chunks(Database& database, News& news);
  void read_strings(Database& database, News& news);

  std::filesystem::path file_;
  std::chrono::nanoseconds patience_{};
  std::int64_t last_chunk_ = INT64_MIN, last_string_ = INT64_MIN;
  std::mutex mutex_;  // of what follows
  std::shared_ptr<TraceFile> trace_;
  std::vector<std::unique_ptr<Connection>> idle_;  // of trace_
};

}  // namespace shardlens::trace::store
