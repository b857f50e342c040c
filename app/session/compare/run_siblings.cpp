#include "app/session/compare/run_siblings.h"

#include <cstdint>
#include <string>
#include <system_error>
#include <utility>

#include "app/session/runs/figures_cache.h"
#include "app/session/worker/read_safely.h"
#include "trace/base/file_system.h"
#include "trace/model/acting_settings.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace {

namespace fs = std::filesystem;

constexpr int kMostAlike = 16;  // read whole: seconds each if they are large
// Beyond these of all runs that are read: a second or two, once.
constexpr std::int64_t kMostBytes = std::int64_t{64} << 20;

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

bool is_in(const trace::analysis::RunFigures& run, const fs::path& folder) {
  return !folder.empty() &&
         is_same_folder(trace::store::library_of(run.info.folder).string(), folder.string());
}

// As far as run.sqlite tells; the machine is seen once the run is read.
bool may_be_sibling(const trace::model::RunInfo& run, const trace::analysis::RunFigures& of) {
  return trace::analysis::is_same_job({&run, "", ""}, {&of.info, "", ""}) &&
         !is_same_folder(run.folder, of.info.folder);
}

bool acts_alike(const trace::model::RunInfo& a, const trace::model::RunInfo& b) {
  return trace::model::acting_settings(a, {}) == trace::model::acting_settings(b, {});
}

std::int64_t bytes_of(const fs::path& run) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return trace::base::file_size_or_zero(run);
  std::int64_t bytes = 0;
  for (const auto& entry : fs::directory_iterator(run, error)) {
    if (entry.path().extension() == ".sqlite") bytes += trace::base::file_size_or_zero(entry);
  }
  return bytes;
}

// Nothing where it cannot be read: the library's table names it.
void read_into(std::vector<LibraryRun>& runs, const fs::path& folder) {
  const trace::store::RunStamp stamp = trace::store::run_stamp(folder);
  auto record = read_safely(folder.string(), [&] { return read_library_run(folder); });
  if (!record) return;
  if (trace::store::run_stamp(folder) == stamp) keep_record(*record, stamp);
  runs.push_back(std::move(*record));
}

}  // namespace

std::vector<LibraryRun> siblings_of(const trace::analysis::RunFigures& first,
                                    const trace::analysis::RunFigures& second,
                                    const fs::path& runs_dir, const fs::path& examples) {
  const fs::path& library = is_in(first, examples) && is_in(second, examples) ? examples : runs_dir;
  std::vector<LibraryRun> siblings;
  std::error_code error;
  if (!fs::is_directory(library, error)) return siblings;
  std::vector<fs::path> alike, others;  // newest first
  for (const auto& info : trace::store::list_runs(library).runs) {
    if (!may_be_sibling(info, first) || !may_be_sibling(info, second)) continue;
    if (info.status == trace::model::RunStatus::kRunning) continue;
    if (auto kept = kept_record(info.folder, trace::store::run_stamp(info.folder))) {
      siblings.push_back(std::move(*kept));
      continue;
    }
    const bool is_alike = acts_alike(info, first.info) || acts_alike(info, second.info);
    (is_alike ? alike : others).push_back(info.folder);
  }
  if (alike.size() > kMostAlike) alike.resize(kMostAlike);
  std::int64_t bytes = 0;
  for (const auto& folder : alike) {
    bytes += bytes_of(folder);
    read_into(siblings, folder);
  }
  for (const auto& folder : others) {
    bytes += bytes_of(folder);
    if (bytes > kMostBytes) break;
    read_into(siblings, folder);
  }
  return siblings;
}

}  // namespace shardlens::app::session
