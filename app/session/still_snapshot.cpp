#include "app/session/still_snapshot.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/session/knob_editor.h"
#include "app/session/ledger.h"
#include "app/session/run_feed.h"
#include "app/session/run_record.h"
#include "app/session/step_choice.h"
#include "app/session/strategy_planner.h"
#include "app/session/wall_time.h"
#include "trace/store/run_folder.h"

namespace shardlens::app {

namespace fs = std::filesystem;
using trace::Result;

namespace {

// More rows than any picture has room for.
constexpr std::size_t kMostRuns = 40;

bool same_place(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::equivalent(a, b, error) && !error;
}

// Other runs that cannot be read are left out: the picture is of one run.
std::vector<RunRecord> neighbours(const StillOptions& options) {
  std::vector<RunRecord> records;
  std::error_code error;
  if (options.runs_dir.empty() || !fs::is_directory(options.runs_dir, error)) return records;
  for (const auto& info : trace::list_runs(options.runs_dir).runs) {
    if (records.size() >= kMostRuns) break;
    if (same_place(info.folder, options.run)) continue;
    if (auto record = read_run_record(info.folder)) records.push_back(std::move(*record));
  }
  return records;
}

// As in the window after such a run: the last one that went well before it, else the run itself.
const RunRecord& baseline_of(const std::vector<RunRecord>& records, const RunRecord& shown) {
  const RunRecord* best = nullptr;
  for (const auto& record : records) {
    const bool before = record.info.start_ns < shown.info.start_ns;
    if (!before || record.info.status != trace::RunStatus::kDone) continue;
    if (!record.info.imported_from.empty()) continue;
    if (best == nullptr || record.info.start_ns > best->info.start_ns) best = &record;
  }
  return best == nullptr ? shown : *best;
}

Result<void> check_step(const trace::RunFigures& figures, const StillOptions& options) {
  if (!options.step || *options.step < 0) return {};
  if (find_step(figures.steps, *options.step) != nullptr) return {};
  const auto last = figures.steps.empty() ? -1 : figures.steps.back().index;
  return trace::fail(
      trace::ErrorKind::kUsage,
      "The run has no step " + std::to_string(*options.step) +
          (last < 0 ? "; none was recorded." : "; its last is step " + std::to_string(last) + "."));
}

}  // namespace

Result<ui::Snapshot> still_snapshot(const StillOptions& options) {
  TRY_ASSIGN(const auto feed, RunFeed::open(options.run));
  TRY(feed->advance().map([](bool) {}));
  feed->select_step(options.step);
  TRY_ASSIGN(auto view, feed->view(wall_now_ns(), false, ""));
  TRY(check_step(view->figures, options));

  auto records = neighbours(options);
  records.push_back(record_from_figures(view->figures));
  const auto base = baseline_of(records, records.back()).info;
  auto ledger = build_ledger(
      records, {.baseline_folder = base.folder, .shown_folder = view->figures.info.folder});
  auto named = std::make_shared<ui::RunView>(*view);
  std::string base_ordinal;
  for (const auto& row : ledger.rows) {
    if (row.is_shown) named->ordinal = row.ordinal;
    if (row.is_baseline) base_ordinal = row.ordinal;
  }

  ui::Snapshot snapshot;
  KnobEditor knobs;
  const bool own_base = base.imported_from.empty();
  const bool own_run = view->figures.info.imported_from.empty();
  const trace::Settings before = own_base ? base.settings : trace::Settings{};
  knobs.replace(own_run ? view->figures.info.settings : before);
  knobs.set_baseline(before, own_base ? base_ordinal : "", own_base ? base.name : "");
  std::vector<std::string> taken;
  for (const auto& row : ledger.rows) taken.push_back(row.name);
  snapshot.knobs = knobs.draft(taken);
  // Of no machine: a picture says the same wherever it is taken.
  StrategyPlanner planner;
  planner.estimates(knobs.next());
  planner.wait_for_models();  // a still picture has no next frame
  planner.complete(snapshot.knobs);
  if (options.plan) planner.open_card();
  snapshot.plan = planner.card(knobs.next());
  snapshot.run = std::move(named);
  snapshot.ledger = std::make_shared<const ui::Ledger>(std::move(ledger));
  snapshot.version = 1;
  return snapshot;
}

}  // namespace shardlens::app
