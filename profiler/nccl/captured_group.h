// Which kernel launch carries which call, while a CUDA graph captures calls of one communicator.
// NCCL reports all calls of a group, then the group's launches, and after each launch the calls
// that it carries. Where the host takes part in replays, as it does across machines, NCCL reports
// those only with the replays, and not which launch they belong to. One thread at a time.
#pragma once

#include <cstdint>
#include <vector>

namespace shardlens::profiler::nccl {

class CapturedGroup {
 public:
  // `is_numbered`: all ranks make it, in the same order; others are sends and receives.
  void add_call(std::uint64_t collective, bool is_numbered);
  // Whether the next call is the first of a group.
  bool starts_anew() const { return !is_open_ || has_launched_; }
  // Another group begins. NCCL tells of no launch for one of broadcasts (see NcclEvents), which the
  // next launch does not carry.
  void begin_group() {
    if (!has_launched_) end();
  }
  // A call was not captured, so what follows is not either.
  void end();
  bool is_open() const { return is_open_; }
  // How its launches are counted beside those of other ranks: all have the same if all calls are
  // numbered. Of numbered and other calls together NCCL may make more launches on one rank than on
  // another.
  enum class Counting : std::uint8_t { kWithAllRanks, kNot, kUnsure };
  Counting counting() const;

  // A launch begins. What it carries, as far as can be said: all that was not told to be carried by
  // an earlier one. Later launches may take from that.
  struct Carried {
    std::vector<std::uint64_t> collectives;
    bool is_known = true;  // false: by this launch or the one before, which was said to
  };
  Carried begin_launch();
  // NCCL says that the latest launch carries it.
  void tell(std::uint64_t collective);

 private:
  bool is_open_ = false;
  bool has_launched_ = false;
  bool was_told_ = false;  // of the latest launch
  bool has_numbered_ = false;
  bool has_others_ = false;
  std::vector<std::uint64_t> waiting_;
};

}  // namespace shardlens::profiler::nccl
