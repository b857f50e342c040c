// What one collective is: which number, what it moves, what for. Plain values, any thread.
#pragma once

#include <torch/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "trace/job/settings/schedule.h"
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
std::string to_text(const CollectiveTag& tag);     // "bucket 3", "loss", "" for none
std::string_view to_text(torch::ScalarType type);  // "float32", as Python's names

// Equal on two ranks only if they entered the same collective.
std::uint32_t fingerprint(const CollectiveDescription& description);

// How long `link` needs for a collective: latency + transfer time, which is S · bus_factor() ÷
// bandwidth. 0 for a single rank.
std::chrono::nanoseconds latency(const trace::job::SimulatedLink& link, int world_size);
std::chrono::nanoseconds transfer_time(const trace::job::SimulatedLink& link,
                                       const CollectiveDescription& description, int world_size);

}  // namespace shardlens::trainer::comm
