// One level of recursion while it lives: parser and interpreter count theirs. One thread.
#pragma once

namespace shardlens::trainer::chat {

class DepthScope {
 public:
  explicit DepthScope(int& depth) : depth_(depth) { ++depth_; }
  ~DepthScope() { --depth_; }
  DepthScope(const DepthScope&) = delete;
  DepthScope& operator=(const DepthScope&) = delete;

 private:
  int& depth_;
};

}  // namespace shardlens::trainer::chat
