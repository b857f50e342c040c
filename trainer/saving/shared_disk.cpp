#include "trainer/saving/shared_disk.h"

#include <algorithm>
#include <string>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/base/this_machine.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/whole_folder.h"
#include "trainer/saving/model_saver.h"

namespace shardlens::trainer::saving {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::Result;
using trace::job::Settings;

namespace {

bool writes(const Settings& settings, const strategy::Strategy& strategy) {
  return std::ranges::any_of(
      strategy.local_parameters(), [&](const strategy::LocalParameter& part) {
        const bool is_in_checkpoints = !part.is_frozen || settings.lora_rank == 0;
        return part.is_primary && ((trace::job::saves_checkpoints(settings) && is_in_checkpoints) ||
                                   saves_whole_model(settings));
      });
}

Result<void> look_for(const fs::path& folder) {
  std::error_code error;
  if (fs::is_directory(folder, error)) return {};
  return trace::base::fail(
      ErrorKind::kUsage,
      "this rank, on " + trace::base::host_name() + ", does not see rank 0's folder " +
          trace::base::quoted(folder.parent_path()) +
          ", where ranks write checkpoints and the model together. Give --run a folder on a disk "
          "that all machines share, or save nothing: save_every: 0, keep_best: false, "
          "checkpoint_on_stop: false, save_model: none.");
}

}  // namespace

Result<void> check_shared_disk(const Settings& settings, const fs::path& run_folder,
                               const strategy::Strategy& strategy,
                               comm::Communicator& communicator) {
  const bool saves = trace::job::saves_checkpoints(settings) || saves_whole_model(settings);
  if (!saves || communicator.world_size() == 1) return {};
  Result<std::string> made = std::string();
  if (communicator.rank() == 0) {
    // Of a name that no disk had before.
    made = checkpoint::begin_folder(run_folder / "shared").map([](const fs::path& folder) {
      return folder.string();
    });
  }
  checkpoint::SharedWork work(communicator, "shared disk");
  TRY_ASSIGN(const auto folders, work.exchange(made));
  const fs::path& folder = folders.front();
  const auto agreed = work.agree(writes(settings, strategy) ? look_for(folder) : Result<void>());
  if (communicator.rank() == 0) checkpoint::abandon_folder(folder);
  return agreed;
}

}  // namespace shardlens::trainer::saving
