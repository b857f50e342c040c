#include "profiler/inject/injected_process.h"

#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>
#include <vector>

namespace shardlens::profiler::inject {
namespace {

// The callbacks of CUDA, NVTX and NCCL carry no context, so this is how they find the process.
std::atomic<InjectedProcess*> injected_process{nullptr};
std::atomic<bool> is_off{false};
std::mutex make_mutex;

std::optional<std::string> variable(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

// The threads of the recorder are not in the child, and its file belongs to the parent.
void forget_in_child() { is_off = true; }

void say(const std::string& why) {
  std::fprintf(stderr, "shardlens: this process is not recorded: %s\n", why.c_str());
}

// No exception may reach a program that does not know us.
template <typename Make>
auto* made_or_off(Make&& make) {
  try {
    auto made = make();
    if (made) return made->release();
    say(made.error().message);
  } catch (const std::exception& failure) {
    say(failure.what());
  }
  is_off = true;
  return static_cast<decltype(make()->release())>(nullptr);
}

void on_communicator(const nccl::CommunicatorPlace& place) {
  if (InjectedProcess* process = InjectedProcess::current()) process->enter(place);
}

}  // namespace

InjectedProcess* InjectedProcess::current() {
  if (is_off.load(std::memory_order_relaxed)) return nullptr;
  if (InjectedProcess* process = injected_process.load(std::memory_order_acquire)) return process;
  const std::lock_guard lock(make_mutex);
  if (is_off || injected_process.load() != nullptr) return injected_process.load();
  injected_process = made_or_off(make);
  return injected_process;
}

// The environment is read here, on a thread of the program: it may change what another reads.
trace::base::Result<std::unique_ptr<InjectedProcess>> InjectedProcess::make() {
  TRY_ASSIGN(const auto options, process_options(variable));
  const std::vector<std::string> arguments = own_arguments();
  if (!options || starts_ranks(arguments)) {
    is_off = true;
    return nullptr;
  }
  TRY_ASSIGN(auto known, rank_from_environment(variable));
  const bool is_worker = is_worker_of_multiprocessing(arguments);
  // The variables are those of whoever started it.
  if (known && is_worker) known->is_alone = false;
  auto process = std::unique_ptr<InjectedProcess>(new InjectedProcess(*options, known, is_worker));
  pthread_atfork(nullptr, nullptr, forget_in_child);
  std::atexit(finish_at_exit);
  nccl::NcclPlugin::on_communicator(on_communicator);
  return process;
}

InjectedProcess::InjectedProcess(ProcessOptions options, std::optional<RankIdentity> known,
                                 bool is_worker)
    : options_(std::move(options)), known_(known), is_worker_(is_worker) {}

void InjectedProcess::start_cuda() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(uses_cuda_, true)) return;
    if (ProcessRecorder* recorder = recorder_) {
      recorder->watch_gpu();
    } else {
      ProcessRecorder::prepare_gpu();
      const bool nccl_may_know_more = is_worker_ || (known_ && known_->is_alone);
      const auto wait = [&]() -> trace::base::Result<std::unique_ptr<FirstWork>> {
        return std::make_unique<FirstWork>(nccl_may_know_more, [this] { record(known_); });
      };
      first_work_.reset(made_or_off(wait));
    }
  }
  // Once more: what is registered last runs first, and CUPTI, which may just have been loaded, has
  // an end of its own.
  std::atexit(finish_at_exit);
}

void InjectedProcess::enter(const nccl::CommunicatorPlace& place) {
  record(rank_once_connected(known_, place, is_worker_));
}

RangeRecorder* InjectedProcess::ranges_of_work() {
  ProcessRecorder* recorder = recorder_.load(std::memory_order_acquire);
  if (recorder == nullptr && !waits_for_communicator_) recorder = record(known_);
  return recorder == nullptr ? nullptr : &recorder->ranges();
}

ProcessRecorder* InjectedProcess::record(const std::optional<RankIdentity>& known, bool is_last) {
  const std::lock_guard lock(mutex_);
  if (is_off || recorder_ != nullptr) return recorder_;
  // A launcher that was itself started as the only rank hands its variables on to those it starts.
  const auto may_be_another = [&] {
    return !is_last && known && known->is_alone &&
           is_claimed_by_another(options_.run_folder, known->rank);
  };
  const auto start = [&]() -> trace::base::Result<std::unique_ptr<ProcessRecorder>> {
    waits_for_communicator_ = may_be_another();
    if (waits_for_communicator_) return nullptr;
    auto started = ProcessRecorder::start(options_, known);
    // All that it starts may work at the same moment.
    waits_for_communicator_ = !started && may_be_another();
    if (waits_for_communicator_) return nullptr;
    return started;
  };
  ProcessRecorder* recorder = made_or_off(start);
  if (recorder != nullptr && uses_cuda_) recorder->watch_gpu();
  recorder_ = recorder;
  return recorder;
}

void InjectedProcess::finish_at_exit() {
  InjectedProcess* process = injected_process;
  if (process != nullptr && !is_off) process->finish();
}

void InjectedProcess::finish() {
  std::unique_ptr<FirstWork> first_work;
  {
    const std::lock_guard lock(mutex_);
    first_work = std::move(first_work_);
  }
  // Its thread may be about to begin the recording.
  const bool used_cuda = first_work != nullptr;
  first_work.reset();
  const bool has_worked =
      waits_for_communicator_ || (used_cuda && recorder_ == nullptr && FirstWork::has_worked(true));
  if (has_worked && recorder_ == nullptr) record(known_, /*is_last=*/true);
  const std::lock_guard lock(mutex_);
  is_off = true;
  if (recorder_ != nullptr) recorder_.load()->finish();
}

}  // namespace shardlens::profiler::inject
