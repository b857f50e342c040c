// The memory of the unit that was freed last, kept while the device may still compute with it: so
// the next unit is gathered beside that computation, into other memory, and no more than two units
// have any. The training thread and autograd's.
#pragma once

#include <c10/core/Allocator.h>

#include <optional>
#include <vector>

#include "trainer/strategy/fsdp/completion.h"
#include "trainer/strategy/fsdp/shard_streams.h"

namespace shardlens::trainer::strategy {

class RetiredUnit {
 public:
  explicit RetiredUnit(const ShardStreams& streams) : streams_(streams) {}

  // Keeps `memory` until what the current stream has been given so far has run, and drops what it
  // kept before. On a CPU that has run already.
  void replace(std::vector<c10::DataPtr> memory);
  // Gives the memory back to the gather stream, which waits for its last use.
  void drop();

 private:
  const ShardStreams& streams_;
  std::vector<c10::DataPtr> memory_;
  std::optional<Completion> last_use_;
};

}  // namespace shardlens::trainer::strategy
