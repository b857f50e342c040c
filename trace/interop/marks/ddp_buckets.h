// Which gradients DDP's reductions held, from when gradients were ready and reductions were asked
// for. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "trace/model/events.h"

namespace shardlens::trace::interop {

struct DdpGradient {
  std::int64_t start_ns = 0, end_ns = 0;  // of the node of autograd that accumulates it
  std::string shape, type;                // "[768, 3072]", "float32"; "": not told
  std::int64_t elements = -1;             // −1: not told
  std::int64_t element_bytes = 0;         // 0: not known
};

// A collective of which it is known when the host asked for it.
struct AskedCall {
  std::int64_t asked_ns = 0;
  model::CollectiveFunction function = model::CollectiveFunction::kOther;
  std::int64_t bytes = -1, elements = -1;  // of all ranks; −1: not told
  std::int64_t ranks = 1;                  // 0: not told
  model::StringId data_type = 0;
  std::size_t call = 0;  // whatever the caller knows it by
  bool is_of_integers = false;
  bool is_sparse = false;  // holds some values of its gradient, and where they are
};

// One backward pass of a rank; both in order of time.
struct DdpBackward {
  std::vector<DdpGradient> gradients;
  std::vector<AskedCall> reductions;  // all-reduces, whoever asked for them
};

struct DdpBucket {
  // Of its gradients; as it was reduced where `gradients` is empty, since nothing tells their
  // sizes.
  std::int64_t bytes = 0;
  std::vector<DdpGradient> gradients;
};

struct DdpBuckets {
  // In order of reduction: the last of the plans, and before it that of a first step, after which
  // DDP plans again.
  std::vector<std::vector<DdpBucket>> plans;
  struct Tag {
    std::size_t call = 0;
    int bucket = 0;
  };
  std::vector<Tag> tags;  // of the reductions that are DDP's
  // Calls that add up which parameters were used (find_unused_parameters).
  std::vector<std::size_t> used_parameters;
  std::string why_none;  // a clause; "": there are plans
};

// DDP asks for a bucket's reduction, and for that of which parameters were used, while it is told
// of its last gradient. Sure is only what holds in every pass: reductions lie in the order of
// gradients, and hold as many elements.
DdpBuckets find_ddp_buckets(std::span<const DdpBackward> backwards);

}  // namespace shardlens::trace::interop
