#include "trace/advice/buckets/bucket_sizes.h"
#include "trace/advice/facts/run_facts.h"
#include "trace/advice/facts/what_if.h"
#include "trace/advice/rules.h"
#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::advice {

namespace {

// "11 buckets are reduced, and 12.3 ms of that are exposed. With 5 it would be 4.1 ms."
std::string cap_reason(const RunFacts& run, const WhatIf& answer) {
  const auto& now = run.figures;
  std::string why = "A step reduces " + base::counted(now.buckets.size(), "bucket") + ", and " +
                    time_words(now.summary.exposed_ns) + " of communication are exposed.";
  if (answer.prediction) {
    why += " It would be " + base::counted(answer.prediction->parts, "bucket");
    if (answer.prediction->exposed_ns) {
      why += " and " + time_words(*answer.prediction->exposed_ns) + " exposed";
    }
    why += ".";
  }
  return why;
}

Advice sized(const RunFacts& run, std::vector<KnobValue> changes, std::string title) {
  Advice advice;
  advice.changes = std::move(changes);
  const WhatIf answer = what_if(run, advice.changes);
  advice.title = std::move(title);
  advice.measured = time_words(run.figures.summary.exposed_ns) + " exposed";
  advice.why = cap_reason(run, answer);
  advice.evidence = {tail_evidence(run)};
  advice.at_stake_ns = run.figures.summary.exposed_ns;
  if (answer.prediction && answer.prediction->peak_bytes()) {
    const std::int64_t more =
        *answer.prediction->peak_bytes() - *answer.prediction->recorded_peak_bytes();
    advice.saved_bytes = -more;
    if (more > 0) advice.costs = memory_words(more) + ".";
  }
  return advice;
}

// Half of what a bucket's reduction takes is not for its bytes: twice as large ones halve that.
constexpr double kMostlyLatency = 0.5;

// So large that latency is half of that; but two buckets stay, of which one can be hidden.
std::string cap_against_latency(const RunFacts& run, const LatencyFit& fit) {
  const double wanted = fit.bytes_with_latency_share(kMostlyLatency / 2);
  const double most = static_cast<double>(all_bucket_bytes(run)) / 2;
  std::string chosen;
  for (const std::string& cap : possible_caps(run)) {
    const double mib = std::strtod(cap.c_str(), nullptr);
    if (mib * kMibBytes > most) break;
    if (mib > run.settings().bucket_cap_mb) chosen = cap;
    if (mib * kMibBytes >= wanted && !chosen.empty()) break;
  }
  return chosen;
}

// Without a prediction: reductions of two sizes tell what one takes whatever its size.
std::optional<Advice> too_small_by_latency(const RunFacts& run) {
  const auto fit = fit_latency(run, [](const auto& row) { return row.tag.starts_with("bucket "); });
  const auto count = static_cast<std::int64_t>(run.figures.buckets.size());
  if (!fit || count < 2 || run.figures.summary.exposed_ns < run.noticeable_ns()) return {};
  const std::int64_t mean_bytes = all_bucket_bytes(run) / count;
  const double share = fit->latency_ns / fit->of(static_cast<double>(mean_bytes));
  const double lost_ns = fit->latency_ns * static_cast<double>(count - 1);
  const std::string cap = cap_against_latency(run, *fit);
  if (share < kMostlyLatency || lost_ns < run.noticeable_ns() || cap.empty()) return {};
  Advice advice = sized(run, {{"bucket_cap_mb", cap}}, "Raise the bucket cap to " + cap + " MiB");
  advice.measured = percent_words(share) + " of a reduction is latency";
  advice.why = "Reducing a bucket takes " + time_words(fit->latency_ns) +
               " whatever its size, and " + base::counted(count, "bucket") + " of " +
               base::bytes_text(mean_bytes) + " on average are reduced.";
  return advice;
}

// A first bucket that was given a cap of its own keeps it, or follows again; where only that would
// change, first_bucket speaks.
std::vector<std::vector<KnobValue>> cap_ways(const RunFacts& run) {
  std::vector<std::vector<KnobValue>> ways;
  const bool has_own = run.settings().first_bucket_mb != static_cast<double>(job::kAuto);
  for (const std::string& cap : possible_caps(run)) {
    ways.push_back({{"bucket_cap_mb", cap}});
    const bool is_new = std::strtod(cap.c_str(), nullptr) != run.settings().bucket_cap_mb;
    if (has_own && is_new) ways.push_back({{"bucket_cap_mb", cap}, {"first_bucket_mb", "auto"}});
  }
  return ways;
}

std::string new_cap_title(std::string_view what, double before, const std::string& after) {
  const bool lower = std::strtod(after.c_str(), nullptr) < before;
  return std::string(lower ? "Lower " : "Raise ") + std::string(what) + " to " + after + " MiB";
}

// Of several ways to change the settings the one whose predicted gain is the surest and that fits
// in memory as far as that is known; empty without a prediction, or where none is faster beyond
// chance. Where too few steps tell what is chance, none is faster by more than else is unsure.
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

}  // namespace

std::optional<Advice> bucket_cap(const RunFacts& run) {
  if (!has_buckets(run)) return {};
  if (run.predictor == nullptr) return too_small_by_latency(run);
  const auto changes = surest_of(run, cap_ways(run));
  if (changes.empty()) return {};
  return sized(run, changes,
               new_cap_title("the bucket cap", run.settings().bucket_cap_mb, changes[0].value));
}

std::optional<Advice> first_bucket(const RunFacts& run) {
  if (!has_buckets(run)) return {};
  std::vector<std::vector<KnobValue>> ways;
  for (const std::string& cap : possible_caps(run)) ways.push_back({{"first_bucket_mb", cap}});
  const auto changes = surest_of(run, ways);
  if (changes.empty()) return {};
  const auto& settings = run.settings();
  const double now = model::first_bucket_mb(settings.first_bucket_mb, settings.bucket_cap_mb);
  return sized(run, changes, new_cap_title("the first bucket's cap", now, changes[0].value));
}

}  // namespace shardlens::trace::advice
