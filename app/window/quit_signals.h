// Turns SIGINT, SIGTERM and SIGHUP into an orderly end of the window. Create it before any other
// thread starts: threads inherit which signals they leave alone. Main thread only.
#pragma once

#include <signal.h>

#include <atomic>
#include <functional>
#include <thread>

namespace shardlens::app {

class QuitSignals {
 public:
  // `on_signal` is called on another thread, once.
  explicit QuitSignals(std::function<void()> on_signal);
  ~QuitSignals();
  QuitSignals(const QuitSignals&) = delete;
  QuitSignals& operator=(const QuitSignals&) = delete;

  bool arrived() const { return arrived_; }

 private:
  sigset_t before_{};
  std::atomic<bool> arrived_ = false;
  std::jthread thread_;
};

}  // namespace shardlens::app
