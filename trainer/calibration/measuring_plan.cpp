#include "trainer/calibration/measuring_plan.h"

#include <algorithm>
#include <iterator>
#include <random>

namespace shardlens::trainer::calibration {

using std::chrono::nanoseconds;

namespace {

// A round of one function takes some 3.5 times its longest call: the sizes are powers of two, and
// short calls come several times. Finding out takes twice that call.
constexpr int kLongestCallsInTime = 12;  // of one group's function
constexpr std::int64_t kMostRepeats = 8;

}  // namespace

std::vector<std::int64_t> size_ladder(std::int64_t largest) {
  largest = std::clamp(largest, kSmallestBytes, kLargestBytes);
  std::vector<std::int64_t> sizes;
  // A size near to the largest tells nothing more.
  for (std::int64_t size = kSmallestBytes; 4 * size <= 3 * largest; size *= 2) {
    sizes.push_back(size);
  }
  sizes.push_back(largest);
  return sizes;
}

MeasuringPlan::MeasuringPlan(std::size_t groups, std::int64_t largest_bytes, nanoseconds time,
                             std::uint64_t seed)
    : sizes_(size_ladder(largest_bytes)), seed_(seed) {
  for (std::size_t group = 0; group < groups; ++group) {
    for (const auto function : kFunctions) open_.push_back({group, function, 0});
  }
  longest_ = time / (kLongestCallsInTime * static_cast<std::int64_t>(open_.size()));
}

std::vector<MeasuredCall> MeasuringPlan::next_size() {
  asked_.clear();
  if (next_size_ == sizes_.size()) return {};
  asked_ = open_;
  for (MeasuredCall& call : asked_) call.bytes = sizes_[next_size_];
  ++next_size_;
  return asked_;
}

void MeasuringPlan::took(const std::vector<nanoseconds>& times) {
  open_.clear();
  for (std::size_t i = 0; i < asked_.size(); ++i) {
    // Something else held up a smaller one that took longer.
    for (Known& smaller : known_) {
      const bool is_same_kind =
          smaller.call.group == asked_[i].group && smaller.call.function == asked_[i].function;
      if (is_same_kind) smaller.time = std::min(smaller.time, times[i]);
    }
    known_.push_back({asked_[i], times[i]});
    if (!is_long(times[i])) open_.push_back(asked_[i]);  // the next is twice as large
  }
  if (open_.empty()) next_size_ = sizes_.size();
}

std::vector<MeasuredCall> MeasuringPlan::round(std::int64_t round) const {
  std::vector<MeasuredCall> calls;
  for (const Known& known : known_) {
    const std::int64_t fits = longest_ / kMostRepeats / std::max(known.time, nanoseconds(1));
    std::fill_n(std::back_inserter(calls), std::clamp<std::int64_t>(fits, 1, kMostRepeats),
                known.call);
  }
  std::mt19937_64 random(seed_ + static_cast<std::uint64_t>(round));
  std::ranges::shuffle(calls, random);
  return calls;
}

}  // namespace shardlens::trainer::calibration
