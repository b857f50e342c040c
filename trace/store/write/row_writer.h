// Puts batches into one rank's file, a transaction at a time. Owned by the writer's thread.
#pragma once

#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/base/wall_clock.h"
#include "trace/model/batch.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/sqlite/row_digest.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace::store {

class RowWriter {
 public:
  // Creates the file, in WAL mode; it must not exist. `created_ns`: when it says that it was; all
  // else is the same for the same rows.
  static base::Result<RowWriter> create_file(const std::filesystem::path& file, int rank,
                                             std::int64_t created_ns = base::wall_clock_ns());
  // `database`: a rank's file without rows.
  static base::Result<RowWriter> create(Database database, int rank);

  base::Result<void> begin();
  base::Result<void> write(const model::Batch& batch);
  // Chunks what is buffered, adds the row of `batch` and commits.
  base::Result<void> commit(std::int64_t now_ns);
  // Forgets everything since begin().
  void roll_back();

  Database& database() { return database_; }

 private:
  using Lane = std::pair<int, model::EventKind>;

  RowWriter(Database database, int rank) : database_(std::move(database)), rank_(rank) {}
  base::Result<void> prepare();
  base::Result<void> write_present(const model::Batch& batch);
  base::Result<void> write_bucket_parameters(const model::Bucket& bucket);
  base::Result<void> write_pending(const std::vector<model::PendingCollective>& pending);
  base::Result<void> buffer_events(const model::EventRun& run);
  base::Result<void> flush(const Lane& lane, std::vector<model::Event>& events);
  base::Result<void> write_chunks(const Lane& lane, std::span<const model::Event> events);
  base::Result<void> write_chunk(const Lane& lane, std::span<const model::Event> events);
  base::Result<std::uint64_t> write_batch(std::int64_t now_ns);
  template <typename Row>
  base::Result<void> insert(Statement& statement, std::int64_t& last_row_id, const Row& row);
  template <typename Row>
  base::Result<void> replace(const Row& row, PresentRow which);

  Database database_;
  int rank_;
  ChunkPacker packer_;
  StringIndex strings_;
  std::array<Statement, kRowListCount> inserts_;
  Statement bucket_parameter_, chunk_, pending_, batch_;
  TableMarks marks_{}, committed_marks_{};
  // On the heap, since statements keep them while this moves.
  std::unique_ptr<RowDigest> added_ = std::make_unique<RowDigest>();
  std::unique_ptr<RowDigest> replaced_ = std::make_unique<RowDigest>();
  PresentSums present_{}, committed_present_{};
  std::uint64_t chain_ = 0;  // of the last commit
  std::int64_t last_batch_ = 0;
  std::int64_t last_commit_ns_ = 0;
  std::map<Lane, std::vector<model::Event>> buffered_;
};

}  // namespace shardlens::trace::store
