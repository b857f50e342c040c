// Everything that would help a recorded run: asks each rule, and leaves out what would contradict
// something better. Any thread; as long as some dozens of predictions take.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "trace/advice/facts/run_facts.h"
#include "trace/advice/values/advice.h"

namespace shardlens::trace::advice {

inline constexpr std::string_view kNothing = "", kAllSettings = "all";

struct Rule {
  std::string_view id;  // as in JSON, and in docs/ADVICE.md
  Topic topic = Topic::kBucketSizes;
  std::string_view looks_at;  // what it needs to be told: "buckets"
  // Of settings: the knob that another program's run has to tell, kAllSettings, or kNothing.
  std::string_view needs = kAllSettings;
  std::optional<Advice> (*speak)(const RunFacts& run) = nullptr;
};
std::span<const Rule> rules();

// Sorted by gain, then by what is at stake, then by memory that is saved. Of a topic there is one
// at most; all changes together are valid settings, give no knob two values, are obeyed, and fit in
// memory as far as that is known.
std::vector<Advice> advise(const RunFacts& run);

// What the rules looked at, each once: "buckets", "memory", …
std::vector<std::string_view> looked_at(const RunFacts& run);

}  // namespace shardlens::trace::advice
