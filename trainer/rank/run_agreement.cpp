#include "trainer/rank/run_agreement.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <system_error>
#include <thread>

#include "profiler/recorder/recorder.h"
#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/this_machine.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/settings_file.h"
#include "trainer/loop/rank_log.h"
#include "trainer/rank/rank_device.h"

namespace shardlens::trainer::rank {

namespace {

using std::chrono::seconds;

// What is in them is compared by the tokens that it gives.
constexpr std::array<std::string_view, 4> kPlacesOfText{"data", "evaluation_data", "tokenizer",
                                                        "token_cache"};

// How long the first rank of another host looks for a run on a shared disk before it makes one on
// its own, and where somebody has made the folder already: NFS may hide what is new in it for a
// minute (acdirmax), and the driver of whoever makes it wakes up first.
constexpr seconds kWaitForSharedFolder{5}, kWaitForSharedRun{90};
// Of the other ranks of a host, whose first does both and then wakes its own driver.
constexpr seconds kWaitForFolder{180};
static_assert(kWaitForFolder >= kWaitForSharedFolder + kWaitForSharedRun + seconds(60));

trace::base::Result<trace::model::RunInfo> await_run(const std::filesystem::path& folder,
                                                     seconds patience) {
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (true) {
    auto info = trace::store::read_run_info(folder);
    if (info || std::chrono::steady_clock::now() > deadline) return info;
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
}

// Whoever makes the folder is about to make the run. The attempt also tells what NFS hides.
bool makes_folder(const std::filesystem::path& folder) {
  std::error_code error;
  return std::filesystem::create_directories(folder, error) || error;  // create_run_at() tells why
}

// Whoever makes a run writes how it ended, too.
trace::base::Result<AgreedRun> make_run(const RankOptions& options, const RankPlace& environment) {
  trace::model::RunInfo info;
  TRY_ASSIGN(info.settings, settings_of(options));
  info.settings.model = trace::job::absolute_model(info.settings.model);
  info.settings.ranks = environment.world_size;
  TRY(trace::job::validate(info.settings));
  makes_folder(options.run);  // other hosts see it while the driver wakes up, which may take long
  TRY_ASSIGN(const RankDevice device, choose_device(info.settings, environment));
  info.name = options.run.filename().string();
  info.start_ns = profiler::recorder::Recorder::now_ns();
  info.device = device.kind();
  info.world_size = environment.world_size;
  info.machine = trace::base::machine_mark();
  info.program = "shardlens " SHARDLENS_VERSION;
  info.simulated_link = info.settings.simulate_link != "off";
  info.communication_off = info.settings.communication == trace::job::Communication::kNone;
  info.shared_gpu = device.is_shared;
  TRY(trace::store::create_run_at(options.run, info));
  return AgreedRun{options.run, std::move(info), /*owns_status=*/true};
}

trace::base::Result<AgreedRun> join_run(const RankOptions& options, const RankPlace& environment) {
  AgreedRun run{options.run, {}, environment.rank == 0 && !environment.launcher_process};
  if (options.settings.empty()) {
    TRY_ASSIGN(run.info, trace::store::read_run_info(options.run));
    return run;
  }
  if (environment.rank == 0) return make_run(options, environment);
  if (environment.local_rank == 0) {
    auto info = await_run(options.run, kWaitForSharedFolder);
    if (!info && !makes_folder(options.run)) {
      loop::RankLog(nullptr).info(trace::base::quoted(options.run) +
                                  " is there: waiting for the run that another machine makes "
                                  "in it");
      info = await_run(options.run, kWaitForSharedRun);
    }
    if (!info) return make_run(options, environment);
    run.info = std::move(*info);
    return run;
  }
  TRY_ASSIGN(run.info, await_run(options.run, kWaitForFolder));
  return run;
}

}  // namespace

trace::base::Result<trace::job::Settings> settings_of(const RankOptions& options) {
  trace::job::Settings settings;
  if (!options.settings.empty()) {
    TRY_ASSIGN(settings, trace::store::read_settings(options.settings));
  }
  for (const std::string& assignment : options.assignments) {
    TRY(trace::job::set_assignment(settings, assignment));
  }
  return settings;
}

std::int64_t fingerprint_of(const trace::job::Settings& settings) {
  std::string text;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    if (std::ranges::find(kPlacesOfText, knob.name) != kPlacesOfText.end()) continue;
    text += std::string(knob.name) + "=" + trace::job::value_text(settings, knob) + "\n";
  }
  // Its negative must exist too.
  return static_cast<std::int64_t>(trace::base::checksum_of(text) >> 1);
}

trace::base::Result<AgreedRun> agree_on_run(const RankOptions& options,
                                            const RankPlace& environment) {
  RankOptions normal = options;
  normal.run = std::filesystem::absolute(options.run).lexically_normal();
  if (!normal.run.has_filename()) normal.run = normal.run.parent_path();
  TRY_ASSIGN(AgreedRun run, join_run(normal, environment));
  if (run.info.world_size != environment.world_size) {
    return trace::base::fail(
        trace::base::ErrorKind::kUsage,
        "The run in " + run.folder.string() + " has " + std::to_string(run.info.world_size) +
            " ranks, but WORLD_SIZE is " + std::to_string(environment.world_size) + ".");
  }
  // The run's file keeps what was set, for jobs that are begun with its settings.
  if (options.saves_nothing) run.info.settings = trace::job::saving_nothing(run.info.settings);
  return run;
}

trace::base::Result<void> record_end(AgreedRun& run, trace::model::RunStatus status,
                                     const std::string& reason) {
  run.info.status = status;
  run.info.reason = reason;
  run.info.end_ns = profiler::recorder::Recorder::now_ns();
  return trace::store::update_run(run.folder, run.info);
}

}  // namespace shardlens::trainer::rank
