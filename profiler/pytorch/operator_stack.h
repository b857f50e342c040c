// The operators that one thread is inside of: decides depth, leaf and compute. One thread; never
// allocates.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "trace/model/events.h"

namespace shardlens::profiler::pytorch {

class OperatorStack {
 public:
  static constexpr int kMaxDepth = 256;  // autograd inside checkpoints nests deep

  struct Open {
    std::int64_t start_ns = 0;  // 0: began while no detail was recorded
    trace::model::StringId name = 0;
    bool is_aten = false;
    bool only_allocates = false;
    bool inside_aten = false;
    bool called_other = false;    // any operator
    bool called_foreign = false;  // one that is not aten, at any depth
  };

  void begin(std::int64_t start_ns, trace::model::StringId name, bool is_aten,
             bool only_allocates = false) {
    if (depth_ < kMaxDepth) {
      Open& open = open_[static_cast<std::size_t>(depth_)];
      open = {start_ns, name, is_aten, only_allocates, false, false, false};
      if (depth_ > 0) {
        Open& parent = open_[static_cast<std::size_t>(depth_ - 1)];
        parent.called_other = true;
        parent.called_foreign |= !is_aten;
        open.inside_aten = parent.is_aten || parent.inside_aten;
      }
    }
    ++depth_;
  }

  // The innermost one has ended. Its event is to be kept if `start_ns` is not 0.
  struct Ended {
    std::int64_t start_ns = 0;
    trace::model::StringId name = 0;
    std::uint32_t flags = 0;
  };
  Ended end(bool counts_as_compute) {
    if (depth_ == 0) return {};
    if (--depth_ >= kMaxDepth) return {};
    const Open& open = open_[static_cast<std::size_t>(depth_)];
    if (depth_ > 0)
      open_[static_cast<std::size_t>(depth_ - 1)].called_foreign |= open.called_foreign;
    Ended ended{open.start_ns, open.name, 0};
    if (!open.called_other) ended.flags |= trace::model::kEventLeaf;
    if (counts_as_compute && is_compute(open)) ended.flags |= trace::model::kEventCompute;
    ended.flags |= static_cast<std::uint32_t>(std::min(depth_, 255))
                   << trace::model::kEventDepthShift;
    return ended;
  }

  int depth() const { return depth_; }

  // Who asks for memory: the innermost one that does more than allocate it. 0: none has a name.
  trace::model::StringId allocating() const {
    for (int i = std::min(depth_, kMaxDepth) - 1; i >= 0; --i) {
      const Open& open = open_[static_cast<std::size_t>(i)];
      if (open.name != 0 && (!open.only_allocates || i == 0)) return open.name;
    }
    return 0;
  }

 private:
  // The outermost aten operator of a chain that calls aten only. Not the innermost: aten::addmm
  // calls aten::expand and multiplies itself, so that innermost operators alone miss most of the
  // work. What calls anything else (c10d, autograd, custom functions) may wait inside.
  static bool is_compute(const Open& open) {
    return open.is_aten && !open.inside_aten && !open.called_foreign;
  }

  std::array<Open, kMaxDepth> open_{};
  int depth_ = 0;
};

}  // namespace shardlens::profiler::pytorch
