// When a GPU's stream comes to what its host asks for: the host runs ahead of it. One owner.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace shardlens::trace::predict {

// Of one stream.
class DeviceTimes {
 public:
  // When the stream has done all kernels that the host had launched on it by `host_ns`; at the
  // earliest `host_ns`, also where there are none.
  std::int64_t at(std::int64_t host_ns) const;
  // When the last kernel was launched of those that were added, which must come in the order of
  // their launches; INT64_MIN: there is none.
  std::int64_t last_launch_ns() const {
    return launches_.empty() ? INT64_MIN : launches_.back().host_ns;
  }

 private:
  friend class DeviceClock;
  struct Launch {
    std::int64_t host_ns = 0;
    std::int64_t done_ns = 0;  // the end of all kernels up to it
  };
  std::vector<Launch> launches_;  // by host time
};

class DeviceClock {
 public:
  // `correlation`: the same of both, 0 is none. `lane`: of the kernel's stream.
  void add_launch(std::int64_t host_ns, std::uint64_t correlation) {
    launches_.push_back({correlation, host_ns});
  }
  void add_kernel(std::uint64_t correlation, int lane, std::int64_t end_ns) {
    if (correlation != 0) kernels_.push_back({correlation, end_ns, lane});
  }

  std::size_t size() const { return launches_.size() + kernels_.size(); }
  // Of the stream on that lane, by what was told until now.
  DeviceTimes times_of(int lane) const;

 private:
  struct Launch {
    std::uint64_t correlation = 0;
    std::int64_t host_ns = 0;
  };
  struct Kernel {
    std::uint64_t correlation = 0;
    std::int64_t end_ns = 0;
    int lane = 0;
  };
  std::vector<Launch> launches_;
  std::vector<Kernel> kernels_;
};

}  // namespace shardlens::trace::predict
