// What rules about buckets look at alike. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

bool has_buckets(const RunFacts& run);
std::int64_t all_bucket_bytes(const RunFacts& run);
// Caps to look at, as texts: from 0.25 MiB on in about factors of two, to the first that holds all
// gradients.
std::vector<std::string> possible_caps(const RunFacts& run);

// Between the last gradient and the end of backward, in a typical step; else that step.
Evidence tail_evidence(const RunFacts& run);

// Of several ways to change the settings the one whose predicted gain is the surest and that fits
// in memory as far as that is known; empty without a prediction, or where none is faster beyond
// chance. Where too few steps tell what is chance, none is faster by more than else is unsure.
std::vector<KnobValue> surest_of(const RunFacts& run,
                                 const std::vector<std::vector<KnobValue>>& ways);

struct LastBucket {
  const analysis::BucketFigures* bucket = nullptr;  // null: there is none
  double exposed_ns = 0;                            // of a step, the mean over ranks
  std::size_t largest = 0;                          // place of its largest tensor

  std::int64_t largest_bytes() const { return bucket->parameter_bytes[largest]; }
};
LastBucket last_bucket_of(const RunFacts& run);
// Half of what is exposed, and noticeable.
bool is_tail(const RunFacts& run, const LastBucket& last);
// Its reduction in the sampled step in which it took longest.
Evidence last_bucket_evidence(const RunFacts& run, const LastBucket& last);

}  // namespace shardlens::trace::advice
