// Which kernel of a CUDA graph is which launch that was captured. Graphs are built on the job's
// threads, which wait for the short lock; the flush thread asks.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace shardlens::profiler::cupti {

// A launch of NCCL that a CUDA graph captured.
struct CapturedLaunch {
  static constexpr std::uint64_t kNoOrder = 0, kUnsure = UINT64_MAX;

  std::uint64_t launch = 0;  // its mark; 0: none
  // Launches with the same order are run one after the other by all ranks alike.
  std::uint64_t order = kNoOrder;
};

class GraphNodes {
 public:
  // Of graphs that are gone, nodes stay, since records of their last replays come late. Beyond so
  // many (8 MiB) the oldest are forgotten.
  static constexpr std::size_t kMostNodes = 65'536;

  // A marked launch was captured as this node.
  void created(std::uint64_t node, const CapturedLaunch& launch);
  // A graph became another, as an executable one: `original` stays what it is.
  void cloned(std::uint64_t node, std::uint64_t original);
  // The kernels of graphs are changed afterwards, of some or all: none is sure any more.
  void forget_all();

  // None: not one that was marked.
  CapturedLaunch launch_of(std::uint64_t node) const;
  // Whether any was forgotten since this was asked last, by forget_all() or as there are too many.
  struct Forgotten {
    bool by_change = false;
    bool by_number = false;
  };
  Forgotten take_forgotten();

 private:
  void set(std::uint64_t node, const CapturedLaunch& launch);

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, CapturedLaunch> launches_;  // by node
  std::deque<std::uint64_t> oldest_first_;
  Forgotten forgotten_;
};

}  // namespace shardlens::profiler::cupti
