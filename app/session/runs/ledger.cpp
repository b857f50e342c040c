#include "app/session/runs/ledger.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <utility>

#include "app/session/runs/run_banners.h"
#include "trace/analysis/run/comparison.h"

namespace shardlens::app::session {

using trace::analysis::RunSummary;
using trace::model::RunStatus;
using ui::state::LedgerRow;

namespace {

bool is_older(const LibraryRun& a, const LibraryRun& b) {
  return a.info.start_ns < b.info.start_ns;
}

bool is_imported(const LibraryRun& record) { return !record.info.imported_from.empty(); }

bool is_measured(const LibraryRun& record) {
  return record.summary.steps_measured > 0 && record.summary.step_ns.mean > 0;
}

// One job on one machine: else any difference means nothing.
std::vector<trace::analysis::OtherJob> why_other_job(const LibraryRun& a, const LibraryRun& b) {
  return trace::analysis::why_other_job(noise_run(a).job, noise_run(b).job);
}
bool same_job(const LibraryRun& a, const LibraryRun& b) { return why_other_job(a, b).empty(); }

// Recorded where `about` was, and over: the mean of one that goes on is not what it will be. The
// runs that came with the program tell of each other.
bool tells_noise(const LibraryRun& record, const LibraryRun& about) {
  return record.is_bundled == about.is_bundled && record.info.status != RunStatus::kRunning;
}

// Of the job of `about`. What is judged counts, too, whatever it is: as in `compare`.
trace::analysis::NoiseModel noise_model(const std::vector<LibraryRun>& records,
                                        const LibraryRun& about,
                                        std::initializer_list<const LibraryRun*> judged) {
  std::vector<trace::analysis::NoiseRun> runs;
  for (const auto& record : records) {
    if (tells_noise(record, about) || std::ranges::find(judged, &record) != judged.end())
      runs.push_back(noise_run(record));
  }
  return {noise_run(about), runs};
}

std::vector<std::string> ordinals_by_age(const std::vector<LibraryRun>& oldest_first) {
  std::vector<std::string> ordinals;
  std::int64_t own = 0, bundled = 0;
  for (const auto& record : oldest_first) {
    if (record.is_bundled) {
      ordinals.push_back("example " + std::to_string(++bundled));
    } else {
      // Outside a library, by age.
      ++own;
      ordinals.push_back("run " + std::to_string(record.number > 0 ? record.number : own));
    }
  }
  return ordinals;
}

void compare_speed(LedgerRow& row, const LibraryRun& record, const LibraryRun& baseline,
                   const trace::analysis::NoiseModel& model) {
  if (!is_measured(record) || !is_measured(baseline) || !same_job(record, baseline)) return;
  const auto &own = record.summary, &other = baseline.summary;
  row.per_token = !trace::analysis::has_same_work(record.info, baseline.info);
  double own_factor = 1, other_factor = 1;
  if (row.per_token) {
    if (!(other.tokens_per_s > 0) || !(own.tokens_per_s > 0)) return;
    row.relative_to_baseline = *other.tokens_per_s / *own.tokens_per_s - 1;
    own_factor = 1 / (*own.tokens_per_s * own.step_ns.mean);
    other_factor = 1 / (*other.tokens_per_s * other.step_ns.mean);
  } else {
    row.relative_to_baseline = own.step_ns.mean / other.step_ns.mean - 1;
  }
  const auto record_run = noise_run(record), baseline_run = noise_run(baseline);
  const auto judgement = model.judge(trace::analysis::kStepTime, {&baseline_run, other_factor},
                                     {&record_run, own_factor});
  if (judgement) row.beyond_noise = judgement->beyond_noise();
}

bool has_valid_loss(const LibraryRun& record) {
  return !record.info.communication_off && !record.losses.empty();
}

// The last step that all runs of the baseline's job have reached; failed ones do not hold it back.
std::int64_t last_common_step(const std::vector<LibraryRun>& records, const LibraryRun& baseline) {
  auto last = has_valid_loss(baseline) ? baseline.losses.back().step : INT64_MAX;
  for (const auto& record : records) {
    if (!has_valid_loss(record) || !same_job(record, baseline)) continue;
    if (record.is_bundled || record.info.status == RunStatus::kFailed) continue;
    last = std::min(last, record.losses.back().step);
  }
  return last;
}

// At `step`, or at the run's own last step where that is not reached or not comparable.
void fill_loss(LedgerRow& row, const LibraryRun& record, std::int64_t step) {
  if (!has_valid_loss(record)) return;
  // A step that this run lacks: the one before it.
  const auto after = std::ranges::upper_bound(record.losses, step, {}, &LibraryRun::Loss::step);
  if (after == record.losses.begin()) return;
  const auto& loss = *std::prev(after);
  if (std::isnan(loss.value)) return;
  row.loss_at_common_step = loss.value;
  row.common_step = loss.step;
}

LedgerRow row_from(const LibraryRun& record, const std::string& ordinal) {
  LedgerRow row;
  row.name = record.info.name;
  row.folder = record.info.folder;
  row.ordinal = ordinal;
  row.start_ns = record.info.start_ns;
  row.status = record.info.status;
  row.reason = record.info.reason;
  row.settings = record.info.settings;
  row.note = record.info.note;
  row.predicted = record.info.predicted;
  row.tags = record.info.tags;
  row.ranks = record.info.world_size;
  row.nodes = 1 + std::ranges::count(record.hosts, ',');
  row.on_gpu = record.info.device == "cuda";
  row.is_imported = is_imported(record);
  row.summary = record.summary;
  row.peak_memory_bytes = record.peak_memory_bytes;
  row.is_bundled = record.is_bundled;
  row.simulated = is_simulated(record.info);
  return row;
}

// Its difference to the baseline is of the same mean.
void take_summary(const RunSummary& now, LedgerRow& row) {
  const RunSummary before = std::exchange(row.summary, now);
  if (!row.relative_to_baseline) return;
  const bool has_rates = before.tokens_per_s > 0 && now.tokens_per_s > 0;
  double times = 1;
  if (row.per_token && has_rates) {
    times = *before.tokens_per_s / *now.tokens_per_s;
  } else if (!row.per_token && before.step_ns.mean > 0) {
    times = now.step_ns.mean / before.step_ns.mean;
  }
  row.relative_to_baseline = (1 + *row.relative_to_baseline) * times - 1;
}

}  // namespace

ui::state::Ledger build_ledger(const std::vector<LibraryRun>& records,
                               const LedgerQuestion& question) {
  std::vector<LibraryRun> sorted = records;
  std::stable_sort(sorted.begin(), sorted.end(), is_older);
  const auto ordinals = ordinals_by_age(sorted);
  const auto baseline = std::find_if(sorted.begin(), sorted.end(), [&](const LibraryRun& record) {
    return !question.baseline_folder.empty() && record.info.folder == question.baseline_folder;
  });
  const LibraryRun* base = baseline == sorted.end() ? nullptr : &*baseline;
  const auto common = base == nullptr ? INT64_MAX : last_common_step(sorted, *base);

  if (sorted.empty()) return {};
  const LibraryRun& about = base != nullptr ? *base : sorted.back();
  const auto model = noise_model(sorted, about, {&about});
  ui::state::Ledger ledger;
  ledger.spread_note = model.note();
  ledger.apart = model.apart();
  for (auto i = sorted.size(); i-- > 0;) {
    const auto& record = sorted[i];
    auto row = row_from(record, ordinals[i]);
    row.is_baseline = &record == base;
    row.is_shown = record.info.folder == question.shown_folder;
    if (base != nullptr)
      row.not_compared = trace::analysis::other_job_label(why_other_job(record, *base));
    if (base != nullptr && !row.is_baseline) {
      if (row.not_compared.empty() && tells_noise(record, *base)) {
        compare_speed(row, record, *base, model);
      } else if (row.not_compared.empty()) {
        compare_speed(row, record, *base, noise_model(sorted, *base, {base, &record}));
      }
      row.scaling = trace::analysis::scaling_between(noise_run(record).job, record.summary,
                                                     noise_run(*base).job, base->summary);
    }
    fill_loss(row, record, base != nullptr && same_job(record, *base) ? common : INT64_MAX);
    ledger.rows.push_back(std::move(row));
  }
  std::stable_partition(ledger.rows.begin(), ledger.rows.end(),
                        [](const LedgerRow& row) { return !row.is_bundled; });
  return ledger;
}

const LedgerRow* row_of(LedgerRows rows, const std::string& folder) {
  const auto found = std::ranges::find(rows, folder, &LedgerRow::folder);
  return found == rows.end() ? nullptr : &*found;
}

const LedgerRow* clearest_example(LedgerRows rows) {
  const LedgerRow* clearest = nullptr;
  for (const LedgerRow& row : rows) {
    const auto& hidden = row.summary.overlap_fraction;
    if (!row.is_bundled || trace::job::injects_faults(row.settings) || !hidden) continue;
    if (clearest == nullptr || *hidden > *clearest->summary.overlap_fraction) clearest = &row;
  }
  return clearest;
}

const LedgerRow* first_to_show(LedgerRows rows) {
  const auto own = std::ranges::find_if(
      rows, [](const LedgerRow& row) { return !row.is_bundled && !row.is_imported; });
  if (own != rows.end()) return &*own;
  const auto* first = rows.empty() ? nullptr : &rows.front();
  if (first == nullptr || !first->is_bundled) return first;
  // Not the newest example, which may be of a job that somebody disturbed on purpose.
  const auto* clearest = clearest_example(rows);
  return clearest != nullptr ? clearest : first;
}

LiveLedger::Ledger LiveLedger::with_live(const Ledger& library,
                                         const std::shared_ptr<const ui::state::RunView>& shown) {
  if (library == library_ && shown == shown_) return now_;
  library_ = now_ = library;
  shown_ = shown;
  if (!library || !shown || !shown->is_live) return now_;
  const auto& figures = shown->figures;
  const auto found = std::ranges::find(library->rows, figures.info.folder, &LedgerRow::folder);
  const bool is_recorded =
      found != library->rows.end() && found->status == RunStatus::kRunning && !found->is_being_read;
  const auto steps = figures.summary.steps_measured;
  if (!is_recorded || found->summary.steps_measured == steps) return now_;
  auto ledger = std::make_shared<ui::state::Ledger>(*library);
  take_summary(figures.summary,
               ledger->rows[static_cast<std::size_t>(found - library->rows.begin())]);
  return now_ = std::move(ledger);
}

}  // namespace shardlens::app::session
