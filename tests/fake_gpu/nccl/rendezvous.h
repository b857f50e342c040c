// Where the ranks of a communicator, each a process of its own, meet: a file in memory that all of
// them map. Any thread; one communicator's collectives are entered by one thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/fake_gpu/cuda/timeline.h"

namespace shardlens::fake_gpu {

struct SharedPage;

class Rendezvous : public std::enable_shared_from_this<Rendezvous> {
 public:
  static constexpr int kMostRanks = 16;

  // Waits until all `ranks` have come; null when that takes longer than a minute.
  static std::shared_ptr<Rendezvous> join(std::uint64_t id, int ranks, int rank);
  ~Rendezvous();
  Rendezvous(const Rendezvous&) = delete;
  Rendezvous& operator=(const Rendezvous&) = delete;

  std::uint64_t id() const { return id_; }
  int ranks() const { return ranks_; }
  int rank() const { return rank_; }

  // The next collective: its number and what its stream waits for. `kind` tells what it is: ranks
  // that enter different ones never get past it, as with NCCL. Others see the `payload`, at most
  // kMostKnownBytes, which is asked for when the stream arrives.
  struct Entered {
    std::uint64_t number;
    std::shared_ptr<Gate> gate;
  };
  Entered enter(std::uint64_t kind, std::function<std::vector<std::byte>()> payload);
  // What a rank gave for it: from when the gate is passed until the stream's next collective.
  const std::byte* payload_of(std::uint64_t number, int rank) const;
  // Waits on the host for everybody's value. For setting up; empty when somebody does not come.
  std::vector<std::uint64_t> exchange(std::uint64_t value);

  // From now on nothing waits here any more.
  void abort() { is_aborted_ = true; }
  // This rank has done its part: nobody misses its process from now on.
  void leave();
  // A rank's process is gone without having left.
  bool has_lost_a_rank() const;

 private:
  class Arrival;
  Rendezvous(std::uint64_t id, int ranks, int rank, SharedPage* page);

  std::uint64_t id_;
  int ranks_;
  int rank_;
  SharedPage* page_;
  std::uint64_t entered_ = 0;
  std::uint64_t exchanged_ = 0;
  std::atomic<bool> is_aborted_{false};
};

}  // namespace shardlens::fake_gpu
