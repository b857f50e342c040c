// A run's files with all that they hold as tables, for whoever writes the whole of it elsewhere.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/event_source.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/upkeep/redaction.h"

namespace shardlens::trace::store {

class ExportSource {
 public:
  // `progress`: from 0 to 1 as events are read; false ends it.
  ExportSource(std::vector<TraceFile> files, std::function<bool(double)> progress);

  // Makes temporary tables of the rows in `target`, tables of events whose names begin with
  // `prefix`, and the functions of a Redaction. This must outlive the connection.
  base::Result<void> attach(Database& target, std::string_view prefix = "");

  // Asks for the progress.
  bool goes_on();
  bool was_stopped() const { return was_stopped_; }

 private:
  std::vector<TraceFile> files_;
  std::vector<Database*> databases_;
  const std::function<bool(double)> progress_;
  Redaction redaction_;
  EventSource events_;
  std::int64_t chunks_ = 0;
  bool was_stopped_ = false;
};

}  // namespace shardlens::trace::store
