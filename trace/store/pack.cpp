#include "trace/store/pack.h"

#include <system_error>

#include "trace/store/older_formats.h"
#include "trace/store/rank_files.h"
#include "trace/store/run_folder.h"
#include "trace/store/schema.h"
#include "trace/store/trace_file.h"

namespace shardlens::trace {

namespace fs = std::filesystem;

namespace {

// Row ids of ranks never meet, so every table is copied as it is.
Result<void> copy_tables(Database& target, const fs::path& source_file) {
  TRY_ASSIGN(const TraceFile source, TraceFile::open(source_file));
  {
    TRY_ASSIGN(auto attach, target.prepare("attach ? as source"));
    attach.bind_text(1, source.uri());
    TRY(attach.run());
  }
  const auto copy = [&]() -> Result<void> {
    TRY(target.execute("begin"));
    for (const TableSchema& table : trace_tables()) {
      const std::string columns = column_names(table.columns);
      TRY_ASSIGN(const auto rows, select_known_columns(target, "source", table));
      if (rows.empty()) continue;
      TRY(target.execute("insert into main." + table.name + "(" + columns + ") " + rows));
    }
    return target.execute("commit");
  };
  auto copied = copy();
  if (!copied) {
    // The connection speaks for both files; the user must learn which one is broken.
    copied.error().message += " (while copying " + quoted(source_file) + ")";
    static_cast<void>(target.execute("rollback"));
  }
  const auto detached = target.execute("detach source");
  return copied ? detached : copied;
}

Result<void> check_names(const fs::path& run_folder, const fs::path& output_file, bool overwrite) {
  std::error_code error;
  if (fs::is_regular_file(run_folder, error)) {
    return fail(ErrorKind::kUsage, quoted(run_folder) + " is one file already: copy it instead");
  }
  TRY(read_run_info(run_folder));
  if (!fs::exists(fs::symlink_status(output_file, error))) return {};
  if (fs::is_directory(output_file, error)) {
    return fail(ErrorKind::kUsage, quoted(output_file) + " is a folder: name a file, such as run" +
                                       std::string(kPackedSuffix));
  }
  if (overwrite) return {};
  return fail(ErrorKind::kUsage,
              quoted(output_file) + " exists already: choose another name, or give --overwrite");
}

}  // namespace

Result<void> pack_run(const fs::path& run_folder, const fs::path& output_file,
                      const PackOptions& options) {
  TRY(check_names(run_folder, output_file, options.overwrite));
  const auto ranks = rank_files(run_folder);
  const auto fill = [&](Database& target) -> Result<void> {
    double done = 0;
    const auto report = [&] {
      if (options.progress) options.progress(done / static_cast<double>(ranks.size() + 1));
      ++done;
    };
    report();
    TRY(copy_tables(target, run_folder / kRunFile));
    for (const auto& [rank, file] : ranks) {
      report();
      TRY(copy_tables(target, file));
    }
    report();
    return {};
  };
  return create_trace_file(output_file, fill, options.overwrite);
}

}  // namespace shardlens::trace
