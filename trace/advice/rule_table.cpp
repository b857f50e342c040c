// All rules. To add one: a function beside those of its subject, a row here, a row in
// docs/ADVICE.md, and a test where it speaks and one where it is silent.
#include <array>

#include "trace/advice/advisor.h"
#include "trace/advice/buckets/bucket_rules.h"
#include "trace/advice/ranks/rank_rules.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::array kRules{
    Rule{"bucket_cap", Topic::kBucketSizes, "buckets", true, bucket_cap},
    Rule{"first_bucket", Topic::kBucketSizes, "buckets", true, first_bucket},
    Rule{"last_bucket", Topic::kBucketSizes, "buckets", true, last_bucket},
    Rule{"big_tensor", Topic::kBucketSizes, "buckets", true, big_tensor},
    Rule{"bucket_views", Topic::kBucketMemory, "memory", true, bucket_views},
    Rule{"compression", Topic::kCompression, "communication", true, compression},
    Rule{"unused_parameters", Topic::kUnusedParameters, "unused parameters", true,
         unused_parameters},
    Rule{"static_graph", Topic::kUnusedParameters, "unused parameters", true, static_graph},
    Rule{"accumulation", Topic::kAccumulation, "accumulation", true, accumulation},
    Rule{"straggler", Topic::kStraggler, "who waits for whom", false, straggler},
    Rule{"late_data", Topic::kData, "data", false, late_data},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

}  // namespace shardlens::trace::advice
