// The process of one rank: signals, environment, arguments, what it does, and its end.
#include <dlfcn.h>
#include <sys/prctl.h>
#include <torch/serialize.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "trace/base/spawn.h"
#include "trace/job/huggingface/find_model.h"
#include "trainer/huggingface/folder_source.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"
#include "trainer/rank/ends_at_once.h"
#include "trainer/rank/rank_job.h"
#include "trainer/rank/rank_options.h"
#include "trainer/rank/rank_text.h"
#include "trainer/rank/run_agreement.h"
#include "trainer/tensor/named_tensor.h"

namespace shardlens::trainer::rank {

namespace {

int exit_code(const trace::base::Error& error) {
  return error.kind == trace::base::ErrorKind::kUsage ? 2 : 1;
}

int report(const trace::base::Error& error) {
  loop::RankLog(nullptr).error(error.message);
  return exit_code(error);
}

trace::base::Result<void> describe_model(const std::string& name) {
  TRY_ASSIGN(const model::ModelShape shape, trace::job::find_model(name));
  std::printf(
      "%s: %s layout, %lld parameters\n"
      "layers %lld, width %lld, heads %lld, key and value heads %lld, MLP width %lld, "
      "vocabulary %lld, context %lld%s\n",
      name.c_str(), std::string(trace::job::to_string(shape.layout)).c_str(),
      static_cast<long long>(trace::job::parameter_count(shape)),
      static_cast<long long>(shape.layers), static_cast<long long>(shape.width),
      static_cast<long long>(shape.heads), static_cast<long long>(shape.kv_heads),
      static_cast<long long>(shape.mlp_width), static_cast<long long>(shape.vocabulary),
      static_cast<long long>(shape.context), shape.tied_head ? ", tied output matrix" : "");
  return {};
}

trace::base::Result<std::shared_ptr<model::Model>> initial_model(
    const trace::job::Settings& settings, const model::ModelShape& shape) {
  const auto seed = static_cast<std::uint64_t>(settings.seed);
  if (!trace::job::is_model_folder(settings.model)) {
    return model::build_any_model(shape, {settings.dropout, seed, torch::kCPU});
  }
  TRY_ASSIGN(huggingface::FolderSource source, huggingface::FolderSource::open(settings, shape));
  auto model =
      model::build_any_model(shape, {settings.dropout, seed, torch::kCPU, /*has_memory=*/false});
  model::initialize_parameters(*model, shape, seed, source.fresh());
  model::allocate_parameters(*model, source, /*reads=*/true);
  return model;
}

trace::base::Result<void> dump_weights(const RankOptions& options) {
  TRY_ASSIGN(const trace::job::Settings settings, settings_of(options));
  TRY_ASSIGN(const model::ModelShape shape, trace::job::find_model(settings));
  TRY_ASSIGN(const auto model, initial_model(settings, shape));
  TRY(lora::choose_trained_part(*model, settings));
  c10::Dict<std::string, torch::Tensor> weights;
  for (const auto& parameter : tensor::named_parameters_of(*model)) {
    weights.insert(parameter.name, parameter.tensor.detach());
  }
  const std::vector<char> bytes = torch::pickle_save(weights);
  std::ofstream file(options.weights, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file.good()) return {};
  return trace::base::fail(trace::base::ErrorKind::kIo, "The weights cannot be written to \"" +
                                                            options.weights.string() + "\".");
}

// Under our launcher a rank must not outlive it. Another launcher may start ranks from a thread
// that ends early, which would end them too.
trace::base::Result<void> die_with_launcher(const RankPlace& environment) {
  if (!environment.launcher_process) return {};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() == *environment.launcher_process) return {};
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "The launcher ended before this rank had started.");
}

// Ends the process after a failure. The training thread and the one that sees it hang may both want
// that: the first has the say, the other waits for the end.
class FailureExit {
 public:
  FailureExit(AgreedRun& run, const RankPlace& place) : run_(run), place_(place) {}

  // `save` writes what was recorded.
  [[noreturn]] void leave(const trace::base::Error& error,
                          const std::function<trace::base::Result<void>()>& save) {
    const std::lock_guard lock(mutex_);
    loop::RankLog log(nullptr);
    if (auto written = save(); !written) log.warn(written.error().message);
    if (run_.owns_status) {
      const std::string reason =
          "rank " + std::to_string(place_.rank) + " failed: " + error.message;
      if (auto ended = record_end(run_, trace::model::RunStatus::kFailed, reason); !ended) {
        log.warn(ended.error().message);
      }
    }
    log.error(error.message);
    std::fflush(nullptr);
    std::_Exit(exit_code(error));
  }

 private:
  AgreedRun& run_;
  const RankPlace& place_;
  std::mutex mutex_;  // never unlocked
};

