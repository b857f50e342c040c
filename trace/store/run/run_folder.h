// A run on disk: names, paths, and run.sqlite, which the launcher writes. One thread at a time.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/file_system.h"
#include "trace/base/result.h"
#include "trace/model/run_info.h"

namespace shardlens::trace::store {

inline constexpr std::string_view kRunFile = "run.sqlite";
inline constexpr std::string_view kPackedSuffix = ".shardlens";
std::filesystem::path rank_file(const std::filesystem::path& run_folder, int rank);
std::filesystem::path rank_log(const std::filesystem::path& run_folder, int rank);
// Where the built-in trainer saves what it trained: a whole model, or adapters alone.
std::filesystem::path model_folder(const std::filesystem::path& run_folder);
std::filesystem::path adapter_folder(const std::filesystem::path& run_folder);
// The one of them that is there; "": none.
std::filesystem::path saved_model(const std::filesystem::path& run_folder);

// What becomes of a name that another run has: kUsage; that run goes; "name 2", "name 3", …
enum class TakenName { kIsRefused, kIsReplaced, kIsNumbered };
// A run in the making. Nobody may replace or delete it until the claim is given up: by whoever says
// how the run ended, or with its process.
struct ClaimedRun {
  std::filesystem::path folder;
  base::FolderLock claim;
  std::vector<model::RunInfo> replaced;  // what take_place() deletes, as it was then
  std::filesystem::path place;           // where that moves the folder; "": it stays
};
// Creates <runs_dir>/<date>T<time>_<name>/ with a run.sqlite that holds `info`; of several programs
// that take a name at the same time one gets it. A name that cannot be printed on a line is kUsage.
// Fills in the folder, and the name where it was numbered.
base::Result<ClaimedRun> create_claimed_run(const std::filesystem::path& runs_dir,
                                            model::RunInfo& info, TakenName taken);
// The same for a folder given by the caller. A run that is there may be replaced; anything else
// that is there is kUsage.
base::Result<ClaimedRun> create_run_in(const std::filesystem::path& run_folder,
                                       model::RunInfo& info, bool overwrite);
// Once the run stands: until then what it replaces is there, and what was renamed since stays.
// After an error this one is whole, where it was made.
base::Result<void> take_place(ClaimedRun& run);
// All of that at once.
base::Result<std::filesystem::path> create_run(const std::filesystem::path& runs_dir,
                                               model::RunInfo& info, bool overwrite);
// In a folder that holds no run, as ranks do that another launcher started.
base::Result<void> create_run_at(const std::filesystem::path& run_folder, model::RunInfo& info);
// The runs that one of this name would replace now. Errors: as create_claimed_run() and
// create_run_in(), which these tell before there is any work.
base::Result<std::vector<model::RunInfo>> runs_to_replace(const std::filesystem::path& runs_dir,
                                                          const std::string& name, TakenName taken);
base::Result<void> check_run_place(const std::filesystem::path& run_folder, bool overwrite);
// Status, reason and end of a run that exists, and its device and ranks, which are known late where
// another program is recorded.
base::Result<void> update_run(const std::filesystem::path& run_folder, const model::RunInfo& info);
// What a user says of a run, whether it is a folder or a packed file; what is not given stays. The
// name is not checked against those of other runs.
struct RunWords {
  std::optional<std::string> name, note;
  std::optional<std::vector<std::string>> tags;
};
base::Result<void> write_words(const std::filesystem::path& run, const RunWords& words);
// Returns those that the run has then: another program may have set some meanwhile.
base::Result<model::Bookmarks> write_bookmarks(const std::filesystem::path& run,
                                               const std::vector<model::BookmarkChange>& changes);
base::Result<model::RunInfo> read_run_info(const std::filesystem::path& run_folder_or_packed);

// Folders with a run.sqlite and packed files, in no order; none is opened.
base::Result<std::vector<std::filesystem::path>> run_paths(const std::filesystem::path& runs_dir);
// All runs of a library, newest first, each opened. Unreadable ones
// are left out of `runs` and listed in `problems`.
struct Library {
  std::vector<model::RunInfo> runs;
  std::vector<base::Error> problems;
};
Library list_runs(const std::filesystem::path& runs_dir);
// `wanted`, or "wanted 2", "wanted 3", … if runs have it.
std::string free_name(const std::string& wanted, const std::vector<model::RunInfo>& runs);
// Somebody holds its claim, or a rank of it lives on this machine: it moved within the last seconds
// and its process is there.
bool is_being_recorded(const std::filesystem::path& run);
// The folder that a run lies in, however the run was named: `.`, `runs/first/`.
std::filesystem::path library_of(const std::filesystem::path& run);
// `run`: a folder, a packed file, or the name of a run or of its file in the library, else among
// the examples. Error kMissing lists the nearest names.
base::Result<std::filesystem::path> find_run(std::string_view run,
                                             const std::filesystem::path& runs_dir,
                                             const std::filesystem::path& examples = {});

// Checkpoints the WAL of every file whose writer has ended.
base::Result<void> checkpoint_run(const std::filesystem::path& run_folder);

}  // namespace shardlens::trace::store
