#include "trainer/rank/run_agreement.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include "profiler/recorder/recorder.h"
#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/this_machine.h"
#include "trace/job/huggingface/find_model.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/settings_file.h"
#include "trainer/comm/rendezvous.h"
#include "trainer/loop/rank_log.h"
#include "trainer/rank/made_run.h"
#include "trainer/rank/rank_device.h"

namespace shardlens::trainer::rank {

namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;

// What is in them is compared by the tokens that it gives.
constexpr std::array<std::string_view, 4> kPlacesOfText{"data", "evaluation_data", "tokenizer",
                                                        "token_cache"};

constexpr std::chrono::milliseconds kLook{50};
// For a run that was made in a folder that is there: NFS may hide what is new in it for a minute
// (acdirmax).
constexpr seconds kWaitForSharedRun{90};
// For the driver of a machine's GPUs, which its first rank wakes before it makes a run.
constexpr seconds kWaitForDriver{60};

// For rank 0, which may come as late as ranks wait for each other to connect. Whoever finds its run
// needs no settings of its own.
seconds patience_of(const RankOptions& options) {
  const auto settings = settings_of(options).value_or(trace::job::Settings());
  return std::max(seconds(settings.collective_timeout_s), comm::kConnectTimeout);
}

trace::base::Result<trace::model::RunInfo> await_run(const std::filesystem::path& folder,
                                                     seconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (true) {
    auto info = trace::store::read_run_info(folder);
    if (info || steady_clock::now() > deadline) return info;
    std::this_thread::sleep_for(kLook);
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
  info.simulated_link = trace::job::has_simulated_link(info.settings);
  info.communication_off = info.settings.communication == trace::job::Communication::kNone;
  info.shared_gpu = device.is_shared;
  TRY(trace::store::create_run_at(options.run, info));
  return AgreedRun{options.run, std::move(info), /*owns_status=*/true};
}

tl::unexpected<trace::base::Error> holds_another_run(const std::filesystem::path& folder) {
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           trace::base::quoted(folder) +
                               " holds another run than the one that rank 0 makes: choose another "
                               "folder or delete that one");
}

// When the run began that rank 0 has made: what it tells, or that of one that comes into a folder
// that had none.
trace::base::Result<std::int64_t> await_rank_0(const RankOptions& options,
                                               const RankPlace& environment, seconds patience,
                                               bool had_run) {
  const auto deadline = steady_clock::now() + patience;
  MadeRun made(environment);
  while (true) {
    if (!had_run) {
      if (const auto info = trace::store::read_run_info(options.run)) return info->start_ns;
    }
    if (const auto start_ns = made.look()) return *start_ns;
    if (steady_clock::now() > deadline) break;
    std::this_thread::sleep_for(kLook);
  }
  std::string why = "Rank " + std::to_string(environment.rank) + " waited " +
                    std::to_string(patience.count()) + " s for rank 0, which makes the run in " +
                    trace::base::quoted(options.run);
  if (!made.problem().empty()) why += ": " + made.problem();
  if (!why.ends_with('.')) why += ".";
  return trace::base::fail(trace::base::ErrorKind::kFailed, why + " See the log of rank 0.");
}

// By the first rank of another machine than rank 0's: joins the run where it lies on a disk that
// both have, else makes one for this machine's ranks.
trace::base::Result<AgreedRun> join_from_elsewhere(const RankOptions& options,
                                                   const RankPlace& environment) {
  std::error_code error;
  if (std::filesystem::exists(trace::store::rank_file(options.run, environment.rank), error)) {
    return holds_another_run(options.run);
  }
  const seconds patience = patience_of(options);
  const bool had_run = trace::store::read_run_info(options.run).has_value();
  loop::RankLog log(nullptr);
  log.info("waiting for rank 0, which makes the run in " + trace::base::quoted(options.run) +
           ", for at most " + std::to_string(patience.count()) + " s");
  TRY_ASSIGN(const std::int64_t start_ns, await_rank_0(options, environment, patience, had_run));
  auto info = trace::store::read_run_info(options.run);
  if (!info && !makes_folder(options.run)) {
    log.info(trace::base::quoted(options.run) +
             " is there: waiting until this machine sees the run that rank 0 has made in it");
    info = await_run(options.run, kWaitForSharedRun);
  }
  if (!info) return make_run(options, environment);
  // A later one was made by another rank on this disk, once that had heard of rank 0's.
  if (had_run && info->start_ns < start_ns) return holds_another_run(options.run);
  return AgreedRun{options.run, std::move(*info)};
}

trace::base::Result<AgreedRun> join_run(const RankOptions& options, const RankPlace& environment) {
  AgreedRun run{options.run, {}, environment.rank == 0 && !environment.launcher_process};
  if (options.settings.empty()) {
    TRY_ASSIGN(run.info, trace::store::read_run_info(options.run));
    return run;
  }
  if (environment.rank == 0) return make_run(options, environment);
  if (environment.local_rank == 0) return join_from_elsewhere(options, environment);
  const seconds patience = patience_of(options) + kWaitForSharedRun + kWaitForDriver;
  auto info = await_run(options.run, patience);
  if (!info) {
    return trace::base::fail(info.error().kind, "waited " + std::to_string(patience.count()) +
                                                    " s for the run that this machine's first rank "
                                                    "makes or finds: " +
                                                    info.error().message);
  }
  run.info = std::move(*info);
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
