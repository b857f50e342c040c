// Which kernel of a CUDA graph is which launch that was captured. Graphs are built on the job's
// threads, which wait for the short lock; the flush thread asks.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_map>

namespace shardlens::profiler {

class GraphNodes {
 public:
  // Of graphs that are gone, nodes stay, since records of their last replays come late. Beyond so
  // many (8 MiB) the oldest are forgotten.
  static constexpr std::size_t kMostNodes = 65'536;

  // A marked launch was captured as this node.
  void created(std::uint64_t node, std::uint64_t launch);
  // A graph became another, as an executable one: `original` stays what it is.
  void cloned(std::uint64_t node, std::uint64_t original);
  // The kernels of graphs are changed afterwards, of some or all: none is sure any more.
  void forget_all();

  // 0: not one that was marked.
  std::uint64_t launch_of(std::uint64_t node) const;
  // Whether any was forgotten by forget_all() since this was asked last.
  bool take_was_forgotten();

 private:
  void set(std::uint64_t node, std::uint64_t launch);

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::uint64_t> launches_;  // by node
  std::deque<std::uint64_t> oldest_first_;
  bool was_forgotten_ = false;
};

}  // namespace shardlens::profiler
