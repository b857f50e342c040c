// Saves what was recorded when the process dies of a signal, before it dies. One at a time per
// process; created and destroyed by the thread that wires the recorder.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace shardlens::profiler {

class FatalSignals {
 public:
  // On SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT, and on SIGTERM, SIGINT and SIGHUP where they
  // would end the process, a thread of this object calls `rescue` once. The signal then does what
  // it did before, after `limit` at the latest: whoever it hit may hold a lock that `rescue` needs.
  FatalSignals(std::function<void()> rescue, std::chrono::milliseconds limit);
  // The signals do what they did before.
  ~FatalSignals();
  FatalSignals(const FatalSignals&) = delete;
  FatalSignals& operator=(const FatalSignals&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::profiler
