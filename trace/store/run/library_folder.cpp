// The library of runs: a folder of run folders and packed files, where names are unique.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <iterator>
#include <system_error>
#include <tuple>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/base/wall_clock.h"
#include "trace/base/words/suggestion.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kLongestFolderName = 60;
// To look through a library of thousands of runs on a slow disk.
constexpr std::chrono::seconds kLongestClaim{30};

// Only what every file system and shell takes; the exact name is in the file.
std::string folder_name_from(std::string_view name) {
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '-' || c == '_';
    const char next = plain ? c : '_';
    if (next == '_' && safe.ends_with('_')) continue;
    safe += next;
    if (safe.size() == kLongestFolderName) break;
  }
  return safe.empty() || safe == "_" ? "run" : safe;
}

std::string local_time_text(std::int64_t time_ns) {
  const std::time_t seconds = static_cast<std::time_t>(time_ns / 1'000'000'000);
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H-%M-%S", &local);
  return text;
}

base::Result<void> make_library(const fs::path& runs_dir) {
  std::error_code error;
  fs::create_directories(runs_dir, error);
  if (!error) return {};
  return base::fail(base::ErrorKind::kIo, "cannot create the folder of runs " +
                                              base::quoted(runs_dir) + ": " + error.message() +
                                              "; choose another with --runs-dir");
}

base::Result<fs::path> new_folder(const fs::path& runs_dir, const model::RunInfo& info) {
  std::error_code error;
  const fs::path wanted =
      runs_dir / (local_time_text(info.start_ns) + "_" + folder_name_from(info.name));
  fs::path folder = wanted;
  for (int number = 2; !fs::create_directory(folder, error); ++number) {
    if (error) {
      return base::fail(base::ErrorKind::kIo, "cannot create the run's folder " +
                                                  base::quoted(folder) + ": " + error.message() +
                                                  "; choose another place with --runs-dir");
    }
    folder = base::beside(wanted, "_" + std::to_string(number));
  }
  return folder;
}

// With our marks, and no symbolic link.
base::Result<void> check_may_be_deleted(const fs::path& run) {
  std::error_code error;
  const bool folder = fs::is_directory(fs::symlink_status(run, error));
  const bool file = fs::is_regular_file(fs::symlink_status(run, error));
  if ((folder && is_trace_file(run / kRunFile)) || (file && is_trace_file(run))) return {};
  return base::fail(
      base::ErrorKind::kUsage,
      base::quoted(run) + " is not a run that could be overwritten: choose another name");
}

base::Result<void> delete_run(const fs::path& run) {
  TRY(check_may_be_deleted(run));
  std::error_code error;
  fs::remove_all(run, error);
  if (!error) return {};
  return base::fail(base::ErrorKind::kIo,
                    "cannot delete the old run " + base::quoted(run) + ": " + error.message());
}

// Of those that may have been meant; "": none.
std::string nearest_runs(const std::vector<model::RunInfo>& runs, std::string_view wanted) {
  constexpr std::size_t kShown = 3;
  std::vector<std::string_view> names;
  for (const model::RunInfo& run : runs) {
    if (base::is_near(wanted, run.name)) names.emplace_back(run.name);
  }
  return base::joined(base::nearest_names(wanted, names, kShown), ", ",
                      [](auto name) { return "'" + std::string(name) + "'"; });
}

// Files of ranks without the run's own, which a user must hear of. (A folder that has neither yet
// may be one that is being made.)
bool is_part_of_run(const fs::path& folder) {
  std::error_code error;
  return fs::is_directory(folder, error) && !fs::exists(folder / kRunFile, error) &&
         !rank_files(folder).empty();
}

bool is_run(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(path, error) ? fs::exists(path / kRunFile, error) : is_trace_file(path);
}

}  // namespace

bool is_being_recorded(const fs::path& run) {
  if (base::FolderLock::is_held(run)) return true;
  constexpr std::int64_t kAliveNs = 5'000'000'000;
  const std::string host = base::host_name();
  for (const auto& [rank, file] : rank_files(run)) {
    auto opened = TraceFile::open(file);
    if (!opened) continue;
    auto statement = opened->database().prepare(
        "select process_id from rank join heartbeat using(rank) where host=?1 and alive_ns>?2 "
        "and process_id>0");
    if (!statement) continue;
    statement->bind_text(1, host);
    statement->bind(2, base::wall_clock_ns() - kAliveNs);
    const auto found = statement->step();
    if (!found || !*found) continue;
    if (base::has_process(statement->integer(0))) return true;
  }
  return false;
}

