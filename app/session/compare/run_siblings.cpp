#include "app/session/compare/run_siblings.h"

#include <system_error>
#include <utility>

#include "app/session/runs/library_run_cache.h"
#include "trace/model/acting_settings.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace {

namespace fs = std::filesystem;

constexpr int kMostRead = 16;  // whole runs: seconds each if they are large

bool is_same_folder(const std::string& a, const std::string& b) {
  std::error_code error;
  return a == b || fs::equivalent(a, b, error);
}

// As far as run.sqlite tells; the machine is seen once the run is read.
bool may_be_sibling(const trace::model::RunInfo& run, const trace::analysis::RunFigures& of) {
  return trace::analysis::is_same_job({&run, "", ""}, {&of.info, "", ""}) &&
         !is_same_folder(run.folder, of.info.folder);
}

bool acts_alike(const trace::model::RunInfo& a, const trace::model::RunInfo& b) {
  return trace::model::acting_settings(a, {}) == trace::model::acting_settings(b, {});
}

}  // namespace

std::vector<LibraryRun> siblings_of(const trace::analysis::RunFigures& first,
                                    const trace::analysis::RunFigures& second,
                                    const fs::path& runs_dir) {
  std::vector<LibraryRun> siblings;
  std::error_code error;
  if (!fs::is_directory(runs_dir, error)) return siblings;
  int read = 0;
  for (const auto& info : trace::store::list_runs(runs_dir).runs) {
    if (!may_be_sibling(info, first) || !may_be_sibling(info, second)) continue;
    if (info.status == trace::model::RunStatus::kRunning) continue;
    const trace::store::RunStamp stamp = trace::store::run_stamp(info.folder);
    if (auto kept = kept_record(info.folder, stamp)) {
      siblings.push_back(std::move(*kept));
      continue;
    }
    const bool is_wanted = acts_alike(info, first.info) || acts_alike(info, second.info);
    if (!is_wanted || read == kMostRead) continue;
    ++read;
    auto record = read_library_run(info.folder);
    if (!record) continue;  // the library's table names what cannot be read
    if (trace::store::run_stamp(info.folder) == stamp) keep_record(*record, stamp);
    siblings.push_back(std::move(*record));
  }
  return siblings;
}

}  // namespace shardlens::app::session
