#include "trace/advice/buckets/bucket_sizes.h"

#include <algorithm>
#include <array>

#include "trace/advice/facts/what_if.h"
#include "trace/advice/facts/words.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::array kCapsMib{0.25, 0.5,  1.0,  2.0,   4.0,   8.0,   12.0,  16.0,   25.0,
                              32.0, 50.0, 64.0, 100.0, 128.0, 256.0, 512.0, 1024.0, 2048.0};
constexpr double kBytesOfMib = 1024.0 * 1024.0;
constexpr double kMostOfIt = 0.5;

}  // namespace

bool has_buckets(const RunFacts& run) {
  return !job::strategy_traits(run.settings().sharding_strategy).has_units &&
         !run.figures.buckets.empty() && run.ranks() > 1;
}

std::int64_t all_bucket_bytes(const RunFacts& run) {
  std::int64_t sum = 0;
  for (const auto& bucket : run.figures.buckets) sum += bucket.bytes;
  return sum;
}

std::vector<std::string> possible_caps(const RunFacts& run) {
  const auto all = static_cast<double>(all_bucket_bytes(run));
  std::vector<std::string> caps;
  for (const double cap : kCapsMib) {
    caps.push_back(mib_value(cap));
    if (cap * kBytesOfMib >= all) break;
  }
  return caps;
}

Evidence tail_evidence(const RunFacts& run) {
  if (run.predictor == nullptr) return run.in_typical_step("exposed communication");
  Evidence evidence = run.in_typical_step("exposed communication at the end of backward");
  const auto step = run.predictor->predict_step(run.settings(), evidence.step);
  if (!step) return evidence;
  const auto& schedule = step->schedule;
  // Of several calls one after the other, as a rank waits for each.
  std::int64_t since_ns = schedule.backward_end_ns;
  for (auto wait = schedule.waits.rbegin(); wait != schedule.waits.rend(); ++wait) {
    if (wait->end_ns == since_ns) since_ns = wait->start_ns;
  }
  if (since_ns == schedule.backward_end_ns) return evidence;
  evidence.step = step->index;
  evidence.start_ns = since_ns;
  evidence.end_ns = schedule.backward_end_ns;
  return evidence;
}

std::vector<KnobValue> surest_of(const RunFacts& run,
                                 const std::vector<std::vector<KnobValue>>& ways) {
  struct Surest {
    double highest_ns = 0;
    std::vector<KnobValue> way;
  };
  Surest known, unsure;
  for (const auto& way : ways) {
    const WhatIf answer = what_if(run, way);
    const auto bounds = answer.bounds();
    Surest& surest = answer.is_unsure() ? unsure : known;
    if (!bounds || bounds->high_ns >= surest.highest_ns) continue;
    const auto peak = answer.prediction->peak_bytes();
    if (peak && run.usable_bytes() > 0 && *peak > run.usable_bytes()) continue;
    surest = {bounds->high_ns, way};
  }
  return known.way.empty() ? unsure.way : known.way;
}

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

bool is_tail(const RunFacts& run, const LastBucket& last) {
  return last.bucket != nullptr && last.exposed_ns >= run.noticeable_ns() &&
         last.exposed_ns >= kMostOfIt * run.figures.summary.exposed_ns;
}

Evidence last_bucket_evidence(const RunFacts& run, const LastBucket& last) {
  const std::string tag = "bucket " + std::to_string(last.bucket->index);
  return run.longest_call([&](std::string_view other) { return other == tag; },
                          tag + " (" + size_words(last.bucket->bytes) + ")");
}

}  // namespace shardlens::trace::advice
