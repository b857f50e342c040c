// Ranks that communicate, and how they lie on nodes: each node has as many, one after another.
#pragma once

#include <algorithm>
#include <cstdint>

namespace shardlens::trace::job {

struct RankGroup {
  std::int64_t ranks = 1;
  std::int64_t apart = 1;  // ranks from one to the next

  // How many of them stand on a node.
  std::int64_t on_node(std::int64_t ranks_per_node) const {
    return std::clamp<std::int64_t>(ranks_per_node / apart, 1, ranks);
  }
  bool spans_nodes(std::int64_t ranks_per_node) const { return on_node(ranks_per_node) < ranks; }
};

}  // namespace shardlens::trace::job
