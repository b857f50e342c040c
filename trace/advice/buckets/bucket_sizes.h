// What rules about buckets look at alike. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trace/advice/facts/run_facts.h"

namespace shardlens::trace::advice {

inline constexpr double kMibBytes = 1024.0 * 1024.0;

bool has_buckets(const RunFacts& run);
std::int64_t all_bucket_bytes(const RunFacts& run);
// Caps to look at, as texts: from 0.25 MiB on in about factors of two, to the first that holds all
// gradients.
std::vector<std::string> possible_caps(const RunFacts& run);

// Between the last gradient and the end of backward, in a typical step; else that step.
Evidence tail_evidence(const RunFacts& run);

}  // namespace shardlens::trace::advice
