// A level of variables of the interpreter while it lives. One thread.
#pragma once

#include <memory>
#include <utility>

#include "trainer/chat/interpreter.h"

namespace shardlens::trainer::chat {

class Interpreter::ScopeGuard {
 public:
  // A new level within `parent`, or within the current one.
  explicit ScopeGuard(Interpreter& interpreter, std::shared_ptr<Scope> parent = nullptr)
      : interpreter_(interpreter), outer_(interpreter.scope_) {
    interpreter.scope_ = std::make_shared<Scope>();
    interpreter.scope_->parent = parent ? std::move(parent) : outer_;
  }
  ~ScopeGuard() { interpreter_.scope_ = std::move(outer_); }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Interpreter& interpreter_;
  std::shared_ptr<Scope> outer_;
};

}  // namespace shardlens::trainer::chat
