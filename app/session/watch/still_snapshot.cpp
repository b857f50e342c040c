#include "app/session/watch/still_snapshot.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app/session/jobs/knob_editor.h"
#include "app/session/jobs/strategy_planner.h"
#include "app/session/runs/ledger.h"
#include "app/session/runs/library_run.h"
#include "app/session/runs/listed_runs.h"
#include "app/session/tuning/prediction_source.h"
#include "app/session/tuning/run_predictor.h"
#include "app/session/watch/run_follower.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trace/model/packed.h"
#include "ui/present/tune/knob_chart.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::Result;

namespace {

// As in the window after such a run: the last one that went well before it, else the run itself.
bool may_be_baseline(const LibraryRun& record, const LibraryRun& shown) {
  return record.info.start_ns < shown.info.start_ns &&
         record.info.status == trace::model::RunStatus::kDone && record.info.imported_from.empty();
}

// Runs of one job tell its noise, and lie on the curves behind the sliders.
bool may_be_same_job(const trace::model::RunInfo& a, const trace::model::RunInfo& b) {
  return a.imported_from.empty() && b.imported_from.empty() && a.device == b.device &&
         trace::model::packed_path(a.settings.model) == trace::model::packed_path(b.settings.model);
}

// Of no library they have no number there.
void add_compared(const StillOptions& options, std::vector<LibraryRun>& chosen) {
  for (const fs::path& run : options.compared) {
    const bool is_there = std::ranges::any_of(chosen, [&](const LibraryRun& record) {
      return trace::base::is_same_file(record.info.folder, run);
    });
    if (is_there || trace::base::is_same_file(options.run, run)) continue;
    auto record = read_library_run(run);
    if (!record) continue;
    record->is_bundled = true;
    chosen.push_back(std::move(*record));
  }
}

// Of the library's other runs those that the picture has room for, the baseline and, where it has
// room for any, all of the same job; the figures of no other are read. Runs that cannot be read are
// left out: the picture is of one run.
std::vector<LibraryRun> neighbours(const StillOptions& options, LibraryRun& shown,
                                   std::int64_t& next_number) {
  std::vector<LibraryRun> chosen;
  if (options.runs_dir.empty()) return chosen;
  bool has_baseline = false;
  auto library = listed_runs(options.runs_dir);
  next_number = library.next_number;
  for (auto& other : library.runs) {
    if (trace::base::is_same_file(other.record.info.folder, options.run)) {
      shown.number = other.record.number;
      continue;
    }
    const bool is_baseline = !has_baseline && may_be_baseline(other.record, shown);
    const bool tells = options.other_runs > 0 && may_be_same_job(other.record.info, shown.info);
    const bool is_compared = std::ranges::any_of(options.compared, [&](const fs::path& run) {
      return trace::base::is_same_file(other.record.info.folder, run);
    });
    if (chosen.size() >= options.other_runs && !is_baseline && !tells && !is_compared) continue;
    has_baseline = has_baseline || is_baseline;
    if (auto full = with_figures(std::move(other))) chosen.push_back(std::move(*full));
  }
  return chosen;
}

const LibraryRun& baseline_of(const std::vector<LibraryRun>& records, const LibraryRun& shown) {
  const LibraryRun* best = nullptr;
  for (const auto& record : records) {
    if (!may_be_baseline(record, shown)) continue;
    if (best == nullptr || record.info.start_ns > best->info.start_ns) best = &record;
  }
  return best == nullptr ? shown : *best;
}

Result<void> check_step(const trace::analysis::RunFigures& figures, const StillOptions& options) {
  if (!options.step || *options.step < 0) return {};
  if (find_step(figures.steps, *options.step) != nullptr) return {};
  const auto last = figures.steps.empty() ? -1 : figures.steps.back().index;
  return trace::base::fail(
      trace::base::ErrorKind::kUsage,
      "The run has no step " + std::to_string(*options.step) +
          (last < 0 ? "; none was recorded." : "; its last is step " + std::to_string(last) + "."));
}

// As it was recorded: a picture says the same wherever it is taken.
Machine machine_of(const trace::analysis::RunFigures& figures) {
  Machine machine;
  const auto is_on_earlier_device = [&](const auto& rank) {
    const auto first = std::ranges::find_if(
        figures.ranks, [&](const auto& other) { return other.info.is_on_device_of(rank.info); });
    return &*first != &rank;
  };
  for (const auto& rank : figures.ranks) {
    const std::int64_t bytes = rank.peak.device_total_bytes;
    if (bytes <= 0 || (figures.info.shared_gpu && is_on_earlier_device(rank))) continue;
    if (figures.info.device != "cuda") {
      machine.host_bytes = machine.host_bytes == 0 ? bytes : std::min(machine.host_bytes, bytes);
    } else {
      machine.cuda.devices.push_back(
          {.name = rank.info.device_name, .memory_bytes = static_cast<std::size_t>(bytes)});
    }
  }
  return machine;
}

void add_prediction(const LearntRun& learnt, ui::state::Snapshot& snapshot) {
  auto view = std::make_shared<ui::state::PredictionView>(
      predict_next(learnt, *snapshot.run, snapshot.knobs));
  if (learnt.predictor) {
    const auto next = asked_settings(*learnt.predictor, snapshot.knobs);
    const std::int64_t usable = usable_bytes(*snapshot.run, snapshot.knobs);
    if (snapshot.ledger) view->measured = ui::present::measured_runs(*snapshot.ledger, next);
    add_all_curves(*learnt.predictor, {next, usable}, *view);
  }
  snapshot.prediction = std::move(view);
}

// The library around the run, with what the run is compared with.
struct Surroundings {
  ui::state::Ledger ledger;
  trace::model::RunInfo baseline;
  std::string ordinal, baseline_ordinal;  // "run 4"
};

Surroundings surroundings_of(const StillOptions& options,
                             const trace::analysis::RunFigures& figures) {
  Surroundings around;
  auto shown = record_from_figures(figures);
  std::int64_t next_number = 1;
  auto records = neighbours(options, shown, next_number);
  if (!options.runs_dir.empty()) add_compared(options, records);
  // Of no library it has no number there, which the next run would get.
  shown.is_bundled = !options.runs_dir.empty() && shown.number == 0;
  records.push_back(std::move(shown));
  around.baseline = baseline_of(records, records.back()).info;
  around.ledger = build_ledger(
      records, {.baseline_folder = around.baseline.folder, .shown_folder = figures.info.folder});
  around.ledger.next_number = next_number;
  for (const auto& row : around.ledger.rows) {
    if (row.is_shown) around.ordinal = row.ordinal;
    if (row.is_baseline) around.baseline_ordinal = row.ordinal;
  }
  return around;
}

// The knobs as they are after the run, with `changes`.
Result<KnobEditor> knobs_after(const trace::model::RunInfo& run, const LearntRun& learnt,
                               const Surroundings& around,
                               const std::vector<std::string>& changes) {
  KnobEditor knobs;
  const bool own_base = around.baseline.imported_from.empty();
  const trace::job::Settings before = own_base ? around.baseline.settings : trace::job::Settings{};
  knobs.set_baseline(before, own_base ? around.baseline_ordinal : "",
                     own_base ? around.baseline.name : "");
  knobs.replace(run.imported_from.empty() ? run.settings : before);
  if (learnt.predictor && learnt.predictor->told()) {
    knobs.show_told(run.folder, &*learnt.predictor->told());
  }
  if (changes.empty()) return knobs;
  trace::job::Settings next = knobs.next();
  for (const std::string& change : changes) TRY(trace::job::set_assignment(next, change));
  knobs.replace(next);
  return knobs;
}

void plan_strategies(const trace::analysis::RunFigures& figures, const trace::job::Settings& next,
                     bool with_card, ui::state::Snapshot& snapshot) {
  StrategyPlanner planner(machine_of(figures));
  planner.estimates(next);
  planner.wait_for_models();  // a still picture has no next frame
  planner.complete(snapshot.knobs);
  if (with_card) planner.open_card();
  snapshot.plan = planner.card(next);
}

}  // namespace

