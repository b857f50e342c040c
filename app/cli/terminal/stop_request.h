// Ctrl-C, SIGTERM and SIGHUP as a request that a command asks about while it works. A command that
// has not ended soon after is ended: what it has half made is removed, and the program leaves. Made
// on the main thread before any other thread is started; its functions: any thread.
#pragma once

#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "app/launch/stop_signals.h"

namespace shardlens::app::cli {

// One line on a terminal that says how far a long command has come; silent elsewhere. Main thread.
class PercentLine {
 public:
  explicit PercentLine(std::string what);  // "reading"
  ~PercentLine() { end(); }
  PercentLine(const PercentLine&) = delete;
  PercentLine& operator=(const PercentLine&) = delete;

  void show(double part);  // from 0 to 1
  void end();              // erases it

 private:
  const std::string what_;
  const bool is_terminal_;
  int shown_ = -1;
};

class StopRequest {
 public:
  // `what`: what is being done, for the PercentLine of work that shows how far it is; "": it shows
  // nothing.
  explicit StopRequest(std::string what = "");
  ~StopRequest();
  StopRequest(const StopRequest&) = delete;
  StopRequest& operator=(const StopRequest&) = delete;

  bool is_made() const { return is_made_; }
  // Shows how far the work is; false once it is to stop.
  std::function<bool(double)> progress();
  // Passes `outcome` on, and ends the line that showed how far the work was.
  template <typename Outcome>
  Outcome ended(Outcome outcome) {
    line_.end();
    return outcome;
  }

  // `half_made`, a folder or file, and with a file what SQLite puts beside it.
  void remove_if_ended(const std::filesystem::path& half_made);
  // What was half made is whole, or gone.
  void keep_all();

 private:
  void watch();
  [[noreturn]] void end_program();

  PercentLine line_;
  launch::StopSignals signals_;  // before the thread, which inherits what is blocked
  std::atomic<bool> is_made_{false}, is_over_{false};
  std::mutex mutex_;
  std::condition_variable over_;
  std::vector<std::filesystem::path> half_made_;
  std::thread thread_;
};

}  // namespace shardlens::app::cli
