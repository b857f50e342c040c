#include "trace/store/run/run_files.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <system_error>

#include "trace/base/saturated.h"
#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

// Where and when a rank was recorded.
struct Recording {
  std::string host;                       // "": not known
  std::int64_t start_ns = 0, end_ns = 0;  // of its first and last step; 0: it has none
};

base::Result<Recording> recording_of(Database& database) {
  Recording recording;
  TRY_ASSIGN(recording.host, database.text("select host from rank"));
  TRY_ASSIGN(recording.start_ns,
             database.integer("select start_ns from step order by row_id limit 1"));
  TRY_ASSIGN(recording.end_ns,
             database.integer("select end_ns from step order by row_id desc limit 1"));
  return recording;
}

base::Result<void> check_is_of_run(const fs::path& run_folder, const fs::path& file,
                                   Database& database) {
  // Clocks of hosts are this far apart at most, far beyond NTP's, and one is set by no more while a
  // run begins.
  constexpr std::int64_t kMostClockDifference = 60'000'000'000;
  const auto rank = recording_of(database);
  // What cannot be read is told by whoever reads it.
  if (!rank || rank->host.empty() || rank->start_ns == 0) return {};
  TRY_ASSIGN(const model::RunInfo run, read_run_info(run_folder));
  const bool has_ended = run.end_ns >= run.start_ns;
  const std::int64_t too_early = base::saturated_difference(run.start_ns, rank->end_ns);
  const std::int64_t too_late =
      has_ended ? base::saturated_difference(rank->start_ns, run.end_ns) : 0;
  if (std::max(too_early, too_late) <= kMostClockDifference) return {};
  return base::fail(
      base::ErrorKind::kForeign,
      base::quoted(file) + " is of another run: its steps " +
          (too_early > 0 ? "ended before this one began" : "began after this one had ended") +
          ". Put the same run's file there, or remove it");
}

}  // namespace

base::Result<TraceFile> open_rank_file(const fs::path& run_folder, const fs::path& file) {
  TRY_ASSIGN(TraceFile opened, TraceFile::open(file));
  TRY(check_is_of_run(run_folder, file, opened.database()));
  return opened;
}

std::optional<int> rank_of_file_name(std::string_view name) {
  constexpr std::string_view kPrefix = "rank_", kSuffix = ".sqlite";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  if (name.size() <= kSuffix.size()) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  const auto rank = base::number_from<int>(name);
  return rank && *rank >= 0 ? rank : std::nullopt;
}

base::Result<std::vector<TraceFile>> open_run_files(const fs::path& run,
                                                    std::vector<std::string>* left_out) {
  TRY(read_run_info(run));
  std::vector<TraceFile> files;
  std::error_code error;
  if (!fs::is_directory(run, error)) {
    TRY_ASSIGN(TraceFile packed, TraceFile::open(run));
    files.push_back(std::move(packed));
    return files;
  }
  TRY_ASSIGN(TraceFile run_file, TraceFile::open(run / kRunFile));
  files.push_back(std::move(run_file));
  std::optional<base::Error> problem;
  for (const auto& [rank, path] : rank_files(run)) {
    auto file = open_rank_file(run, path);
    if (file) {
      files.push_back(std::move(*file));
      continue;
    }
    if (left_out == nullptr) return tl::make_unexpected(file.error());
    left_out->push_back(file.error().message);
    if (!problem) problem = file.error();
  }
  if (problem && files.size() == 1) return tl::make_unexpected(*problem);
  return files;
}

std::vector<fs::path> files_of_run(const fs::path& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return {run};
  std::vector<fs::path> files{run / kRunFile};
  for (const auto& [rank, file] : rank_files(run)) files.push_back(file);
  return files;
}

std::int64_t bytes_with_wal(const fs::path& file) {
  return base::file_size_or_zero(file) + base::file_size_or_zero(base::beside(file, "-wal"));
}

std::vector<Database*> databases_of(std::vector<TraceFile>& files) {
  std::vector<Database*> databases;
  for (TraceFile& file : files) databases.push_back(&file.database());
  return databases;
}

std::map<int, fs::path> rank_files(const fs::path& run_folder) {
  std::map<int, fs::path> files;
  std::error_code error;
  for (fs::directory_iterator entry(run_folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto rank = rank_of_file_name(entry->path().filename().string());
    if (rank) files[*rank] = entry->path();
  }
  return files;
}

base::Result<std::vector<int>> ranks_in(Database& database) {
  std::vector<int> ranks;
  TRY(database.for_each_row(
      "select distinct rank from meta where rank >= 0 order by rank",
      [&](const Statement& row) { ranks.push_back(static_cast<int>(row.integer(0))); }));
  return ranks;
}

}  // namespace shardlens::trace::store
