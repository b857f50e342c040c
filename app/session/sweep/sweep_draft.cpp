#include "app/session/sweep/sweep_draft.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>
#include <vector>

#include "app/search/search.h"
#include "app/search/space.h"
#include "app/session/runs/library_run.h"
#include "app/sweep/sweep_file.h"
#include "trace/base/text.h"
#include "trace/tuning/predictable.h"
#include "ui/present/tune/knob_rows.h"

namespace shardlens::app::session {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::Result;
using trace::job::Settings;
using ui::state::SweepCard;
using ui::state::SweepDraft;

namespace {

// The newest run of that job, however its other knobs stood.
const ui::state::LedgerRow* run_like(const Settings& settings, LedgerRows rows) {
  const auto is_like = [&](const ui::state::LedgerRow& row) {
    const Settings& other = row.settings;
    return row.status == trace::model::RunStatus::kDone && !row.is_imported &&
           other.model == settings.model && other.ranks == settings.ranks &&
           other.batch_per_rank == settings.batch_per_rank &&
           other.sequence_length == settings.sequence_length &&
           other.gradient_accumulation_steps == settings.gradient_accumulation_steps &&
           other.device == settings.device && !row.is_bundled;
  };
  const auto found = std::ranges::find_if(rows, is_like);
  return found == rows.end() ? nullptr : &*found;
}

// How long a run of these settings would take, by what the run `like` took to begin and for each
// step.
std::optional<double> expected_seconds(const fs::path& like, const Settings& settings) {
  if (like.empty() || settings.epochs > 0) return std::nullopt;
  const auto record = read_library_run(like);
  if (!record || record->summary.steps_executed < 1) return std::nullopt;
  const double whole = static_cast<double>(record->info.end_ns - record->info.start_ns) / 1e9;
  const double step = record->summary.step_ns.mean / 1e9;
  const double begin =
      std::max(0.0, whole - step * static_cast<double>(record->summary.steps_executed));
  return begin + step * static_cast<double>(settings.steps);
}

Result<void> check_sweep_name_of_card(const SweepCard& card, const sweep::SweepPoints& points,
                                      const fs::path& runs_dir) {
  TRY(sweep::check_sweep_name(card.name));
  if (!sweep::has_sweep(runs_dir, card.name)) return {};
  TRY_ASSIGN(const auto there, sweep::read_sweep(runs_dir, card.name));
  const auto difference = sweep::difference_text(there.plan.points, points);
  if (difference.empty()) return {};
  return trace::base::fail(ErrorKind::kUsage, "A sweep named “" + card.name +
                                                  "” runs something else (" + difference +
                                                  "): choose another name");
}

void count_runs(const SweepQuestion& question, SweepCard& card) {
  if (question.draft.search) return;
  card.runs = card.points * static_cast<std::size_t>(card.draft.repeats);
  if (const auto each = expected_seconds(question.like, question.settings)) {
    card.seconds = *each * static_cast<double>(card.runs);
    card.expected_from = question.like_ordinal;
  }
}

sweep::Goal goal_of(const ui::state::SearchDraft& search) {
  return trace::base::enum_from_text(search.goal, sweep::kGoals.back())
      .value_or(sweep::Goal::kStepTime);
}

std::vector<std::string> axis_texts(const SweepDraft& draft) {
  std::vector<std::string> axes;
  for (const auto& axis : draft.axes) axes.push_back(axis.knob + "=" + axis.values);
  return axes;
}

std::string free_name(const SweepDraft& draft, const sweep::SweepPoints& points,
                      const fs::path& runs_dir) {
  const auto wanted = draft.search ? search::default_name(goal_of(*draft.search), axis_texts(draft))
                                   : sweep::default_name(points);
  return sweep::free_name(wanted, points, runs_dir);
}

void check_points_of_card(sweep::SweepPoints points, const fs::path& runs_dir, SweepCard& card) {
  auto jobs = sweep::jobs_of(points);
  // What a search leaves out is no refusal, but for where it starts.
  if (card.draft.search) card.doubles = sweep::leave_out_refused(points, jobs, 1);
  card.points = points.settings.size();
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!jobs[i]) {
      card.refused.push_back({sweep::point_text(points, i), jobs[i].error().message});
    }
  }
  if (!card.refused.empty()) return;
  std::ranges::move(sweep::leave_out_doubles(points, jobs), std::back_inserter(card.doubles));
  card.points = points.settings.size();
  if (card.points < 2) {
    card.problem = "It needs two points at least that do different things: give more values";
    return;
  }
  if (card.name.empty()) card.name = free_name(card.draft, points, runs_dir);
  if (const auto named = check_sweep_name_of_card(card, points, runs_dir); !named) {
    card.problem = named.error().message;
  }
}

}  // namespace

