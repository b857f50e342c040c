// Saves what was recorded when the process dies of a signal, before it dies. One at a time per
// process; created and destroyed by the thread that wires the recorder.
#pragma once

#include <chrono>
#include <functional>
#include <memory>

namespace shardlens::profiler::process {

class FatalSignals {
 public:
  // On SIGSEGV, SIGBUS, SIGILL, SIGFPE or SIGABRT, and on SIGTERM, SIGINT and SIGHUP where they
  // would end the process, a thread of this object calls `rescue`. The signal then does what it did
  // before, after `limit` at the latest: whoever it hit may hold a lock that `rescue` needs.
  // `is_last`: it will end the process. Otherwise the program has a function for it, which may mend
  // what is wrong (a guard page, a null pointer in managed code): the process may go on, others of
  // these signals may come, and this one is left to the program.
  FatalSignals(std::function<void(bool is_last)> rescue, std::chrono::milliseconds limit);
  // The signals do what they did before.
  ~FatalSignals();
  FatalSignals(const FatalSignals&) = delete;
  FatalSignals& operator=(const FatalSignals&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace shardlens::profiler::process
