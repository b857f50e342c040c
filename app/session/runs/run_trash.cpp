#include "app/session/runs/run_trash.h"

#include <unistd.h>

#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "app/session/runs/run_words.h"
#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::Result;

namespace {

constexpr const char* kTrash = ".trash";

std::string host_prefix() { return trace::base::host_name() + "-"; }

// "host-1234": whether that process of this machine is gone.
bool is_left_behind(std::string_view name) {
  const std::string host = host_prefix();
  if (!name.starts_with(host)) return false;
  name.remove_prefix(host.size());
  const auto process = trace::base::number_from<pid_t>(name);
  return process && *process > 0 && !trace::base::has_process(*process);
}

// Never through a symbolic link, and nothing that is not ours.
Result<void> check_may_be_deleted(const fs::path& run, const fs::path& runs_dir) {
  std::error_code error;
  const auto kind = fs::symlink_status(run, error).type();
  const bool is_run = (kind == fs::file_type::directory &&
                       trace::store::is_trace_file(run / trace::store::kRunFile)) ||
                      (kind == fs::file_type::regular && trace::store::is_trace_file(run));
  if (!is_run || run.parent_path() != runs_dir) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        trace::base::quoted(run) + " is not a run of this library, so it is not deleted");
  }
  if (trace::store::is_being_recorded(run)) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        trace::base::quoted(run) + " is being recorded: stop it before deleting it");
  }
  return {};
}

}  // namespace

RunTrash::RunTrash(fs::path runs_dir)
    : runs_dir_(std::move(runs_dir)),
      folder_(runs_dir_ / kTrash / (host_prefix() + std::to_string(getpid()))) {
  auto left = trace::base::entries_of(runs_dir_ / kTrash);
  std::erase_if(left,
                [](const fs::path& folder) { return !is_left_behind(folder.filename().string()); });
  std::error_code error;
  for (const auto& folder : left) fs::remove_all(folder, error);
  if (!left.empty()) fs::remove(runs_dir_ / kTrash, error);  // unless others are in it
}

RunTrash::~RunTrash() {
  if (moved_ == 0) return;
  std::error_code error;
  fs::remove_all(folder_, error);
  fs::remove(runs_dir_ / kTrash, error);
}

Result<void> RunTrash::take(const std::vector<fs::path>& runs) {
  for (const auto& run : runs) TRY(check_may_be_deleted(run, runs_dir_));
  std::error_code error;
  fs::create_directories(folder_, error);
  std::vector<Move> moves;
  for (const auto& run : runs) {
    // Under a name of its own: another run may have had this one's.
    const fs::path to = folder_ / (std::to_string(++moved_) + "_" + run.filename().string());
    if (!error) fs::rename(run, to, error);
    if (error) break;
    moves.emplace_back(run, to);
  }
  taken_.push_back(std::move(moves));
  if (!error) return {};
  const fs::path& refused = runs[taken_.back().size()];
  std::string problem = "Could not delete " + trace::base::quoted(refused) + ": " +
                        error.message() + ". Is the library's folder writable?";
  if (const auto back = give_back(); !back) problem += " " + back.error().message;
  return trace::base::fail(trace::base::ErrorKind::kIo, problem);
}

namespace {

// Another run may have been given its name meanwhile.
Result<void> take_free_name(const fs::path& run, std::set<std::string>& taken) {
  const auto info = trace::store::read_run_info(run);
  if (!info || taken.insert(info->name).second) return {};
  const fs::path runs_dir = run.parent_path();
  const std::string free =
      trace::store::free_name(info->name, trace::store::list_runs(runs_dir).runs);
  return change_words(runs_dir, run, {.name = free, .note = {}, .tags = {}});
}

}  // namespace

Result<void> RunTrash::give_back() {
  if (taken_.empty()) return {};
  std::string problem;
  std::set<std::string> taken;
  for (const auto& run : trace::store::list_runs(runs_dir_).runs) taken.insert(run.name);
  // What does not come back can be asked for again, as long as it is there.
  std::erase_if(taken_.back(), [&](const Move& move) {
    const auto& [from, to] = move;
    std::error_code error;
    if (fs::exists(from, error)) {
      problem = trace::base::quoted(from) +
                " is there again: move it away, then restore the deleted run once more";
      return false;
    }
    fs::rename(to, from, error);
    const auto renamed = error ? Result<void>() : take_free_name(from, taken);
    if (!renamed) problem = renamed.error().message;
    if (error) problem = "Could not restore " + trace::base::quoted(from) + ": " + error.message();
    std::error_code unknown;
    return !error || !fs::exists(to, unknown);
  });
  if (taken_.back().empty()) taken_.pop_back();
  if (problem.empty()) return {};
  return trace::base::fail(trace::base::ErrorKind::kIo, problem);
}

}  // namespace shardlens::app::session
