#include "app/session/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <numeric>

#include "app/session/run_notes.h"

namespace shardlens::app {

using trace::RunStatus;

namespace {

bool is_older(const RunRecord& a, const RunRecord& b) { return a.info.start_ns < b.info.start_ns; }

bool is_imported(const RunRecord& record) { return !record.info.imported_from.empty(); }

bool is_measured(const RunRecord& record) {
  return record.summary.steps_measured > 0 && record.summary.step_ns.mean > 0;
}

// The same work per step: only then are step times comparable.
bool same_work(const RunRecord& a, const RunRecord& b) {
  const auto& x = a.info.settings;
  const auto& y = b.info.settings;
  return x.batch_per_rank == y.batch_per_rank && x.sequence_length == y.sequence_length &&
         x.gradient_accumulation_steps == y.gradient_accumulation_steps &&
         a.info.world_size == b.info.world_size;
}

// The same model on the same kind of device: else any difference means nothing.
bool same_job(const RunRecord& a, const RunRecord& b) {
  if (is_imported(a) || is_imported(b)) return &a == &b;
  return a.info.settings.model == b.info.settings.model && a.info.device == b.info.device;
}

// Whether two runs should take equally long: what differs does not touch the step.
bool same_settings(const RunRecord& a, const RunRecord& b) {
  auto x = a.info.settings;
  x.steps = b.info.settings.steps;
  x.epochs = b.info.settings.epochs;
  x.seed = b.info.settings.seed;
  return x == b.info.settings && a.info.device == b.info.device &&
         a.info.world_size == b.info.world_size;
}

std::string percent(double relative) {
  char text[32];
  std::snprintf(text, sizeof text, relative < 0.1 ? "%.1f" : "%.0f", relative * 100);
  return text;
}

// Half the width of the 95 % interval of a run's mean step time, from its own steps; relative.
std::optional<double> spread_within(const RunRecord& record) {
  const auto& estimate = record.step_estimate;
  if (!estimate || estimate->mean <= 0) return std::nullopt;
  return trace::student_t_95(estimate->degrees_of_freedom) * estimate->standard_error /
         estimate->mean;
}

double median_of(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::optional<Noise> noise_between_runs(const std::vector<RunRecord>& records,
                                        const std::vector<std::string>& ordinals,
                                        const RunRecord& about) {
  std::optional<Noise> noise;
  for (std::size_t a = 0; a < records.size(); ++a) {
    for (std::size_t b = a + 1; b < records.size(); ++b) {
      if (!is_measured(records[a]) || !is_measured(records[b])) continue;
      if (records[a].is_bundled || records[b].is_bundled) continue;
      if (!same_job(records[a], about) || !same_settings(records[a], records[b])) continue;
      const double x = records[a].summary.step_ns.mean, y = records[b].summary.step_ns.mean;
      const double spread = std::abs(x - y) / ((x + y) / 2);
      if (noise && noise->relative >= spread) continue;
      noise = Noise{.relative = spread,
                    .between_runs = true,
                    .note = "Spread between " + ordinals[a] + " and " + ordinals[b] +
                            ", same settings: ± " + percent(spread) + " %"};
    }
  }
  return noise;
}

std::vector<std::string> ordinals_by_age(const std::vector<RunRecord>& oldest_first) {
  std::vector<std::string> ordinals;
  int own = 0, bundled = 0;
  for (const auto& record : oldest_first) {
    ordinals.push_back(record.is_bundled ? "example " + std::to_string(++bundled)
                                         : "run " + std::to_string(++own));
  }
  return ordinals;
}

void compare_speed(ui::LedgerRow& row, const RunRecord& record, const RunRecord& baseline,
                   const Noise& noise) {
  if (!is_measured(record) || !is_measured(baseline) || !same_job(record, baseline)) return;
  const auto &own = record.summary, &other = baseline.summary;
  row.by_throughput = !same_work(record, baseline);
  if (row.by_throughput) {
    if (other.tokens_per_s <= 0 || own.tokens_per_s <= 0) return;
    row.relative_to_baseline = own.tokens_per_s / other.tokens_per_s - 1;
  } else {
    row.relative_to_baseline = own.step_ns.mean / other.step_ns.mean - 1;
  }
  const auto estimate = [&](const RunRecord& run) {
    return row.by_throughput
               ? trace::estimate_reciprocal(run.summary.tokens_per_s, run.step_estimate)
               : run.step_estimate;
  };
  // Even where runs agree by luck, their steps scatter.
  row.beyond_noise = trace::differ(estimate(record), estimate(baseline)).value_or(false) &&
                     std::abs(*row.relative_to_baseline) > noise.relative;
}

bool has_valid_loss(const RunRecord& record) {
  return !record.info.communication_off && !record.losses.empty();
}

// The last step that all runs of the baseline's job have reached; failed ones do not hold it back.
std::int64_t last_common_step(const std::vector<RunRecord>& records, const RunRecord& baseline) {
  auto last = has_valid_loss(baseline) ? baseline.losses.back().step : INT64_MAX;
  for (const auto& record : records) {
    if (!has_valid_loss(record) || !same_job(record, baseline)) continue;
    if (record.is_bundled || record.info.status == RunStatus::kFailed) continue;
    last = std::min(last, record.losses.back().step);
  }
  return last;
}

// At `step`, or at the run's own last step where that is not reached or not comparable.
void fill_loss(ui::LedgerRow& row, const RunRecord& record, std::int64_t step) {
  if (!has_valid_loss(record)) return;
  // A step that this run lacks: the one before it.
  const auto after = std::ranges::upper_bound(record.losses, step, {}, &RunRecord::Loss::step);
  if (after == record.losses.begin()) return;
  const auto& loss = *std::prev(after);
  if (std::isnan(loss.value)) return;
  row.loss_at_common_step = loss.value;
  row.common_step = loss.step;
}

ui::LedgerRow row_from(const RunRecord& record, const std::string& ordinal) {
  ui::LedgerRow row;
  row.name = record.info.name;
  row.folder = record.info.folder;
  row.ordinal = ordinal;
  row.start_ns = record.info.start_ns;
  row.status = record.info.status;
  row.reason = record.info.reason;
  row.settings = record.info.settings;
  row.ranks = record.info.world_size;
  row.is_imported = is_imported(record);
  row.summary = record.summary;
  row.peak_memory_bytes = record.peak_memory_bytes;
  row.is_bundled = record.is_bundled;
  row.simulated = is_simulated(record.info);
  return row;
}

}  // namespace

Noise estimate_noise(const std::vector<RunRecord>& records,
                     const std::vector<std::string>& ordinals, const RunRecord& about) {
  if (auto noise = noise_between_runs(records, ordinals, about)) return *noise;
  std::vector<double> spreads;
  for (const auto& record : records) {
    if (!is_measured(record) || !same_job(record, about)) continue;
    if (const auto spread = spread_within(record)) spreads.push_back(*spread);
  }
  if (spreads.empty()) return {};
  return {.relative = 0,
          .between_runs = false,
          .note = "Spread within the run only (± " + percent(median_of(std::move(spreads))) +
                  " %): run the same settings twice to learn the spread between runs"};
}

ui::Ledger build_ledger(const std::vector<RunRecord>& records, const LedgerQuestion& question) {
  std::vector<RunRecord> sorted = records;
  std::stable_sort(sorted.begin(), sorted.end(), is_older);
  const auto ordinals = ordinals_by_age(sorted);
  const auto baseline = std::find_if(sorted.begin(), sorted.end(), [&](const RunRecord& record) {
    return !question.baseline_folder.empty() && record.info.folder == question.baseline_folder;
  });
  const RunRecord* base = baseline == sorted.end() ? nullptr : &*baseline;
  const auto common = base == nullptr ? INT64_MAX : last_common_step(sorted, *base);

  if (sorted.empty()) return {};
  const auto noise = estimate_noise(sorted, ordinals, base != nullptr ? *base : sorted.back());
  ui::Ledger ledger;
  ledger.spread_note = noise.note;
  for (auto i = sorted.size(); i-- > 0;) {
    const auto& record = sorted[i];
    auto row = row_from(record, ordinals[i]);
    row.is_baseline = &record == base;
    row.is_shown = record.info.folder == question.shown_folder;
    if (base != nullptr && !row.is_baseline && !row.is_imported) {
      compare_speed(row, record, *base, noise);
      row.scaling = trace::scaling_between(record.info, record.summary, base->info, base->summary);
    }
    fill_loss(row, record, base != nullptr && same_job(record, *base) ? common : INT64_MAX);
    ledger.rows.push_back(std::move(row));
  }
  std::stable_partition(ledger.rows.begin(), ledger.rows.end(),
                        [](const ui::LedgerRow& row) { return !row.is_bundled; });
  return ledger;
}

}  // namespace shardlens::app
