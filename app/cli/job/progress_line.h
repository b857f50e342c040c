// Progress of a job on standard error: a bar that is redrawn on a terminal, a line now and then
// elsewhere. One thread.
#pragma once

#include <string>

#include "app/cli/job/run_monitor.h"

namespace shardlens::app::cli {

class ProgressLine {
 public:
  enum class Elsewhere { kTellsPercent, kIsSilent };  // where there is no terminal
  explicit ProgressLine(std::string run_name, Elsewhere elsewhere = Elsewhere::kTellsPercent);
  ~ProgressLine() { end(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const RunProgress& progress);
  // A message of its own, above the bar.
  void say(const std::string& message);
  void end();  // of the bar's line, which stays

 private:
  void erase();

  const std::string name_;
  const Elsewhere elsewhere_;
  const bool is_terminal_;
  bool drawn_ = false;
  std::int64_t said_percent_ = 0;
};

// "cap 1  ████████░░░░  12 / 30  103.2 ms/step  loss 3.2041  2 s left"
std::string progress_text(const std::string& name, const RunProgress& progress, int bar_width);

}  // namespace shardlens::app::cli