Result<sweep::SweepPoints> points_of(const SweepQuestion& question) {
  for (const auto& axis : question.draft.axes) {
    if (trace::base::trimmed(axis.values).empty()) {
      return trace::base::fail(ErrorKind::kUsage, axis.knob + ": give values, as in 1, 4, 25");
    }
  }
  const auto axes = axis_texts(question.draft);
  if (const auto& search = question.draft.search) {
    return axes.empty() ? search::default_points(question.settings, goal_of(*search))
                        : search::search_points(question.settings, axes);
  }
  if (axes.empty()) return trace::base::fail(ErrorKind::kUsage, "Choose a setting to vary");
  return sweep::grid_of(question.settings, axes);
}

SweepCard checked_card(const SweepQuestion& question, const fs::path& runs_dir) {
  SweepCard card{.draft = question.draft, .is_checked = true, .name = question.draft.name};
  auto points = points_of(question);
  if (!points) {
    card.problem = points.error().message;
    return card;
  }
  check_points_of_card(std::move(*points), runs_dir, card);
  count_runs(question, card);
  return card;
}

SweepDraft proposed_sweep(const ui::state::KnobDraft& knobs, const std::string& knob) {
  std::string name = knob;
  if (name.empty()) {
    const auto changed = trace::job::differing_knobs(knobs.baseline, knobs.next);
    const auto worth_it = std::ranges::find_if(changed, [&](const trace::job::Knob* each) {
      return !trace::tuning::is_without_effect(*each) &&
             !ui::present::proposed_values(*each, knobs.next).empty();
    });
    if (worth_it != changed.end()) name = std::string((*worth_it)->name);
  }
  if (name.empty()) {
    const auto* cap = trace::job::find_knob("bucket_cap_mb");
    name = trace::job::applies(*cap, knobs.next.sharding_strategy) ? "bucket_cap_mb"
                                                                   : "batch_per_rank";
  }
  SweepDraft draft;
  if (const auto* found = trace::job::find_knob(name)) {
    draft.axes.push_back(
        {std::string(found->name), ui::present::proposed_values(*found, knobs.next)});
  }
  return draft;
}

SweepDrafting::SweepDrafting(fs::path runs_dir, std::function<void()> on_change)
    : runs_dir_(std::move(runs_dir)),
      checking_([this, on_change = std::move(on_change)](const SweepQuestion& asked,
                                                         const auto& is_wanted) {
        auto card = std::make_shared<SweepCard>();
        try {
          *card = checked_card(asked, runs_dir_);
        } catch (const std::exception& error) {
          card->draft = asked.draft;
          card->is_checked = true;
          card->problem = error.what();
        }
        if (!is_wanted()) return;
        {
          const std::lock_guard lock(mutex_);
          answered_ = asked;
          card_ = std::move(card);
          has_news_ = true;
        }
        on_change();
      }) {}

bool SweepDrafting::take_news() {
  const std::lock_guard lock(mutex_);
  return std::exchange(has_news_, false);
}

void SweepDrafting::edit(SweepDraft draft) {
  if (draft_) draft_ = std::move(draft);
}

SweepQuestion SweepDrafting::question(const Settings& settings, LedgerRows rows) const {
  SweepQuestion question{.draft = *draft_, .settings = settings, .like = {}, .like_ordinal = {}};
  if (const auto* like = run_like(settings, rows)) {
    question.like = like->folder;
    question.like_ordinal = like->ordinal;
  }
  return question;
}

std::shared_ptr<const SweepCard> SweepDrafting::card(const Settings& settings, LedgerRows rows) {
  if (!draft_) return nullptr;
  const auto wanted = question(settings, rows);
  {
    const std::lock_guard lock(mutex_);
    if (answered_ == wanted) return card_;
  }
  if (asked_ != wanted) {
    asked_ = wanted;
    checking_.ask(wanted);
  }
  return std::make_shared<const SweepCard>(SweepCard{.draft = *draft_});
}

Result<sweep::SweepRequest> SweepDrafting::request(const Settings& settings, LedgerRows rows) {
  const auto checked = card(settings, rows);
  if (!checked || !checked->is_checked) {
    return trace::base::fail(ErrorKind::kUsage, "The sweep is still being checked: try again");
  }
  if (!checked->can_start()) {
    return trace::base::fail(ErrorKind::kUsage, checked->problem.empty()
                                                    ? checked->refused.front().point + ": " +
                                                          checked->refused.front().reason
                                                    : checked->problem);
  }
  sweep::SweepRequest request;
  request.runs_dir = runs_dir_;
  request.name = checked->name;
  TRY_ASSIGN(request.points, points_of(question(settings, rows)));
  request.repeats = checked->draft.repeats;
  request.stops_early = checked->draft.stops_early;
  if (const auto& search = checked->draft.search) {
    request.search = sweep::SearchPlan{goal_of(*search), 60.0 * search->budget_minutes};
    request.repeats = search::kRounds;
    request.stops_early = false;
  }
  return request;
}

}  // namespace shardlens::app::session
