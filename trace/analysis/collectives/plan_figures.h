// What is reduced or gathered together, as shown: DDP's bucket plan with names, sizes, and why a
// bucket is larger than its cap; the units of a sharding strategy. Gathered from rows as they come.
// One owner; the functions any thread.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/analysis/figures/figures.h"
#include "trace/job/settings/settings.h"
#include "trace/model/events.h"
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

class UnitTable {
 public:
  // The lowest rank's rows count. Return the number of rows ignored as impossible: 0 or 1.
  int add(const model::Unit& unit);
  int add(const model::UnitParameter& parameter);

  // By index, texts looked up.
  std::vector<UnitFigures> figures(const model::StringTable& strings) const;

 private:
  struct Entry {
    model::Unit unit;
    std::vector<model::UnitParameter> parameters;
  };
  std::map<std::pair<int, int>, Entry> entries_;  // by (rank, index)
};

}  // namespace shardlens::trace::analysis
