#include "app/launch/stop_signals.h"

#include "trace/base/spawn.h"

namespace shardlens::app::launch {
namespace {

constexpr std::chrono::seconds kEcho{1};

sigset_t signals_to_hear() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  // One that is blocked would be heard although it is ignored.
  for (const int signal : {SIGINT, SIGHUP}) {
    if (!trace::base::is_ignored(signal)) sigaddset(&set, signal);
  }
  return set;
}

}  // namespace

StopSignals::StopSignals() : heard_(signals_to_hear()) {
  pthread_sigmask(SIG_BLOCK, &heard_, nullptr);
  // A reader that went away must not end the job.
  signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  // One impatient Ctrl-C more must not kill the program now that the job has ended.
  while (next(std::chrono::milliseconds(0))) {
  }
  signal(SIGPIPE, SIG_DFL);
  pthread_sigmask(SIG_UNBLOCK, &heard_, nullptr);
}

std::optional<StopSignals::Signal> StopSignals::take(std::chrono::milliseconds timeout) {
  const auto signal = next(timeout);
  if (!signal) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  const bool is_echo = last_ != 0 && signal->number != last_ && now - last_at_ < kEcho;
  if (is_echo) return std::nullopt;
  last_ = signal->number;
  last_at_ = now;
  return signal;
}

std::optional<StopSignals::Signal> StopSignals::next(std::chrono::milliseconds timeout) const {
  const timespec limit{.tv_sec = timeout.count() / 1000,
                       .tv_nsec = timeout.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int number = sigtimedwait(&heard_, &info, &limit);
  if (number <= 0) return std::nullopt;
  return Signal{number, info.si_code == SI_KERNEL};
}

}  // namespace shardlens::app::launch
