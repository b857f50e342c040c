// What PyTorch's FullyShardedDataParallel marks in a trace of its profiler, and which of the
// modules that it wraps is meant (torch/distributed/fsdp/_runtime_utils.py of PyTorch 2.11): no
// mark says so. One owner.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/interop/marks/unit_marks.h"

namespace shardlens::trace::interop {

inline constexpr std::string_view kFsdp1Prefix = "FullyShardedDataParallel.";
inline constexpr std::string_view kFsdp1Forward = "FullyShardedDataParallel.forward";

class Fsdp1Marks {
 public:
  // Takes what it looks for.
  void add(const KinetoEvent& event);
  bool has_any() const { return !marks_.empty(); }
  // Once, without those whose times cannot be believed. Modules are told apart by their place in
  // forward, "module 2", or within another one, "module 2.1"; where Python's calls were recorded,
  // by the names that PyTorch gives them there, "Block_1". Backward comes to them in the reverse of
  // the order in which forward leaves them (of those with one output in that very order), and is
  // through with the gradients of each in the reverse of the order in which forward enters them.
  UnitMarks finish(const std::function<bool(const base::Interval&)>& is_believed);

  struct Mark {
    enum class What : std::uint8_t {
      kForward,     // of a wrapped module, with those within it
      kRootInputs,  // only the root's are moved
      kPreForward,
      kForwardPrefetch,
      kPostForward,
      kPreBackward,
      kBackwardPrefetch,
      kPostBackward,
      kFrozen,  // backward is through with a module without gradients
    };
    base::Interval time;
    What what = What::kForward;
  };
  struct Module {  // one that ran
    base::Interval time;
    std::string name;  // "Block_1"
  };

 private:
  std::vector<Mark> marks_;
  std::vector<Module> modules_;
  std::vector<base::Interval> nodes_;  // of autograd
};

}  // namespace shardlens::trace::interop
