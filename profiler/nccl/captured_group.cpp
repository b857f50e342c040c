#include "profiler/nccl/captured_group.h"

#include <utility>

namespace shardlens::profiler::nccl {

void CapturedGroup::add_call(std::uint64_t collective, bool is_numbered) {
  if (starts_anew()) *this = {};
  is_open_ = true;
  (is_numbered ? has_numbered_ : has_others_) = true;
  waiting_.push_back(collective);
}

CapturedGroup::Counting CapturedGroup::counting() const {
  if (has_numbered_ && has_others_) return Counting::kUnsure;
  return has_numbered_ ? Counting::kWithAllRanks : Counting::kNot;
}

void CapturedGroup::end() {
  if (is_open_) *this = {};
}

CapturedGroup::Carried CapturedGroup::begin_launch() {
  const bool is_first = !std::exchange(has_launched_, true);
  const bool is_known = is_first || was_told_;
  was_told_ = false;
  if (is_known) return {waiting_, true};
  return {std::exchange(waiting_, {}), false};
}

void CapturedGroup::tell(std::uint64_t collective) {
  was_told_ = true;
  std::erase(waiting_, collective);
}

}  // namespace shardlens::profiler::nccl
