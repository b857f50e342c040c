#include "trace/store/upkeep/verify.h"

#include <algorithm>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/upkeep/file_check.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> files_of(const fs::path& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return {run};
  std::vector<fs::path> files{run / kRunFile};
  for (const auto& [rank, file] : rank_files(run)) files.push_back(file);
  return files;
}

std::int64_t bytes_with_wal(const fs::path& file) {
  return base::file_size_or_zero(file) + base::file_size_or_zero(base::beside(file, "-wal"));
}

// A job that ended in order has left a file of every rank.
void check_ranks(const fs::path& run, const model::RunInfo& info, VerifyReport& report) {
  const bool ended = info.status == model::RunStatus::kDone ||
                     info.status == model::RunStatus::kStopped ||
                     info.status == model::RunStatus::kIncomplete;
  const int expected = info.recorded_ranks > 0 ? info.recorded_ranks : info.world_size;
  std::error_code error;
  const int found = fs::is_directory(run, error) ? static_cast<int>(rank_files(run).size())
                                                 : static_cast<int>(report.ranks.size());
  if (found >= expected) return;
  const std::string there =
      std::to_string(found) + " of " + std::to_string(expected) + " ranks are there";
  if (!ended) {
    const bool runs = info.status == model::RunStatus::kRunning;
    report.notes.push_back(there +
                           (runs ? " so far" : ": the run failed, and the others left no file"));
    return;
  }
  Damage damage;
  damage.file = base::quoted(run);
  damage.what = there + ": the others' files are missing";
  report.damage.push_back(std::move(damage));
}

// Whether the files of a folder are one run's.
void check_times(const fs::path& run, VerifyReport& report) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return;
  for (const auto& [rank, path] : rank_files(run)) {
    // What else is wrong with it was told, also that it is no trace at all.
    const auto file = open_rank_file(run, path);
    if (file || file.error().kind != base::ErrorKind::kForeign) continue;
    if (!TraceFile::open(path)) continue;
    Damage damage;
    damage.file = base::quoted(path);
    damage.rank = rank;
    damage.what = file.error().message;
    report.damage.push_back(std::move(damage));
  }
}

base::Result<void> check_file(const fs::path& path, VerifyReport& report,
                              const std::function<bool(std::int64_t)>& goes_on) {
  ++report.files;
  report.bytes += bytes_with_wal(path);
  auto file = TraceFile::open(path);
  if (!file) {
    Damage damage;
    damage.file = base::quoted(path);
    damage.what = file.error().message;
    report.damage.push_back(std::move(damage));
    return {};
  }
  return FileCheck(path, file->database(), report, goes_on).run();
}

}  // namespace

base::Result<VerifyReport> verify_run(const fs::path& run, const VerifyOptions& options) {
  std::error_code error;
  if (!fs::exists(run, error)) {
    return base::fail(base::ErrorKind::kMissing, "there is no run " + base::quoted(run) +
                                                     ": name a run's folder or a packed file");
  }
  VerifyReport report;
  const auto files = files_of(run);
  std::int64_t all = 1;
  for (const fs::path& file : files) all += bytes_with_wal(file);
  std::int64_t done = 0;
  const auto goes_on = [&](std::int64_t within) {
    const double part = static_cast<double>(done + within) / static_cast<double>(all);
    return !options.progress || options.progress(std::min(1.0, part));
  };
  for (const fs::path& file : files) {
    TRY(check_file(file, report, goes_on));
    done += bytes_with_wal(file);
  }
  const auto info = read_run_info(run);
  if (info) {
    report.start_ns = info->start_ns;
    check_ranks(run, *info, report);
    check_times(run, report);
  }
  return report;
}

}  // namespace shardlens::trace::store