Result<ui::state::Snapshot> still_snapshot(const StillOptions& options) {
  TRY_ASSIGN(const auto follower, RunFollower::open(options.run));
  TRY(follower->advance().map([](bool) {}));
  follower->select_step(options.step);
  TRY_ASSIGN(auto view, follower->view(trace::base::wall_clock_ns(), false, {}));
  follower->keep();
  TRY(check_step(view->figures, options));

  auto around = surroundings_of(options, view->figures);
  PredictionSource source;
  const LearntRun learnt = source.learn(view->figures);
  TRY_ASSIGN(const KnobEditor knobs,
             knobs_after(view->figures.info, learnt, around, options.changes));
  auto named = std::make_shared<ui::state::RunView>(*view);
  named->ordinal = around.ordinal;

  ui::state::Snapshot snapshot;
  std::vector<std::string> taken;
  for (const auto& row : around.ledger.rows) taken.push_back(row.name);
  snapshot.knobs = knobs.draft(taken);
  plan_strategies(view->figures, knobs.next(), options.plan, snapshot);
  snapshot.advice =
      std::make_shared<const ui::state::AdviceView>(advise_run(named->figures, learnt));
  snapshot.run = std::move(named);
  snapshot.ledger = std::make_shared<const ui::state::Ledger>(std::move(around.ledger));
  add_prediction(learnt, snapshot);
  snapshot.version = 1;
  return snapshot;
}

}  // namespace shardlens::app::session
