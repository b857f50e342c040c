// What NCCL is given as the handle of a host's call, until the kernel that carries it is launched:
// a fixed number of slots, taken and given back inside NCCL's callbacks. Any thread; never
// allocates, and waits only while another thread reads or writes the same slot.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "profiler/queue/records.h"

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
    bool is_in_group = false;  // until leave_group()
    // What is known of its launch by now: which it is, how it is carried out.
    queue::CollectiveLaunch launch{};
    bool is_told = false;  // how
  };

  // nullptr: all slots are in use.
  void* claim(const Call& call);
  // Gives the slot back. None: not a handle of claim(), or one that was given back or forgotten.
  std::optional<Call> take(void* handle);

  // Where a function of the host tells how a call is carried out, that thread knows nothing of the
  // launch, nor the launching thread when it will tell. Each gives what it knows, in any order; the
  // second has all, and gives the slot back.
  // None: as in take(), or told before. If still in the group, it is the first.
  std::optional<Call> tell(void* handle, const queue::CollectiveLaunch& how);
  // `launch`: 0 if it cannot be said. None: it is the first, or as in take().
  std::optional<Call> leave_group(void* handle, std::uint64_t launch);

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
  // Busy from then on; nullptr: as in take().
  Slot* hold(void* handle);
  void let_go(Slot& slot, std::uint64_t next);

  std::array<Slot, kSlots> slots_;
  std::atomic<std::size_t> next_{0};
};

}  // namespace shardlens::profiler::nccl
