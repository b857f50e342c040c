// Writes the pyramid of one rank while its rows and chunks are written: keeps what is pending, and
// closes tiles once the recording has moved on. Owned by the writer's thread.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/batch.h"
#include "trace/store/lod/lod_codec.h"
#include "trace/store/lod/lod_names.h"
#include "trace/store/lod/write/lod_ribbon_writer.h"
#include "trace/store/lod/write/lod_stream_writer.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace {

class LodWriter {
 public:
  // What is newer than this before the newest event may still be joined by earlier ones.
  static constexpr std::int64_t kLatenessNs = 2'000'000'000;

  // `database`: with the tables; it may move, not close, while this lives.
  static Result<LodWriter> create(Database& database, int rank);

  void add_rows(const Batch& batch);
  // `events`: in order of start.
  void add_events(int lane, EventKind kind, std::span<const Event> events,
                  const StringIndex& strings);
  // Within the transaction that writes what was added: closes what is ready, never beyond `now_ns`.
  // The time before which every tile is there.
  Result<std::int64_t> commit(std::int64_t now_ns);
  // Closes everything.
  Result<std::int64_t> finish();
  // Of all rows that are in the file, and those that were written since: row_checksums.h.
  struct Checksums {
    std::uint64_t streams = 0, rows = 0;
  };
  const Checksums& checksums() const { return checksums_; }
  // What either returned has been committed.
  void confirm(std::int64_t closed_ns);
  // Late events have spoiled tiles in the file.
  bool has_spoiled() const { return has_spoiled_; }
  // What was added since the last commit is not in the file: no more tiles are written. Rows that
  // follow all the same make what was written worthless.
  void abandon();

 private:
  using Depths = std::array<LodStreamWriter*, kLodDepths>;

  explicit LodWriter(int rank) : rank_(rank) {}
  LodStreamWriter* stream(const LodStream& which);
  void add_row(const LodStream& which, const LodEvent& event);
  void add_work(LodRibbonWriter::Kind kind, std::int64_t start_ns, std::int64_t end_ns);
  void add_to_ribbon(EventKind kind, std::span<const Event> events, const StringIndex& strings);
  void see(std::int64_t end_ns);
  std::int64_t closable(std::int64_t now_ns) const;
  std::size_t pending() const;
  Result<void> write_tile(int stream, const LodTile& tile);
  Result<void> write_row(const LodPlace& place, std::span<const std::byte> data);
  Result<void> write_new_streams();
  Result<void> write_lists();
  template <typename Close>
  Result<void> close_streams(Close&& close);

  int rank_;
  bool is_abandoned_ = false;
  bool has_spoiled_ = false;
  Statement insert_tile_, insert_stream_;
  std::unique_ptr<RowDigest> digest_ = std::make_unique<RowDigest>();  // statements keep it
  Checksums checksums_, confirmed_checksums_;
  std::uint64_t stretches_checksum_ = 0;  // of the row that is replaced
  LodCodec codec_;
  LodRibbonWriter ribbon_;
  std::map<LodStream, std::unique_ptr<LodStreamWriter>> streams_;
  std::vector<LodStream> new_streams_;
  Intervals written_stretches_;
  LodKernelNames kernel_names_;
  LodLongWork long_work_;
  std::int64_t lists_ = 0;  // written so far: their place
  std::int64_t closed_ = kFirstLodTile;
  std::int64_t confirmed_ns_ = kNoLodTileClosed;
  std::int64_t newest_ns_ = INT64_MIN;
  std::int64_t far_ns_ = INT64_MAX;  // the earliest of the times that lie far beyond the newest
  int far_times_ = 0;
  std::int64_t longest_ns_ = 0;  // of events that are not long
};

}  // namespace shardlens::trace