namespace {

fs::path run_called(const Library& library, std::string_view name) {
  for (const model::RunInfo& info : library.runs) {
    const fs::path file(info.folder);
    const bool is_packed = file.extension() == kPackedSuffix;
    if (info.name == name || file.filename() == name || (is_packed && file.stem() == name))
      return file;
  }
  return {};
}

base::Result<void> check_name(const std::string& name) {
  if (name == base::printable_line(name)) return {};
  return base::fail(base::ErrorKind::kUsage,
                    "the name '" + base::printable_line(name) +
                        "' has characters that cannot be printed: choose another");
}

base::Result<void> check_not_recorded(const fs::path& run, const std::string& name) {
  if (!is_being_recorded(run)) return {};
  return base::fail(base::ErrorKind::kUsage, "the run '" + name + "' in " + base::quoted(run) +
                                                 " is being recorded: stop it first, or choose "
                                                 "another name");
}

bool is_free(const fs::path& folder) {
  std::error_code error;
  return !fs::exists(fs::symlink_status(folder, error)) ||
         (fs::is_directory(folder, error) && fs::is_empty(folder, error));
}

}  // namespace

std::string free_name(const std::string& wanted, const std::vector<model::RunInfo>& runs) {
  std::string name = wanted;
  for (int count = 2; std::ranges::find(runs, name, &model::RunInfo::name) != runs.end(); ++count) {
    name = wanted + " " + std::to_string(count);
  }
  return name;
}

base::Result<std::vector<model::RunInfo>> runs_to_replace(const fs::path& runs_dir,
                                                          const std::string& name,
                                                          TakenName taken) {
  TRY(check_name(name));
  if (taken == TakenName::kIsNumbered) return {};
  std::vector<model::RunInfo> old = list_runs(runs_dir).runs;
  std::erase_if(old, [&](const model::RunInfo& run) { return run.name != name; });
  if (!old.empty() && taken == TakenName::kIsRefused) {
    return base::fail(base::ErrorKind::kUsage,
                      "a run named '" + name + "' exists in " + base::quoted(runs_dir) +
                          ": choose another name, or give --overwrite to replace it");
  }
  for (const model::RunInfo& run : old) {
    TRY(check_not_recorded(run.folder, name));
    TRY(check_may_be_deleted(run.folder));
  }
  return old;
}

base::Result<ClaimedRun> create_claimed_run(const fs::path& runs_dir, model::RunInfo& info,
                                            TakenName taken) {
  TRY(check_name(info.name));
  TRY(make_library(runs_dir));
  // Until the run is there, nobody else may take its name.
  TRY_ASSIGN(const base::FolderLock lock, base::FolderLock::acquire(runs_dir, kLongestClaim));
  if (taken == TakenName::kIsNumbered) info.name = free_name(info.name, list_runs(runs_dir).runs);
  TRY_ASSIGN(auto old, runs_to_replace(runs_dir, info.name, taken));
  if (info.start_ns == 0) info.start_ns = base::wall_clock_ns();
  TRY_ASSIGN(const fs::path folder, new_folder(runs_dir, info));
  const auto created = create_run_at(folder, info);
  std::error_code ignored;
  if (!created) fs::remove(folder, ignored);  // which is empty
  TRY(created);
  TRY_ASSIGN(base::FolderLock claim, base::FolderLock::acquire(folder, kLongestClaim));
  return ClaimedRun{folder, std::move(claim), std::move(old), {}};
}

base::Result<void> check_run_place(const fs::path& run_folder, bool overwrite) {
  if (is_free(run_folder)) return {};
  if (overwrite && !is_being_recorded(run_folder)) return check_may_be_deleted(run_folder);
  return base::fail(base::ErrorKind::kUsage, base::quoted(run_folder) +
                                                 " exists already: choose another folder, or give "
                                                 "--overwrite to replace a finished run");
}

base::Result<ClaimedRun> create_run_in(const fs::path& run_folder, model::RunInfo& info,
                                       bool overwrite) {
  TRY(check_name(info.name));
  TRY(check_run_place(run_folder, overwrite));
  const bool replaces = !is_free(run_folder);
  const fs::path folder =
      replaces ? base::beside(run_folder, ".new-" + std::to_string(getpid())) : run_folder;
  TRY(create_run_at(folder, info));
  TRY_ASSIGN(base::FolderLock claim, base::FolderLock::acquire(folder, kLongestClaim));
  return ClaimedRun{folder, std::move(claim), {}, replaces ? run_folder : fs::path()};
}

