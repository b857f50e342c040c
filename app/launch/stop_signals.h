// SIGINT, SIGTERM and SIGHUP as events that the main thread asks for, instead of a sudden end. What
// nohup or a shell's & has this program ignore stays ignored. Main thread, before any other thread
// is started: those inherit what is blocked.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

namespace shardlens::app::launch {

class StopSignals {
 public:
  StopSignals();
  ~StopSignals();  // as it was before
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;

  struct Signal {
    int number = 0;
    bool is_from_terminal = false;  // then every process in the foreground got it
  };
  // Waits at most this long for one. What ends a session may send two kinds at once, say SIGTERM
  // and SIGHUP: the second is not another wish.
  std::optional<Signal> take(std::chrono::milliseconds timeout);
  bool wait(std::chrono::milliseconds timeout) { return take(timeout).has_value(); }

 private:
  std::optional<Signal> next(std::chrono::milliseconds timeout) const;

  const sigset_t heard_;
  int last_ = 0;  // that was taken
  std::chrono::steady_clock::time_point last_at_;
};

}  // namespace shardlens::app::launch
