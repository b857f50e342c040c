// The phases and spans that the training thread is in. The training thread only; never allocates.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "trace/model/events.h"

namespace shardlens::profiler::recorder {

class PhaseStack {
 public:
  static constexpr int kMaxDepth = 32;

  struct Open {
    trace::base::Phase phase = trace::base::Phase::kOther;
    trace::model::StringId name = 0;
    std::int64_t step = -1;
    std::int64_t start_ns = 0;
  };

  // Deeper than kMaxDepth is counted and left out.
  void push(const Open& open) {
    if (depth_ < kMaxDepth) open_[static_cast<std::size_t>(depth_)] = open;
    ++depth_;
  }

  // The innermost, with its depth; none if nothing is open or it was left out.
  struct Closed {
    Open open;
    int depth = 0;
  };
  std::optional<Closed> pop() {
    if (depth_ == 0) return std::nullopt;
    if (--depth_ >= kMaxDepth) return std::nullopt;
    return Closed{open_[static_cast<std::size_t>(depth_)], depth_};
  }

  trace::base::Phase phase() const {
    if (depth_ == 0) return trace::base::Phase::kOther;
    return open_[static_cast<std::size_t>(depth_ < kMaxDepth ? depth_ : kMaxDepth) - 1].phase;
  }

 private:
  std::array<Open, kMaxDepth> open_{};
  int depth_ = 0;
};

}  // namespace shardlens::profiler::recorder
