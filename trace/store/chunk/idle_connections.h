// Connections that chunks were read through and nobody uses at the moment, of all files of a run
// together: each holds its file open and some 40 KB, and where as many threads as there are cores
// read a thousand files, as many were needed for each of them at one time or another. Any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/reading_time.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

struct ChunkConnection {
  std::shared_ptr<TraceFile> trace;  // it belongs to
  Database database;
  Statement data;
  ReadingTime time;  // of all chunks
  std::optional<WholeReading> reading;
};

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

}  // namespace shardlens::trace::store
