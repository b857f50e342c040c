// DDP's bucket plan as shown: names, sizes, and why a bucket is larger than its cap. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/analysis/figures.h"
#include "trace/model/settings.h"
#include "trace/model/strings.h"

namespace shardlens::trace {

// The cap that applies to a bucket, in bytes: the first one has its own. `first_bucket_mb: auto` is
// 1 MiB if bucket_cap_mb is left at its default, else bucket_cap_mb, as in PyTorch.
double bucket_cap_bytes(const Settings& settings, int bucket);

// "wte.weight 147 MiB: a tensor is never split" for a bucket above twice its cap whose largest
// tensor alone exceeds the cap; else "".
std::string oversize_reason(const BucketFigures& bucket, double cap_bytes);

// One bucket with its texts looked up.
BucketFigures bucket_figures(const Bucket& bucket, const Settings& settings,
                             const StringTable& strings);

}  // namespace shardlens::trace
