#include "app/window/quit_signals.h"

#include <ctime>
#include <utility>

namespace shardlens::app {

namespace {

constexpr timespec kLookEvery{.tv_sec = 0, .tv_nsec = 300'000'000};

sigset_t watched_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  return signals;
}

}  // namespace

QuitSignals::QuitSignals(std::function<void()> on_signal) {
  const auto signals = watched_signals();
  pthread_sigmask(SIG_BLOCK, &signals, &before_);
  thread_ = std::jthread([this, signals, tell = std::move(on_signal)](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &kLookEvery) < 0) continue;
      arrived_ = true;
      tell();
      return;
    }
  });
}

QuitSignals::~QuitSignals() {
  thread_.request_stop();
  thread_.join();
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace shardlens::app
