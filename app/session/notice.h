// The sentence that the window shows about what was asked for last. Interface thread only.
#pragma once

#include <string>
#include <utility>

#include "trace/base/result.h"

namespace shardlens::app::session {

class Notice {
 public:
  const std::string& text() const { return text_; }
  bool is_error() const { return is_error_; }
  // Whether it is another than when this was asked last.
  bool take_change() { return std::exchange(changed_, false); }

  void say(std::string text, bool is_error = false) {
    text_ = std::move(text);
    is_error_ = is_error;
    changed_ = true;
  }
  void clear() { say(""); }
  void say_why_not(const std::string& problem) { say(problem, true); }
  // What went well needs no words.
  void take(const trace::base::Result<void>& result) {
    say(result ? "" : result.error().message, !result);
  }

 private:
  std::string text_;
  bool is_error_ = false;
  bool changed_ = false;
};

}  // namespace shardlens::app::session
