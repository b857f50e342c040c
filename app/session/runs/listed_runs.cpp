#include "app/session/runs/listed_runs.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "app/session/runs/library_run.h"
#include "app/session/runs/run_liveness.h"
#include "app/session/runs/run_numbers.h"
#include "trace/base/text.h"
#include "trace/base/wall_clock.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;

ListedRuns listed_examples(const fs::path& folder) {
  ListedRuns list;
  std::error_code error;
  if (!fs::is_directory(folder, error)) return list;
  const auto paths = trace::store::run_paths(folder);
  if (!paths) list.problems.push_back(paths.error().message);
  for (const auto& run : paths.value_or(std::vector<fs::path>{})) {
    if (auto kept = kept_record(run, trace::store::run_stamp(run))) {
      list.runs.push_back({std::move(*kept), true});
      continue;
    }
    auto info = trace::store::read_run_info(run);
    if (info) {
      list.runs.emplace_back().record.info = std::move(*info);
    } else {
      list.problems.push_back(info.error().message);
    }
  }
  std::ranges::sort(list.runs, [](const ListedRun& a, const ListedRun& b) {
    const auto &x = a.record.info, &y = b.record.info;
    return std::tie(y.start_ns, y.folder) < std::tie(x.start_ns, x.folder);
  });
  return list;
}

ListedRuns listed_runs(const fs::path& runs_dir) {
  ListedRuns list = listed_examples(runs_dir);
  RunNumbering numbering(runs_dir);
  std::vector<const trace::model::RunInfo*> infos;
  for (const auto& run : list.runs) infos.push_back(&run.record.info);
  list.warning = numbering.number(std::move(infos));
  for (auto& run : list.runs) run.record.number = numbering.number_of(run.record.info);
  list.next_number = numbering.next();
  return list;
}

trace::base::Result<fs::path> find_listed_run(std::string_view run, const fs::path& runs_dir,
                                              const fs::path& examples) {
  auto found = trace::store::find_run(run, runs_dir, examples);
  const auto number = trace::base::number_from<std::int64_t>(run);
  if (found || !number || *number <= 0) return found;
  for (const ListedRun& one : listed_runs(runs_dir).runs) {
    if (one.record.number == *number) return one.record.info.folder;
  }
  return found;
}

trace::job::Settings with_resumed_run(trace::job::Settings settings, const fs::path& runs_dir) {
  std::error_code error;
  if (!trace::job::resumes(settings) || fs::exists(settings.resume, error)) return settings;
  if (auto run = find_listed_run(settings.resume, runs_dir, {})) settings.resume = run->string();
  return settings;
}

namespace {

// A run whose launcher was killed says for ever that it is running.
LibraryRun as_it_ended(LibraryRun record) {
  if (is_abandoned(record.liveness, trace::base::wall_clock_ns())) mark_as_cut_off(record.info);
  return record;
}

}  // namespace

trace::base::Result<LibraryRun> with_figures(ListedRun run) {
  if (run.has_figures) return as_it_ended(std::move(run.record));
  const fs::path folder = run.record.info.folder;
  const auto stamp = trace::store::run_stamp(folder);
  TRY_ASSIGN(auto record, read_library_run(folder));
  if (trace::store::is_settled(folder, stamp)) keep_record(record, stamp);
  record.number = run.record.number;
  return as_it_ended(std::move(record));
}

}  // namespace shardlens::app::session
