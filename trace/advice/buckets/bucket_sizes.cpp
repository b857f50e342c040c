#include "trace/advice/buckets/bucket_sizes.h"

#include <array>

#include "trace/base/median.h"
#include "trace/base/words/quantity.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::advice {

namespace {

constexpr std::array kCapsMib{0.25, 0.5,  1.0,  2.0,   4.0,   8.0,   12.0,  16.0,   25.0,
                              32.0, 50.0, 64.0, 100.0, 128.0, 256.0, 512.0, 1024.0, 2048.0};

}  // namespace

bool has_buckets(const RunFacts& run) {
  return !job::strategy_traits(run.settings().sharding_strategy).has_units &&
         !run.figures.buckets.empty() && run.ranks() > 1;
}

std::int64_t all_bucket_bytes(const RunFacts& run) {
  return base::sum_of(run.figures.buckets, &analysis::BucketFigures::bytes);
}

std::vector<std::string> possible_caps(const RunFacts& run) {
  const auto all = static_cast<double>(all_bucket_bytes(run));
  std::vector<std::string> caps;
  for (const double cap : kCapsMib) {
    caps.push_back(base::format_plain(cap));
    if (cap * kMibBytes >= all) break;
  }
  return caps;
}

Evidence tail_evidence(const RunFacts& run) {
  if (run.predictor == nullptr) return run.in_typical_step("exposed communication");
  Evidence evidence = run.in_typical_step("exposed communication at the end of backward");
  const tuning::PredictedStep step = run.predictor->recorded_step(evidence.step);
  const auto& schedule = step.schedule;
  // Of several calls one after the other, as a rank waits for each.
  std::int64_t since_ns = schedule.backward_end_ns;
  for (auto wait = schedule.waits.rbegin(); wait != schedule.waits.rend(); ++wait) {
    if (wait->end_ns == since_ns) since_ns = wait->start_ns;
  }
  if (since_ns == schedule.backward_end_ns) return evidence;
  evidence.step = step.index;
  evidence.start_ns = since_ns;
  evidence.end_ns = schedule.backward_end_ns;
  return evidence;
}

}  // namespace shardlens::trace::advice
