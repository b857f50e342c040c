// Which kernels are communication, by their names: looked up once per name. One owner.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/model/activity.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace {

class LodKernelNames {
 public:
  bool is_communication(StringId name, const StringIndex& strings) {
    if (name >= kMost) return looked_up(name, strings);
    if (name >= known_.size()) known_.resize(name + 64);
    std::uint8_t& known = known_[name];
    if (known == 0) known = looked_up(name, strings) ? 2 : 1;
    return known == 2;
  }

 private:
  static constexpr StringId kMost = 1u << 20;
  static bool looked_up(StringId name, const StringIndex& strings) {
    return activity_of(EventKind::kKernel, {}, strings.text(name)) == Activity::kCommunication;
  }
  std::vector<std::uint8_t> known_;  // 0: not yet, 1: no, 2: yes
};

}  // namespace shardlens::trace
