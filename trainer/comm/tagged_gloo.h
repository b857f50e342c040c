// Gloo whose messages carry a tag that we choose, so that ranks in different collectives never mix
// their data.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <string>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>

namespace shardlens::trainer::comm {

class TaggedGloo final : public c10d::ProcessGroupGloo {
 public:
  using ProcessGroupGloo::ProcessGroupGloo;

  // The next collective only meets those of other ranks that have the same tag. Gloo would match
  // by count alone: with a collective left out, or of another size, it would write over memory.
  void set_next_tag(std::uint32_t tag) { collectiveCounter_ = tag; }

  // An all-gather whose parts arrive where they belong, at the next tag: Gloo's own gathers into a
  // second buffer of that size and copies. Returns when all parts are there and this rank's is
  // sent.
  void gather_in_place(const torch::Tensor& output, const torch::Tensor& input);

  // Fails whatever waits for another rank, now and later; any thread. Closing the connections would
  // leave it waiting until its timeout.
  void give_up(const std::string& reason) {
    for (const auto& context : contexts_) {
      for (int other = 0; other < getSize(); ++other) {
        if (other == getRank()) continue;
        auto* pair = static_cast<gloo::transport::tcp::Pair*>(context->getPair(other).get());
        if (pair != nullptr) pair->signalExceptionExternal(reason);
      }
    }
  }
};

}  // namespace shardlens::trainer::comm
