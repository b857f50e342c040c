// SIGINT, SIGTERM and SIGHUP as events that the main thread asks for, instead of a sudden end. Main
// thread, before any other thread is started: those inherit what is blocked.
#pragma once

#include <chrono>

namespace shardlens::app {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // as it was before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  // Waits at most this long; true if a signal came.
  bool wait(std::chrono::milliseconds timeout);
};

}  // namespace shardlens::app
