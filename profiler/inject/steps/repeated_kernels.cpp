#include "profiler/inject/steps/repeated_kernels.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "trace/base/median.h"

namespace shardlens::profiler::inject {
namespace {

constexpr std::size_t kFewestRepeats = 3;
constexpr double kFewestEqual = 0.9;
// A length is as good as the best if it loses no more than this.
constexpr double kNearlyAsGood = 0.97;

double equal_share(std::span<const std::uint32_t> names, std::size_t length) {
  std::size_t equal = 0;
  for (std::size_t i = 0; i + length < names.size(); ++i) equal += names[i] == names[i + length];
  return static_cast<double>(equal) / static_cast<double>(names.size() - length);
}

// Kernels that run once in a step lie a step apart, those that run in each layer of one a layer.
std::vector<std::size_t> possible_lengths(std::span<const std::uint32_t> names) {
  std::unordered_map<std::uint32_t, std::vector<std::size_t>> places;
  for (std::size_t i = 0; i < names.size(); ++i) places[names[i]].push_back(i);
  std::map<std::size_t, std::size_t> votes;
  for (const auto& [name, at] : places) {
    if (at.size() < kFewestRepeats) continue;
    std::vector<std::size_t> gaps;
    for (std::size_t i = 1; i < at.size(); ++i) gaps.push_back(at[i] - at[i - 1]);
    ++votes[trace::base::upper_median(gaps)];
    // Of several in a step: from the first of one to the first of the next.
    ++votes[*std::ranges::max_element(gaps)];
  }
  std::vector<std::size_t> lengths;
  for (const auto& [length, count] : votes) {
    if (length * kFewestRepeats <= names.size()) lengths.push_back(length);
  }
  return lengths;
}

}  // namespace

std::size_t repeat_length(std::span<const std::uint32_t> names) {
  struct Candidate {
    std::size_t length = 0;
    double equal = 0;
  };
  std::vector<Candidate> candidates;
  double best = kFewestEqual;
  for (const std::size_t length : possible_lengths(names)) {
    candidates.push_back({length, equal_share(names, length)});
    best = std::max(best, candidates.back().equal);
  }
  for (const Candidate& candidate : candidates) {  // the shortest first
    if (candidate.equal >= kFewestEqual && candidate.equal >= best * kNearlyAsGood)
      return candidate.length;
  }
  return 0;
}

void RepeatedKernels::add(std::uint32_t name, std::int64_t start_ns, std::int64_t end_ns) {
  const Kernel kernel{name, start_ns, end_ns};
  if (length_ > 0) return follow(kernel);
  if (seen_.size() >= kMostKernels) return;  // it does not repeat
  seen_.push_back(kernel);
  if (seen_.size() < next_try_) return;
  next_try_ *= 2;
  learn();
}

// Set-up comes first and does not repeat: the later half decides.
bool RepeatedKernels::learn() {
  std::vector<std::uint32_t> names;
  const std::size_t skipped = seen_.size() / 2;
  for (std::size_t i = skipped; i < seen_.size(); ++i) names.push_back(seen_[i].name);
  const std::size_t length = repeat_length(names);
  if (length == 0) return false;
  const auto steps = static_cast<std::int64_t>(names.size() / length);
  if ((seen_.back().end_ns - seen_[skipped].start_ns) / steps < kShortestStepNs) return false;
  const std::size_t first = widest_gap(length);
  for (std::size_t i = 0; i < std::min(length, kLongestBeginning); ++i)
    beginning_.push_back(seen_[first + i].name);
  length_ = length;
  for (const Kernel& kernel : seen_) follow(kernel);
  seen_ = {};
  return true;
}

// Between steps the host does most: the widest gap on average is where one begins.
std::size_t RepeatedKernels::widest_gap(std::size_t length) const {
  const std::size_t start = seen_.size() - kFewestRepeats * length;
  std::size_t widest = start;
  std::int64_t widest_ns = -1;
  for (std::size_t first = std::max<std::size_t>(start, 1); first < start + length; ++first) {
    std::int64_t gap_ns = 0;
    for (std::size_t i = first; i < seen_.size(); i += length)
      gap_ns += std::max<std::int64_t>(0, seen_[i].start_ns - seen_[i - 1].end_ns);
    if (gap_ns > widest_ns) {
      widest_ns = gap_ns;
      widest = first;
    }
  }
  return widest;
}

void RepeatedKernels::follow(const Kernel& kernel) {
  latest_.push_back(kernel);
  if (latest_.size() > beginning_.size()) latest_.pop_front();
  ++since_begin_;
  if (is_open_ && since_begin_ == length_) usual_end_ns_ = kernel.end_ns;
  // Something else runs, say an evaluation.
  if (is_open_ && since_begin_ > 2 * length_) close(usual_end_ns_);
  if (is_open_ && since_begin_ < std::max<std::size_t>(length_ / 2, beginning_.size())) return;
  if (!is_beginning()) return;
  const std::int64_t at_ns = latest_.front().start_ns;
  if (is_open_) close(at_ns);
  is_open_ = true;
  since_begin_ = beginning_.size();
  usual_end_ns_ = since_begin_ >= length_ ? kernel.end_ns : 0;
  sink_.begin_step(at_ns, std::nullopt);
}

// A kernel or two may be chosen anew, say for another alignment; not the first.
bool RepeatedKernels::is_beginning() const {
  if (latest_.size() < beginning_.size() || latest_.front().name != beginning_.front())
    return false;
  std::size_t equal = 0;
  for (std::size_t i = 0; i < beginning_.size(); ++i) equal += latest_[i].name == beginning_[i];
  return equal * 8 >= beginning_.size() * 7;
}

void RepeatedKernels::close(std::int64_t at_ns) {
  sink_.end_step(at_ns);
  is_open_ = false;
}

void RepeatedKernels::finish() {
  if (length_ == 0 && !learn()) return;
  if (is_open_ && usual_end_ns_ > 0) close(usual_end_ns_);
}

}  // namespace shardlens::profiler::inject
