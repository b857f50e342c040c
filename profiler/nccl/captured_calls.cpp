#include "profiler/nccl/captured_calls.h"

#include <utility>

namespace shardlens::profiler::nccl {

namespace {

// The two lowest bits tell a handle from those of NcclCallPool and from addresses.
constexpr std::uint64_t kTag = 2, kTagMask = 3;
constexpr int kTagBits = 2, kIndexBits = 32;

}  // namespace

void* CapturedCalls::add(std::uint64_t collective) {
  const std::lock_guard lock(mutex_);
  if (calls_.size() >= kMostCalls) return nullptr;
  const std::uint64_t index = calls_.size();
  calls_.push_back({collective, false});
  return reinterpret_cast<void*>(((recording_ << kIndexBits | index) << kTagBits) | kTag);
}

std::optional<CapturedCalls::Call> CapturedCalls::take(void* handle) {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  const std::uint64_t number = value >> kTagBits;
  if ((value & kTagMask) != kTag || number >> kIndexBits != recording_) return std::nullopt;
  const std::uint64_t index = number & ((std::uint64_t{1} << kIndexBits) - 1);
  const std::lock_guard lock(mutex_);
  if (index >= calls_.size()) return std::nullopt;
  return std::exchange(calls_[index], Call{calls_[index].collective, true});
}

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
