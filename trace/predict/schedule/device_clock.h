// When a GPU's stream comes to what its host asks for: the host runs ahead of it. One owner.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

namespace shardlens::trace::predict {

class DeviceClock {
 public:
  // `correlation`: the same of both, 0 is none. `lane`: of the kernel's stream.
  void add_launch(std::int64_t host_ns, std::uint64_t correlation) {
    launches_.emplace_back(host_ns, correlation);
  }
  void add_kernel(std::uint64_t correlation, int lane, std::int64_t end_ns);

  bool is_used() const { return !ends_.empty(); }
  std::size_t size() const { return launches_.size() + ends_.size(); }
  // Once all is told: of which stream the time is asked for.
  void sort(int lane);
  // When that stream has done all kernels that were launched on it until then, but not before then
  // itself. As it is without kernels. After sort().
  std::int64_t at(std::int64_t host_ns) const;

 private:
  std::vector<std::pair<std::int64_t, std::uint64_t>> launches_;  // by host time
  struct End {
    std::int64_t ns = 0;
    int lane = 0;
  };
  std::unordered_map<std::uint64_t, End> ends_;  // of kernels, by correlation
  std::vector<std::int64_t> done_;               // by launch: the end of all kernels up to it
};

}  // namespace shardlens::trace::predict
