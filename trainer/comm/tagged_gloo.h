// Gloo whose messages carry a tag that we choose, so that ranks in different collectives never mix
// their data. Used by one thread at a time.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace shardlens::trainer {

class TaggedGloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  // The next collective only meets those of other ranks that have the same tag. Gloo would match
  // by count alone: with a collective left out, or of another size, it would write over memory.
  void set_next_tag(std::uint32_t tag) { collectiveCounter_ = tag; }

  // Whatever waits for another rank fails.
  void close_connections() {
    for (const auto& context : contexts_) context->closeConnections();
  }
};

}  // namespace shardlens::trainer
