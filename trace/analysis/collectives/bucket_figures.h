// DDP's bucket plan as shown: names, sizes, and why a bucket is larger than its cap; gathered from
// rows as they come. One owner; the functions any thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/job/settings/settings.h"
#include "trace/model/strings.h"

namespace shardlens::trace::analysis {

// The cap that applies to a bucket, in bytes: the first one has its own.
double bucket_cap_bytes(const job::Settings& settings, int bucket);

// "wte.weight 147 MiB: a tensor is never split" for a bucket above twice its cap whose largest
// tensor alone exceeds the cap; else "".
std::string oversize_reason(const BucketFigures& bucket, double cap_bytes);

class BucketTable {
 public:
  // Of several ranks the lowest one's row counts. Returns the number of rows ignored as impossible:
  // 0 or 1.
  int add(const model::Bucket& bucket);

  // Of the last plan, by index. `settings`: null where they are not known.
  std::vector<BucketFigures> figures(const job::Settings* settings,
                                     const model::StringTable& strings) const;

 private:
  std::map<std::pair<int, int>, model::Bucket> buckets_;  // by (plan, index)
};

}  // namespace shardlens::trace::analysis
