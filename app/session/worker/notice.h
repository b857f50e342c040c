// The sentence that the window shows about what was asked for last. Any thread.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "trace/base/result.h"

namespace shardlens::app::session {

class Notice {
 public:
  struct Words {
    std::string text;
    bool is_error = false;
  };

  // `on_change`: called on whichever thread says something.
  explicit Notice(std::function<void()> on_change = [] {}) : on_change_(std::move(on_change)) {}

  Words words() const {
    const std::lock_guard lock(mutex_);
    return words_;
  }
  // Whether anything was said since this was asked last.
  bool take_change() {
    const std::lock_guard lock(mutex_);
    return std::exchange(changed_, false);
  }

  void say(std::string text, bool is_error = false) {
    {
      const std::lock_guard lock(mutex_);
      words_ = {std::move(text), is_error};
      changed_ = true;
    }
    on_change_();
  }
  void clear() { say(""); }
  // Unless something else was said since.
  void take_back(const std::string& text) {
    {
      const std::lock_guard lock(mutex_);
      if (words_.text != text) return;
      words_ = {};
      changed_ = true;
    }
    on_change_();
  }
  void say_why_not(const std::string& problem) { say(problem, true); }
  // What went well needs no words.
  void take(const trace::base::Result<void>& result) {
    say(result ? "" : result.error().message, !result);
  }

 private:
  const std::function<void()> on_change_;
  mutable std::mutex mutex_;  // guards what follows
  Words words_;
  bool changed_ = false;
};

}  // namespace shardlens::app::session
