// Progress of a job on standard error: a bar that is redrawn on a terminal, a line now and then
// elsewhere. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace shardlens::app::cli {

struct RunProgress {
  std::int64_t steps_done = 0;
  std::int64_t steps_total = 0;  // 0: not known, as with epochs
  double step_ns = 0;            // of the last few, 0: none yet
  double loss = 0;               // of the last; NaN: not known
  // Until all runs of a sweep or a search are over. None: of a single run, whose own steps tell it.
  std::optional<double> seconds_left{};
};

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
