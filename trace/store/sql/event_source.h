// The bulk events of a run's open files as chunks that are decoded one by one. One thread at a
// time.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/events.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

// What the events of one rank name.
struct RankNames {
  std::vector<std::string> strings;  // by id; 0 is ""
  std::map<int, std::string> lanes;
  std::vector<model::Step> steps;  // by start, only which and when

  const std::string& text(model::StringId id) const {
    return id < strings.size() ? strings[id] : strings[0];
  }
  const std::string& lane_name(int lane) const;
  // Of a time; -1 outside any step.
  std::int64_t step_at(std::int64_t time_ns) const;
};

class EventSource {
 public:
  // `files` must outlive this.
  explicit EventSource(std::vector<Database*> files) : files_(std::move(files)) {}

  // In order of rank and recording. Read once, with the first call: what a live run records later
  // does not come in. What one held whose row makes no sense is not known: it stands among those of
  // every kind, and a query that would need it fails, no other.
  base::Result<const std::vector<ChunkEntry>*> chunks(model::EventKind kind);
  base::Result<const RankNames*> names(const ChunkEntry& place);
  base::Result<std::vector<model::Event>> decode(const ChunkEntry& place);
  // For who needs no more than the header.
  base::Result<void> check(const ChunkEntry& place) const;

  std::int64_t decoded_chunks() const { return decoded_chunks_; }

 private:
  Database& file_of(const ChunkEntry& place) const {
    return *files_[static_cast<std::size_t>(place.file)];
  }
  base::Result<void> read_headers();
  base::Result<RankNames> read_names(Database& file, int rank);

  std::vector<Database*> files_;
  bool headers_read_ = false;
  std::array<std::vector<ChunkEntry>, model::kEventKindCount> chunks_;
  std::map<int, RankNames> names_;
  std::map<int, Statement> blobs_;  // by file
  ChunkOpener opener_;
  std::int64_t decoded_chunks_ = 0;
};

}  // namespace shardlens::trace::store
