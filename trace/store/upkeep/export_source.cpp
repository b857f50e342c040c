#include "trace/store/upkeep/export_source.h"

#include <algorithm>
#include <utility>

#include "trace/store/run/run_files.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sql/extensions.h"

namespace shardlens::trace::store {

ExportSource::ExportSource(std::vector<TraceFile> files, std::function<bool(double)> progress)
    : files_(std::move(files)),
      databases_(databases_of(files_)),
      progress_(std::move(progress)),
      events_(databases_) {}

base::Result<void> ExportSource::attach(Database& target, std::string_view prefix) {
  for (const EventTable& table : event_tables()) {
    TRY_ASSIGN(const auto* chunks, events_.chunks(table.kind));
    chunks_ += std::ssize(*chunks);
  }
  TRY_ASSIGN(redaction_, Redaction::of(databases_));
  TRY(redaction_.add_functions(target));
  TRY(create_row_tables(target, databases_));
  return create_event_tables(target, events_, prefix);
}

bool ExportSource::goes_on() {
  if (!progress_ || was_stopped_) return !was_stopped_;
  const auto done = static_cast<double>(events_.decoded_chunks());
  const auto all = static_cast<double>(std::max<std::int64_t>(1, chunks_));
  was_stopped_ = !progress_(std::min(1.0, done / all));
  return !was_stopped_;
}

}  // namespace shardlens::trace::store