namespace {

// The user may have deleted or renamed it since, to keep it.
base::Result<void> delete_replaced(const model::RunInfo& old) {
  std::error_code error;
  if (!fs::exists(fs::symlink_status(old.folder, error))) return {};
  TRY_ASSIGN(const model::RunInfo now, read_run_info(old.folder));
  if (now.name != old.name) return {};
  TRY(check_not_recorded(old.folder, old.name));
  return delete_run(old.folder);
}

base::Result<void> delete_all_replaced(ClaimedRun& run) {
  if (run.replaced.empty()) return {};
  // Nobody renames one meanwhile.
  TRY_ASSIGN(const base::FolderLock lock,
             base::FolderLock::acquire(library_of(run.folder), kLongestClaim));
  base::Result<void> all;
  for (const model::RunInfo& old : std::exchange(run.replaced, {})) {
    const auto deleted = delete_replaced(old);
    if (all && !deleted) all = deleted;
  }
  return all;
}

}  // namespace

base::Result<void> take_place(ClaimedRun& run) {
  if (run.place.empty()) return delete_all_replaced(run);
  TRY(check_run_place(run.place, true));
  if (!is_free(run.place)) TRY(delete_run(run.place));
  std::error_code error;
  fs::rename(run.folder, run.place, error);
  if (error) {
    return base::fail(base::ErrorKind::kIo, "cannot give the new run " + base::quoted(run.folder) +
                                                " the name " + base::quoted(run.place) + ": " +
                                                error.message());
  }
  run.folder = std::exchange(run.place, {});
  return {};
}

base::Result<fs::path> create_run(const fs::path& runs_dir, model::RunInfo& info, bool overwrite) {
  TRY_ASSIGN(ClaimedRun run,
             create_claimed_run(runs_dir, info,
                                overwrite ? TakenName::kIsReplaced : TakenName::kIsRefused));
  TRY(take_place(run));
  return std::move(run.folder);
}

base::Result<std::vector<fs::path>> run_paths(const fs::path& runs_dir) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator entry(runs_dir, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    std::error_code ignored;
    const bool folder = entry->is_directory(ignored) && fs::exists(path / kRunFile, ignored);
    const bool packed = entry->is_regular_file(ignored) && path.extension() == kPackedSuffix;
    if (folder || packed || is_part_of_run(path)) paths.push_back(path);
  }
  if (!error || error == std::errc::no_such_file_or_directory) return paths;
  return base::fail(base::ErrorKind::kIo,
                    "cannot list the runs in " + base::quoted(runs_dir) + ": " + error.message());
}

Library list_runs(const fs::path& runs_dir) {
  Library library;
  const auto paths = run_paths(runs_dir);
  if (!paths) library.problems.push_back(paths.error());
  for (const fs::path& path : paths.value_or(std::vector<fs::path>{})) {
    auto info = read_run_info(path);
    if (info) {
      library.runs.push_back(std::move(*info));
    } else {
      library.problems.push_back(info.error());
    }
  }
  std::sort(library.runs.begin(), library.runs.end(),
            [](const model::RunInfo& a, const model::RunInfo& b) {
              return std::tie(b.start_ns, b.folder) < std::tie(a.start_ns, a.folder);
            });
  return library;
}

fs::path library_of(const fs::path& run) {
  std::error_code error;
  const fs::path whole = fs::absolute(run, error).lexically_normal();
  return (whole.has_filename() ? whole : whole.parent_path()).parent_path();
}

base::Result<fs::path> find_run(std::string_view run, const fs::path& runs_dir,
                                const fs::path& examples) {
  fs::path path{run};
  if (!path.has_filename()) path = path.parent_path();  // "runs/first/", as shells complete it
  if (!run.empty() && is_run(path)) return path;
  Library library = list_runs(runs_dir);
  if (const auto found = run_called(library, run); !found.empty()) return found;
  if (!examples.empty()) {
    Library others = list_runs(examples);
    if (const auto found = run_called(others, run); !found.empty()) return found;
    std::ranges::move(others.runs, std::back_inserter(library.runs));
  }
  // Something else of that name: whoever opens it says what is wrong with it.
  std::error_code error;
  if (!run.empty() && fs::exists(path, error)) return path;
  if (!run.empty() && is_part_of_run(runs_dir / path)) return runs_dir / path;
  std::string message = "there is no run '" + std::string(run) + "' in " + base::quoted(runs_dir);
  if (const std::string nearest = nearest_runs(library.runs, run); !nearest.empty()) {
    message += ". Did you mean " + nearest + "?";
  } else if (!library.runs.empty()) {
    message += ": `shardlens runs` lists those that are there.";
  } else {
    message +=
        ", which holds no runs: record one with `shardlens run`, or name its folder with "
        "--runs-dir.";
  }
  if (!library.problems.empty()) message += " Unreadable: " + library.problems.front().message;
  return base::fail(base::ErrorKind::kMissing, message);
}

}  // namespace shardlens::trace::store
