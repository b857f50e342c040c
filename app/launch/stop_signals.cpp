#include "app/launch/stop_signals.h"

#include <signal.h>

namespace shardlens::app::launch {
namespace {

sigset_t stop_set() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&set, signal);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  // A reader that went away must not end the job.
  signal(SIGPIPE, SIG_IGN);
}

StopSignals::~StopSignals() {
  // One impatient Ctrl-C more must not kill the program now that the job has ended.
  while (wait(std::chrono::milliseconds(0))) {
  }
  signal(SIGPIPE, SIG_DFL);
  const sigset_t set = stop_set();
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

std::optional<StopSignals::Signal> StopSignals::take(std::chrono::milliseconds timeout) {
  const sigset_t set = stop_set();
  const timespec limit{.tv_sec = timeout.count() / 1000,
                       .tv_nsec = timeout.count() % 1000 * 1'000'000};
  siginfo_t info{};
  const int number = sigtimedwait(&set, &info, &limit);
  if (number <= 0) return std::nullopt;
  return Signal{number, info.si_code == SI_KERNEL};
}

}  // namespace shardlens::app::launch
