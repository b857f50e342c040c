#include "trace/store/upkeep/pack.h"

#include <algorithm>
#include <optional>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"
#include "trace/store/upkeep/redaction.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

std::string given_away(const TableSchema& table, const Redaction* redaction) {
  if (redaction == nullptr) return column_names(table.columns);
  return base::joined(table.columns, ",",
                      [&](const Column& column) { return redacted_column(table.name, column); });
}

// Texts were changed on purpose; what had been changed before is still told.
base::Result<void> seal_again(Database& target, Database& source) {
  TRY_ASSIGN(const RunSeal seal, read_run_seal(source));
  if (seal.is_whole()) TRY(seal_run(target));
  TRY_ASSIGN(const auto ranks, ranks_in(source));
  for (const int rank : ranks) {
    bool is_intact = true;
    TRY(RowCheck(source, rank).run([&](const std::string&) { is_intact = false; }));
    if (is_intact) TRY(RowCheck(target, rank).seal());
  }
  return {};
}

// Read by a connection of its own: `target` is trusted, and what is read is not.
base::Result<void> copy_table(Database& target, Database& source, const TableSchema& table,
                              const Redaction* redaction) {
  TRY_ASSIGN(auto write, target.prepare(insert_sql(table.name)));
  const int columns = static_cast<int>(table.columns.size());
  const auto copy_row = [&](const Statement& row) -> base::Result<void> {
    for (int i = 0; i < columns; ++i) write.bind_column(i + 1, row, i);
    auto written = write.run();
    // What does not fit is what was read.
    if (!written) written.error().message += " (while copying " + source.file() + ")";
    return written;
  };
  return source.for_each_row("select " + given_away(table, redaction) + " from " + table.name,
                             copy_row);
}

// Once, of the whole run: nobody need guess it from the hosts' names.
base::Result<void> note_packing(Database& target) {
  return target.execute(
      "insert into meta(row_id,rank,key,value) "
      "select max(row_id)+1,rank,'packed','1' from meta where rank=-1 "
      "and not exists(select 1 from meta where rank=-1 and key='packed') group by rank");
}

// Row ids of ranks never meet, so every table is copied as it is.
base::Result<void> copy_tables(Database& target, const fs::path& source_file,
                               const Redaction* redaction) {
  TRY_ASSIGN(TraceFile file, TraceFile::open(source_file));
  Database& source = file.database();
  if (redaction != nullptr) TRY(redaction->add_functions(source));
  ReadingTime time;
  const WholeReading once(source, time);
  // One commit of a live writer: rows and marks belong together.
  TRY(source.execute("begin"));
  TRY(target.execute("begin"));
  for (const TableSchema& table : trace_tables()) {
    TRY(copy_table(target, source, table, redaction));
  }
  if (redaction != nullptr) {
    TRY(note_packing(target));
    TRY(seal_again(target, source));
  }
  return target.execute("commit");
}

base::Result<void> check_names(const fs::path& run_folder, const fs::path& output_file,
                               bool overwrite) {
  std::error_code error;
  if (fs::is_regular_file(run_folder, error)) {
    return base::fail(base::ErrorKind::kUsage,
                      base::quoted(run_folder) + " is one file already: copy it instead");
  }
  TRY(read_run_info(run_folder));
  return base::check_output(output_file, overwrite, "run" + std::string(kPackedSuffix));
}

// How far the packing has come, by the size of the file that grows.
class PackProgress {
 public:
  PackProgress(const fs::path& run_folder, fs::path growing, const PackOptions& options)
      : growing_(std::move(growing)), tell_(options.progress) {
    for (const fs::path& file : files_of_run(run_folder)) bytes_ += bytes_with_wal(file);
  }

  bool goes_on() {
    if (!tell_ || stopped_) return !stopped_;
    const double part = static_cast<double>(base::file_size_or_zero(growing_)) /
                        static_cast<double>(std::max<std::int64_t>(1, bytes_));
    // A file that is still recorded grows, and a rollback makes ours smaller.
    part_ = std::max(part_, std::min(part, 1.0));
    stopped_ = !tell_(part_);
    return !stopped_;
  }
  bool finish() {
    part_ = 1;
    return goes_on();
  }
  bool stopped() const { return stopped_; }

 private:
  const fs::path growing_;
  const std::function<bool(double)>& tell_;
  std::int64_t bytes_ = 0;
  double part_ = 0;
  bool stopped_ = false;
};

}  // namespace

base::Result<void> pack_run(const fs::path& run_folder, const fs::path& output_file,
                            const PackOptions& options) {
  TRY(check_names(run_folder, output_file, options.overwrite));
  PackProgress progress(run_folder, temporary_name(output_file), options);
  std::optional<Redaction> redaction;
  if (!options.with_paths) {
    TRY_ASSIGN(auto files, open_run_files(run_folder));
    TRY_ASSIGN(redaction, Redaction::of(databases_of(files)));
  }
  const Redaction* const leave_out = redaction ? &*redaction : nullptr;
  const auto fill = [&](Database& target) -> base::Result<void> {
    const StopReading stop([&] { return !progress.goes_on(); });
    for (const fs::path& file : files_of_run(run_folder)) {
      TRY(copy_tables(target, file, leave_out));
      if (!progress.goes_on()) break;
    }
    return {};
  };
  return create_trace_file(
      output_file,
      [&](Database& target) -> base::Result<void> {
        auto filled = fill(target);
        if (progress.stopped() || (filled && !progress.finish())) {
          return base::fail(base::ErrorKind::kFailed, "packing was stopped; nothing was written");
        }
        return filled;
      },
      options.overwrite);
}

}  // namespace shardlens::trace::store
