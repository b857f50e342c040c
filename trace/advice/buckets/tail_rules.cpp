#include <algorithm>

#include "trace/advice/buckets/bucket_sizes.h"
#include "trace/advice/rules.h"
#include "trace/analysis/collectives/plan_figures.h"
#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

namespace {

constexpr double kMostOfIt = 0.5;

struct LastBucket {
  const analysis::BucketFigures* bucket = nullptr;  // null: there is none
  double exposed_ns = 0;                            // of a step, the mean over ranks
  std::size_t largest = 0;                          // place of its largest tensor

  std::int64_t largest_bytes() const { return bucket->parameter_bytes[largest]; }
};

LastBucket last_bucket_of(const RunFacts& run) {
  LastBucket last;
  if (!has_buckets(run)) return last;
  const auto& bucket = run.figures.buckets.back();
  if (bucket.parameter_bytes.empty()) return last;
  last.bucket = &bucket;
  const std::string tag = "bucket " + std::to_string(bucket.index);
  for (const auto& row : run.figures.collectives) {
    if (row.tag == tag) last.exposed_ns += row.exposed_ns;
  }
  const auto largest = std::ranges::max_element(bucket.parameter_bytes);
  last.largest = static_cast<std::size_t>(largest - bucket.parameter_bytes.begin());
  return last;
}

// Half of what is exposed, and noticeable.
bool is_tail(const RunFacts& run, const LastBucket& last) {
  return last.bucket != nullptr && last.exposed_ns >= run.noticeable_ns() &&
         last.exposed_ns >= kMostOfIt * run.figures.summary.exposed_ns;
}

// Its reduction in the sampled step in which it took longest.
Evidence last_bucket_evidence(const RunFacts& run, const LastBucket& last) {
  const std::string tag = "bucket " + std::to_string(last.bucket->index);
  return run.longest_call([&](std::string_view other) { return other == tag; },
                          tag + " (" + base::bytes_text(last.bucket->bytes) + ")");
}

// No cap shortens a bucket that one tensor fills.
bool is_one_tensor(const RunFacts& run, const LastBucket& last) {
  const double cap = analysis::bucket_cap_bytes(run.settings(), last.bucket->index);
  const auto largest = static_cast<double>(last.largest_bytes());
  return largest > cap && 2 * largest >= static_cast<double>(last.bucket->bytes);
}

std::string name_of_largest(const LastBucket& last) {
  return last.largest < last.bucket->parameters.size() ? last.bucket->parameters[last.largest]
                                                       : "its largest tensor";
}

Advice tail(const RunFacts& run, const LastBucket& last) {
  Advice advice;
  advice.measured = time_words(last.exposed_ns) + " of " +
                    time_words(run.figures.summary.exposed_ns) + " exposed: bucket " +
                    std::to_string(last.bucket->index);
  advice.evidence = {last_bucket_evidence(run, last)};
  advice.at_stake_ns = last.exposed_ns;
  return advice;
}

// The largest that halves it.
std::string halving_cap(const RunFacts& run, const LastBucket& last) {
  std::string halving;
  for (const std::string& cap : possible_caps(run)) {
    const double bytes = std::strtod(cap.c_str(), nullptr) * kMibBytes;
    if (2 * bytes > static_cast<double>(last.bucket->bytes)) break;
    halving = cap;
  }
  return halving;
}

}  // namespace

std::optional<Advice> last_bucket(const RunFacts& run) {
  const LastBucket last = last_bucket_of(run);
  if (!is_tail(run, last) || is_one_tensor(run, last)) return {};
  const std::string cap = halving_cap(run, last);
  if (cap.empty() || last.bucket->parameter_bytes.size() < 2) return {};
  Advice advice = tail(run, last);
  advice.title = "Make the last bucket smaller: bucket cap " + cap + " MiB";
  advice.changes = {{"bucket_cap_mb", cap}};
  // The only bucket is the first one, which may have been given a cap of its own.
  if (last.bucket->index == 0 &&
      run.settings().first_bucket_mb != static_cast<double>(job::kAuto)) {
    advice.changes.push_back({"first_bucket_mb", "auto"});
  }
  advice.why = "The last bucket, " + base::bytes_text(last.bucket->bytes) + " of " +
               base::counted(last.bucket->parameter_bytes.size(), "tensor") +
               ", is reduced when nothing is left to compute: what is smaller ends sooner.";
  advice.costs = "More buckets, each with its own latency.";
  return advice;
}

std::optional<Advice> big_tensor(const RunFacts& run) {
  const LastBucket last = last_bucket_of(run);
  if (!is_tail(run, last) || !is_one_tensor(run, last)) return {};
  Advice advice = tail(run, last);
  const std::string name = name_of_largest(last);
  advice.title = "Untie, freeze or shard " + name;
  advice.why = name + " (" + base::bytes_text(last.largest_bytes()) +
               ") is ready last and never split: no cap can hide it.";
  advice.gain_unknown = "No knob does this.";
  return advice;
}

}  // namespace shardlens::trace::advice
