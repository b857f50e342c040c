// What NCCL is given as the handle of a host's call, until the kernel that carries it is launched:
// a fixed number of slots, taken and given back inside NCCL's callbacks. Any thread; never blocks,
// never allocates.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace shardlens::profiler::nccl {

class NcclCallPool {
 public:
  static constexpr std::size_t kSlots = 4096;
  // A group that failed gives its calls no kernel: their slots are taken again after so long.
  static constexpr std::int64_t kForgottenAfterNs = 60'000'000'000;

  struct Call {
    std::uint64_t collective = 0;  // handle of Recorder::enter_collective
    bool is_foreign = false;       // nobody but us will tell when it has ended
    std::int64_t called_ns = 0;
  };

  // nullptr: all slots are in use.
  void* claim(const Call& call);
  // Gives the slot back. None: not a handle of claim(), or one that was given back or forgotten.
  std::optional<Call> take(void* handle);

 private:
  // A slot's state is its number of uses so far, times 4, plus one of these.
  static constexpr std::uint64_t kFree = 0, kBusy = 1, kUsed = 2, kStateMask = 3;
  static constexpr std::size_t kProbes = 64;

  struct Slot {
    std::atomic<std::uint64_t> state{kFree};
    std::atomic<std::int64_t> called_ns{0};
    Call call;
  };
  bool is_available(const Slot& slot, std::uint64_t state, std::int64_t now_ns) const;

  std::array<Slot, kSlots> slots_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace shardlens::profiler::nccl
