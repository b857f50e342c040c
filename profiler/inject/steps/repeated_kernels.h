// Finds steps as the pattern in which a stream's kernels repeat, where neither ranges nor an
// optimizer's kernels tell them. One thread; kernels in the order of their start.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "profiler/inject/steps/step_sink.h"

namespace shardlens::profiler::inject {

// After how many kernels their names come again: the shortest length after which nearly as many
// agree as after the best one, at least nine tenths of those that were seen three times or more. 0:
// none. O(n) for each of a few lengths that are at all possible.
std::size_t repeat_length(std::span<const std::uint32_t> names);

class RepeatedKernels {
 public:
  // Fewer could be the layers inside one step; a pattern is looked for again at twice as many.
  static constexpr std::size_t kFewestKernels = 8192;
  static constexpr std::size_t kMostKernels = 262'144;
  // What repeats faster is setting memory up, not training.
  static constexpr std::int64_t kShortestStepNs = 1'000'000;

  explicit RepeatedKernels(StepSink& sink) : sink_(sink) {}

  void add(std::uint32_t name, std::int64_t start_ns, std::int64_t end_ns);
  bool has_found_steps() const { return length_ > 0; }
  // Looks for a pattern in what came so far, however little; ends a step that is complete.
  void finish();

 private:
  struct Kernel {
    std::uint32_t name = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };
  // Of a step: the first kernels, by which it is known again.
  static constexpr std::size_t kLongestBeginning = 16;

  bool learn();
  std::size_t widest_gap(std::size_t length) const;
  void follow(const Kernel& kernel);
  bool is_beginning() const;
  void close(std::int64_t at_ns);

  StepSink& sink_;
  std::vector<Kernel> seen_;  // until a pattern is found
  std::size_t next_try_ = kFewestKernels;

  std::size_t length_ = 0;  // kernels of a step; 0: not known yet
  std::vector<std::uint32_t> beginning_;
  std::deque<Kernel> latest_;    // as many as the beginning has
  std::size_t since_begin_ = 0;  // kernels of the open step
  bool is_open_ = false;
  std::int64_t usual_end_ns_ = 0;  // of the kernel with which the open step should end
};

}  // namespace shardlens::profiler::inject
