// The calls that CUDA graphs have captured, by the handle that NCCL gets for each. NCCL keeps it as
// long as the graph, and hands it back with every replay in which the host takes part. Any thread;
// a lock for a few instructions while a graph is captured or such a replay begins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

namespace shardlens::profiler::nccl {

class CapturedCalls {
 public:
  // Of a program that captures again and again: 1 MiB.
  static constexpr std::size_t kMostCalls = 65'536;

  // `recording` tells those of one recording from another's.
  explicit CapturedCalls(std::uint64_t recording) : recording_(recording & kRecordingMask) {}

  // `collective`: handle of Recorder::capture_collective. nullptr: too many.
  void* add(std::uint64_t collective);

  struct Call {
    std::uint64_t collective = 0;
    bool is_told = false;  // what NCCL chose for it, by an earlier take()
  };
  // None: not a handle of add(). From then on it is told.
  std::optional<Call> take(void* handle);

 private:
  static constexpr std::uint64_t kRecordingMask = 0xffff;

  const std::uint64_t recording_;
  std::mutex mutex_;
  std::vector<Call> calls_;
};

// Which kernel launch carries which call, while a CUDA graph captures calls of one communicator.
// NCCL reports all calls of a group, then the group's launches, and after each launch the calls
// that it carries. Where the host takes part in replays, as it does across machines, NCCL reports
// those only with the replays, and not which launch they belong to. One thread at a time.
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
