// Which process groups collectives were of that name none, as Gloo's: told by what cannot have been
// otherwise. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::interop {

inline constexpr int kNoGroup = -1;  // it is not known, or there is none

struct UnnamedCall {
  std::string thread;  // that carried it out, of one group alone
  model::CollectiveFunction asked = model::CollectiveFunction::kOther;  // kOther: not known
  model::CollectiveFunction executed = model::CollectiveFunction::kOther;
  std::int64_t elements = -1;  // of its input; −1: not told
  std::int64_t ranks = 0;      // that take part; 0: not told
  std::int64_t start_ns = 0, end_ns = 0;
  std::int64_t place = 0;  // the same on all ranks whose programs are the same
};

struct UnnamedCalls {
  int rank = 0;
  std::vector<std::vector<int>> groups;  // of which the rank is told to be a member: their ranks
  std::vector<UnnamedCall> calls;        // in the order in which it asked for them
};

// By rank and call the place in its `groups`, or kNoGroup where several might be meant. What
// decides: how many ranks took part, where calls tell; that what waits for all ranks of a group
// ends on none before it began on all, however far clocks are apart, if all ranks' programs are the
// same; that each group has threads of its own, two or as many as any has here; and that all
// members of a group are in its calls. Of groups that share their replicas' sums, as PyTorch's HSDP
// does, what shards is the one whose ranks lie closest.
std::vector<std::vector<int>> groups_of_calls(std::span<const UnnamedCalls> ranks);

}  // namespace shardlens::trace::interop
