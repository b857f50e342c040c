// What one collective is: which number, what it moves, what for; and what a rank says of one that
// failed, whichever backend ran it. Plain values, any thread.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "trace/job/settings/grammars.h"
#include "trace/model/events.h"

namespace shardlens::trainer::comm {

struct CollectiveTag {
  trace::model::TagKind kind = trace::model::TagKind::kNone;
  int index = -1;
  std::string name;
};
inline CollectiveTag named_tag(std::string name) {
  return {trace::model::TagKind::kNamed, -1, std::move(name)};
}

struct CollectiveDescription {
  std::int64_t sequence = -1;  // counted per process group, the same on all ranks
  trace::model::CollectiveFunction function = trace::model::CollectiveFunction::kOther;
  trace::model::CollectiveFunction executed = trace::model::CollectiveFunction::kOther;
  torch::ScalarType type = torch::kFloat32;
  std::int64_t bytes = 0;  // S of nccl-tests
  CollectiveTag tag;
};

// "collective 57 (all_reduce of 1048576 bytes float32 for bucket 3)"
std::string to_text(const CollectiveDescription& description);
std::string to_text(const CollectiveTag& tag);  // "bucket 3", "loss", "" for none
std::string name_of(torch::ScalarType type);    // "float32", as Python's names

// Equal on two ranks only if they entered the same collective.
std::uint32_t fingerprint(const CollectiveDescription& description);

// How long `link` needs for a collective: latency + transfer time, which is S · bus_factor() ÷
// bandwidth. 0 for a single rank.
std::chrono::nanoseconds latency(const trace::job::SimulatedLink& link, int world_size);
std::chrono::nanoseconds transfer_time(const trace::job::SimulatedLink& link,
                                       const CollectiveDescription& description, int world_size);

// "collective 57 (all_reduce of …) failed on rank 0: <reason>"; the rank is that of the world.
std::string failure_text(const CollectiveDescription& description, int world_rank,
                         const std::string& reason);

// The reason where the collective was waited for in vain.
std::string timeout_reason(std::chrono::milliseconds timeout);

// A collective whose end never came.
struct CollectiveTimeout {
  std::int64_t step = -1;  // in which it was asked for; -1: outside of steps
  trace::base::Phase phase = trace::base::Phase::kOther;
  std::string text;
};
using OnCollectiveTimeout = std::function<void(const CollectiveTimeout& timeout)>;

}  // namespace shardlens::trainer::comm
