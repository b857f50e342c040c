#include "profiler/fatal_signals.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

namespace shardlens::profiler {
namespace {

constexpr std::array<int, 8> kSignals{SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                      SIGABRT, SIGTERM, SIGINT, SIGHUP};

// All that a handler touches; each of it is async-signal-safe. Static, since a handler carries no
// context and may run while the object goes away.
struct Shared {
  std::atomic<bool> is_armed{false};
  std::atomic<bool> is_hit{false};
  std::atomic<bool> is_done{false};
  std::atomic<std::int64_t> limit_ms{0};
  std::atomic<pid_t> process{0};  // a forked child has the handlers, but no thread to rescue it
  sem_t wake;
  std::array<struct sigaction, kSignals.size()> before;
  std::array<bool, kSignals.size()> is_ours;
};
Shared shared;
static_assert(std::atomic<bool>::is_always_lock_free);

void wait_for_rescue() {
  constexpr long kPollNs = 2'000'000;
  const std::int64_t polls = shared.limit_ms * 1'000'000 / kPollNs;
  for (std::int64_t i = 0; i < polls && !shared.is_done; ++i) {
    timespec pause{0, kPollNs};
    nanosleep(&pause, nullptr);
  }
}

void on_signal(int signal) {
  const int error = errno;
  // Only the first: what hits other threads, or the rescue itself, is a consequence.
  const bool is_rescued = shared.is_armed && shared.process == getpid();
  if (is_rescued && !shared.is_hit.exchange(true)) {
    sem_post(&shared.wake);
    wait_for_rescue();
  } else if (is_rescued && !shared.is_done) {
    wait_for_rescue();
  }
  for (std::size_t i = 0; i < kSignals.size(); ++i)
    if (kSignals[i] == signal) sigaction(signal, &shared.before[i], nullptr);
  // A fault comes again when the instruction is repeated; what was sent has to be sent again.
  raise(signal);
  errno = error;
}

bool ends_process(int signal, const struct sigaction& action) {
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  return (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_IGN;
}

void install() {
  struct sigaction own = {};
  own.sa_handler = on_signal;
  own.sa_flags = SA_ONSTACK;
  sigemptyset(&own.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &shared.before[i]);
    shared.is_ours[i] = ends_process(kSignals[i], shared.before[i]);
    if (shared.is_ours[i]) sigaction(kSignals[i], &own, nullptr);
  }
}

// Leaves alone what somebody else has installed since.
void restore() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now = {};
    if (!shared.is_ours[i] || sigaction(kSignals[i], nullptr, &now) != 0) continue;
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_signal)
      sigaction(kSignals[i], &shared.before[i], nullptr);
  }
}

}  // namespace

struct FatalSignals::State {
  std::function<void()> rescue;
  std::thread thread;
};

FatalSignals::FatalSignals(std::function<void()> rescue, std::chrono::milliseconds limit)
    : state_(std::make_unique<State>()) {
  shared.limit_ms = limit.count();
  shared.process = getpid();
  shared.is_hit = shared.is_done = false;
  sem_init(&shared.wake, 0, 0);
  state_->rescue = std::move(rescue);
  state_->thread = std::thread([state = state_.get()] {
    // What is sent to the process must not hit the thread that has to deal with it.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "fatal signals");
    while (sem_wait(&shared.wake) != 0 && errno == EINTR) {
    }
    if (!shared.is_hit) return;
    state->rescue();
    shared.is_done = true;
  });
  shared.is_armed = true;
  install();
}

FatalSignals::~FatalSignals() {
  restore();
  shared.is_armed = false;
  sem_post(&shared.wake);
  state_->thread.join();
}

}  // namespace shardlens::profiler