// All but rank 0 may wait for the run that this one makes.
trace::base::Result<AgreedRun> agree(const RankOptions& options, const RankPlace& environment,
                                     const std::atomic<int>& stop_signal) {
  if (environment.rank == 0) return agree_on_run(options, environment);
  const EndsAtOnce waiting(stop_signal);
  return agree_on_run(options, environment);
}

trace::base::Result<void> train(const RankOptions& options, const VariableLookup& lookup,
                                const std::atomic<int>& stop_signal) {
  TRY_ASSIGN(const RankPlace environment, parse_rank_place(lookup));
  TRY(die_with_launcher(environment));
  TRY_ASSIGN(AgreedRun run, agree(options, environment, stop_signal));
  FailureExit failure_exit(run, environment);
  const auto leave_hung = [&](RankJob& hung, const trace::base::Error& error) {
    failure_exit.leave(error, [&]() -> trace::base::Result<void> {
      hung.save_in_haste(error);
      return {};
    });
  };
  // Not destroyed after a failure; see RankJob::finish.
  auto job = std::make_unique<RankJob>(run, environment, stop_signal, leave_hung);
  const auto outcome =
      options.calibration_seconds ? job->calibrate(*options.calibration_seconds) : job->run();
  if (!outcome) {
    failure_exit.leave(outcome.error(), [&] { return job->finish(&outcome.error()); });
  }

  // A recording that could not be completed (disk full) does not spoil the training.
  if (auto written = job->finish(nullptr); !written)
    loop::RankLog(nullptr).warn(written.error().message);
  const trace::model::RankOutcome told = job->outcome();
  const bool others_may_wait =
      environment.world_size > 1 && outcome->stopped && !job->is_connected();
  job.reset();
  if (run.owns_status) {
    // Of the other ranks, whom another launcher has started, only what their files say is known.
    const trace::model::ToldByRank own[] = {{environment.rank, told}};
    const trace::model::RunEnd end = trace::model::end_of(own);
    TRY(record_end(run, end.status, end.reason));
  }
  // The launcher is to end the others as well, whom nobody else tells that this one will not come.
  if (others_may_wait) {
    const EndsAtOnce leaving(stop_signal);
  }
  return {};
}

trace::base::Result<void> act(const RankOptions& options, const VariableLookup& lookup,
                              const std::atomic<int>& stop_signal) {
  switch (options.action) {
    case RankOptions::Action::kHelp:
      std::fputs(std::string(rank_help()).c_str(), stdout);
      return {};
    case RankOptions::Action::kVersion:
      std::puts("shardlens-rank " SHARDLENS_VERSION);
      return {};
    case RankOptions::Action::kDescribeModel:
      return describe_model(options.model);
    case RankOptions::Action::kDumpWeights:
      return dump_weights(options);
    case RankOptions::Action::kCheckText: {
      const auto found = find_text_program(lookup, stop_signal);
      std::puts((found ? "works: " + *found : "fails: " + found.error().message).c_str());
      return {};
    }
    case RankOptions::Action::kTrain:
      return train(options, lookup, stop_signal);
  }
  return {};
}

// Returns the exit code; after a failed training it leaves the process itself with that code, since
// threads may still wait for other ranks inside c10d. Prints to standard output and error.
int rank_main(const std::vector<std::string>& arguments, const VariableLookup& lookup,
              const std::atomic<int>& stop_signal) {
  const auto options = parse_rank_options(arguments);
  if (!options) return report(options.error());
  const auto done = act(*options, lookup, stop_signal);
  return done ? 0 : report(done.error());
}

// A signal handler reaches nothing else.
std::atomic<int> stop_signal{0};
static_assert(std::atomic<int>::is_always_lock_free);

void request_stop(int number) { stop_signal = number; }

void handle_signals() {
  struct sigaction stop = {};
  stop.sa_handler = request_stop;
  stop.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &stop, nullptr);
  sigaction(SIGINT, &stop, nullptr);
  // A full disk and a reader that left are errors to report, not reasons to die.
  std::signal(SIGXFSZ, SIG_IGN);
  std::signal(SIGPIPE, SIG_IGN);
  // Where a parent ignores it, the system keeps no exit of the program that prepares texts.
  std::signal(SIGCHLD, SIG_DFL);
}

// LibTorch takes 0.3 s of processor time to take its tables of operators apart, for nothing. Where
// CUDA was used the process ends in the long way: Nsight and compute-sanitizer write what they have
// when it does.
void leave_at_once(int code) {
  if (dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD) != nullptr) return;
  std::fflush(nullptr);
  std::_Exit(code);
}

}  // namespace
}  // namespace shardlens::trainer::rank

int main(int count, char** arguments) {
  using namespace shardlens;
  trainer::rank::handle_signals();
  trace::base::allow_most_open_files();
  const auto lookup = [](const char* name) -> const char* { return std::getenv(name); };
  const int code =
      trainer::rank::rank_main(std::vector<std::string>(arguments + 1, arguments + count), lookup,
                               trainer::rank::stop_signal);
  trainer::rank::leave_at_once(code);
  return code;
}
