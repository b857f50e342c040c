// Turns SIGINT, SIGTERM and SIGHUP into an orderly end of the window. Create it before any other
// thread starts: threads inherit which signals they leave alone. Main thread only.
#pragma once

#include <atomic>
#include <functional>
#include <thread>

#include "app/launch/stop_signals.h"

namespace shardlens::app::window {

class QuitSignals {
 public:
  // `on_signal` is called on another thread, once.
  explicit QuitSignals(std::function<void()> on_signal);

  bool arrived() const { return arrived_; }

 private:
  launch::StopSignals signals_;  // before the thread, which inherits what is blocked
  std::atomic<bool> arrived_ = false;
  std::jthread thread_;
};

}  // namespace shardlens::app::window
