// One line on a terminal that says how far a long command has come; silent elsewhere. Main thread.
#pragma once

#include <string>

namespace shardlens::app::cli {

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

}  // namespace shardlens::app::cli
