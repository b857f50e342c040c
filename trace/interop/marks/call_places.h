// Which calls of several ranks are the same one, where nothing numbers them: those at the same
// place in their order. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "trace/model/batch.h"

namespace shardlens::trace::interop {

struct RankCalls {
  std::vector<std::int64_t> steps;       // that were recorded of the rank, ascending
  std::vector<std::int64_t> call_steps;  // of its calls, in the order in which it asked for them
  bool are_marked = true;  // else nothing tells that those of other ranks are the same
  // So many of its first calls were asked for before the recording began. Other ranks' GPUs may
  // have been through with them, or lag behind by more.
  std::int64_t asked_before = 0;
};

// `steps` in order. What was asked for before the first belongs to the one before it, what comes
// behind one to that one.
RankCalls calls_by_step(std::span<const model::Step> steps, std::span<const std::int64_t> asked_ns,
                        bool are_marked);

// By rank and call. Of ranks that recorded the same steps it is the place in their order, in which
// those that were asked for before are counted back from the first that was not. Where
// they did not it is the place within its step behind all that any rank did in earlier ones, so
// that calls of a step that only some recorded share their places with no other; nor do those of a
// rank whose steps are not marked.
std::vector<std::vector<std::int64_t>> places_of_calls(std::span<const RankCalls> ranks);

// A send meets one other rank: the group's others do not count it. What a call did that tells
// neither function nor name may be one.
bool may_be_between_two(const model::Collective& call);

// Numbers the calls of each group that have no number, by their places, but for what may be between
// two. `rows`: by rank.
void number_calls(std::map<int, model::Batch>& rows);

}  // namespace shardlens::trace::interop
