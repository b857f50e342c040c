#include "profiler/process/fatal_signals.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <thread>
#include <utility>

namespace shardlens::profiler::process {
namespace {

constexpr std::array<int, 8> kSignals{SIGSEGV, SIGBUS,  SIGILL, SIGFPE,
                                      SIGABRT, SIGTERM, SIGINT, SIGHUP};

// All that a handler touches; each of it is async-signal-safe. Static, since a handler carries no
// context and may run while the object goes away.
struct Shared {
  std::atomic<bool> is_armed{false};
  std::atomic<bool> is_busy{false};  // a rescue is asked for or under way
  std::atomic<bool> is_last{false};  // that one
  std::atomic<bool> is_over{false};  // the last one is
  std::atomic<std::int64_t> limit_ms{0};
  std::atomic<pid_t> process{0};  // a forked child has the handlers, but no thread to rescue it
  sem_t wake;
  std::array<struct sigaction, kSignals.size()> before;
  std::array<bool, kSignals.size()> is_ours;
};
Shared shared;
static_assert(std::atomic<bool>::is_always_lock_free);

// In turn, where several threads are hit; after the last rescue, what hits others is a consequence.
void wait_for_rescue(bool is_last) {
  constexpr long kPollNs = 2'000'000;
  std::int64_t polls = shared.limit_ms * 1'000'000 / kPollNs;
  const auto is_in_time = [&polls] {
    timespec pause{0, kPollNs};
    nanosleep(&pause, nullptr);
    return --polls > 0;
  };
  while (shared.is_busy.exchange(true))
    if (!is_in_time()) return;
  if (shared.is_over) {
    shared.is_busy = false;
    return;
  }
  shared.is_last = is_last;
  sem_post(&shared.wake);
  while (shared.is_busy && is_in_time()) {
  }
}

// A fault of the kernel's comes again, with its address, when the instruction is repeated. What was
// sent does not, nor does a failure of memory that nobody has touched yet.
bool comes_again(const siginfo_t& info) {
  const int signal = info.si_signo;
  if (signal != SIGSEGV && signal != SIGBUS && signal != SIGILL && signal != SIGFPE) return false;
  return info.si_code > 0 && (signal != SIGBUS || info.si_code != BUS_MCEERR_AO);
}

void on_signal(int signal, siginfo_t* info, void*) {
  const int error = errno;
  const auto found = std::ranges::find(kSignals, signal);
  const auto& before = shared.before[static_cast<std::size_t>(found - kSignals.begin())];
  if (shared.is_armed && shared.process == getpid()) wait_for_rescue(before.sa_handler == SIG_DFL);
  // From here on this signal is the program's own, and what it has for it sees the true cause.
  sigaction(signal, &before, nullptr);
  if (!comes_again(*info)) raise(signal);
  errno = error;
}

bool ends_process(int signal, const struct sigaction& action) {
  if (signal == SIGTERM || signal == SIGINT || signal == SIGHUP)
    return (action.sa_flags & SA_SIGINFO) == 0 && action.sa_handler == SIG_DFL;
  return (action.sa_flags & SA_SIGINFO) != 0 || action.sa_handler != SIG_IGN;
}

void install() {
  struct sigaction own = {};
  own.sa_sigaction = on_signal;
  own.sa_flags = SA_ONSTACK | SA_SIGINFO;
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
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal)
      sigaction(kSignals[i], &shared.before[i], nullptr);
  }
}

}  // namespace

struct FatalSignals::State {
  std::function<void(bool)> rescue;
  std::thread thread;
};

FatalSignals::FatalSignals(std::function<void(bool is_last)> rescue,
                           std::chrono::milliseconds limit)
    : state_(std::make_unique<State>()) {
  shared.limit_ms = limit.count();
  shared.process = getpid();
  shared.is_busy = shared.is_over = false;
  sem_init(&shared.wake, 0, 0);
  state_->rescue = std::move(rescue);
  state_->thread = std::thread([state = state_.get()] {
    // What is sent to the process must not hit the thread that has to deal with it.
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, nullptr);
    pthread_setname_np(pthread_self(), "fatal signals");
    for (;;) {
      while (sem_wait(&shared.wake) != 0 && errno == EINTR) {
      }
      if (!shared.is_busy) return;  // woken by the destructor
      state->rescue(shared.is_last);
      shared.is_over = shared.is_last.load();
      shared.is_busy = false;
    }
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

}  // namespace shardlens::profiler::process
