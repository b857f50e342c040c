#include "app/session/watch/live_ledger.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace shardlens::app::session {

using trace::analysis::RunSummary;
using ui::state::LedgerRow;

namespace {

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

LiveLedger::Ledger LiveLedger::with_live(const Ledger& library,
                                         const std::shared_ptr<const ui::state::RunView>& shown) {
  if (library == library_ && shown == shown_) return now_;
  library_ = now_ = library;
  shown_ = shown;
  if (!library || !shown || !shown->is_live) return now_;
  const auto& figures = shown->figures;
  const auto found = std::ranges::find(library->rows, figures.info.folder, &LedgerRow::folder);
  const bool is_recorded = found != library->rows.end() &&
                           found->status == trace::model::RunStatus::kRunning &&
                           !found->is_being_read;
  const auto steps = figures.summary.steps_measured;
  if (!is_recorded || found->summary.steps_measured == steps) return now_;
  auto ledger = std::make_shared<ui::state::Ledger>(*library);
  take_summary(figures.summary,
               ledger->rows[static_cast<std::size_t>(found - library->rows.begin())]);
  return now_ = std::move(ledger);
}

}  // namespace shardlens::app::session
