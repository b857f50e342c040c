// What the timeline takes over from the view that `app` publishes.
#include <algorithm>
#include <functional>
#include <unordered_set>

#include "trace/timeline/values/straggler_figures.h"
#include "ui/inspect/draw/timeline_board.h"
#include "ui/present/timeline_time_text.h"

namespace shardlens::ui {

namespace {

// An event is a few pixels wide at least when it is revealed.
constexpr double kLeastShare = 1.0 / 300, kMostShare = 1.0 / 3, kRevealedShare = 1.0 / 12;

void show_around(TimeWindow& window, std::int64_t start, std::int64_t end) {
  const auto length = static_cast<double>(std::max<std::int64_t>(end - start, 1));
  const std::int64_t middle = start + (end - start) / 2;
  const double share = length / window.span_ns();
  if (share < kLeastShare || share > kMostShare) {
    const auto half = static_cast<std::int64_t>(length / kRevealedShare / 2) + 1;
    window.show(middle - half, middle + half);
  }
  window.center_on(middle);
}

bool shows_whole_run(const trace::TimelinePicture& picture, const trace::TimelineRows& rows) {
  // All rows of it show the same stretch, but for what ranks did not record.
  return std::ranges::any_of(picture.rows, [&](const trace::RowPicture& row) {
    return row.window.start_ns <= rows.start_ns && row.window.end_ns >= rows.end_ns;
  });
}

// What is pinned of a step stays while more of the same step comes in.
bool is_same_row(const trace::TimelineRows& before, const trace::TimelineRows& now, int row) {
  const auto index = static_cast<std::size_t>(row);
  if (before.steps.empty() || now.steps.empty() || index >= now.rows.size()) return false;
  const trace::TimelineRow &a = before.rows[index], &b = now.rows[index];
  return before.steps.front().step == now.steps.front().step && a.rank == b.rank &&
         a.kind == b.kind && a.lane == b.lane;
}

}  // namespace

void TimelineBoard::follow_run(const std::string& folder) {
  if (folder == run_.folder) return;
  run_ = {};
  run_.folder = folder;
  const TimelineChoices kept = state_;
  state_ = {};
  static_cast<TimelineChoices&>(state_) = kept;
}

void TimelineBoard::follow_rows(const std::shared_ptr<const trace::TimelineRows>& rows) {
  if (rows == run_.rows || !rows) return;
  run_.rows = rows;
  run_.steps = StepIndex(*rows);
  state_.window.set_extent(rows->start_ns, rows->end_ns);
  if (rows->is_one_step) {
    state_.step_window.set_extent(0, rows->end_ns - rows->start_ns);
  } else {
    const StepIndex::Lengths lengths = run_.steps.lengths();
    state_.step_window.set_extent(0, lengths.longest_ns, 0, lengths.typical_ns);
  }
  if (static_cast<std::size_t>(std::max(state_.selected_row, 0)) >= rows->rows.size()) {
    state_.selected_row = -1;
  }
}

void TimelineBoard::follow_picture(const std::shared_ptr<const trace::TimelinePicture>& picture) {
  if (picture == run_.pictures.picture()) return;
  run_.pictures = PictureIndex(picture);
  run_.means = RowMeans(picture);
  if (picture && run_.rows && shows_whole_run(*picture, *run_.rows)) {
    run_.backdrops = run_.pictures;
  }
  run_.lit_name.clear();
  run_.has_lit = false;
}

// Of many ranks those come first that kept the others waiting longest in the whole run.
void TimelineBoard::follow_extremes(const InspectView& view) {
  const bool counted = view.range && view.range->is_whole_run && view.range->stragglers;
  if (!run_.rows || run_.rows->ranks.size() <= kMostRanksShown || !counted) return;
  if (!state_.folds.extremes.empty()) return;  // rows do not jump about
  std::vector<trace::StragglerRank> ranks = view.range->stragglers->ranks;
  std::ranges::stable_sort(ranks, std::greater<>(), &trace::StragglerRank::caused_ns);
  ranks.resize(std::min(ranks.size(), kRanksOfMany));
  for (const trace::StragglerRank& rank : ranks) state_.folds.extremes.push_back(rank.rank);
}

// An event that a table or a link asked for is picked as if it had been clicked.
void TimelineBoard::follow_picked(const InspectView& view) {
  if (view.details == run_.details) return;
  const bool was_shown =
      run_.details && state_.picked && run_.details->place.ref == state_.picked->place.ref;
  run_.details = view.details;
  if (!run_.details) {
    if (was_shown) state_.picked.reset();
    return;
  }
  if (state_.picked && state_.picked->place.ref == run_.details->place.ref) return;
  state_.picked = PickedEvent{run_.details->place, ""};
  state_.selected_row = run_.details->place.row;
}

void TimelineBoard::unfold(const trace::TimelineRow& row) {
  state_.folds.run = false;
  state_.filter.set(row.kind, true);
  if (row.rank >= 0 && row.kind != trace::RowKind::kRibbon) state_.folds.ranks[row.rank] = true;
  // Its kind may have more lanes than are unfolded by themselves.
  const auto hides = [&](const ShownRow& other) {
    if (other.lanes <= 1 || other.shows_lanes || other.row < 0) return false;
    const trace::TimelineRow& first = run_.rows->rows[static_cast<std::size_t>(other.row)];
    return first.kind == row.kind && first.rank == row.rank && first.id != row.id;
  };
  const RowLayout unfolded = layout_rows(*run_.rows, state_.folds, state_.filter, 0, 1);
  if (!std::ranges::any_of(unfolded.rows, hides)) return;
  const std::pair<int, trace::RowKind> key{row.rank, row.kind};
  if (state_.folds.lanes.erase(key) == 0) state_.folds.lanes.insert(key);
}

std::int64_t TimelineBoard::shift_of(int rank, std::int64_t time_ns) const {
  if (!state_.aligned_by_step) return 0;
  const auto shifts = step_shifts(*run_.rows, run_.steps, time_ns);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (run_.rows->ranks[i].rank == rank) return shifts[i];
  }
  return 0;
}

void TimelineBoard::reveal(const InspectView& view) {
  if (view.reveal_number == run_.revealed || !run_.rows) return;
  run_.revealed = view.reveal_number;
  const trace::EventPlace& place = view.reveal;
  if (place.row < 0 || static_cast<std::size_t>(place.row) >= run_.rows->rows.size()) return;
  const trace::TimelineRow& row = run_.rows->rows[static_cast<std::size_t>(place.row)];
  state_.mode = TimelineState::Mode::kTime;
  unfold(row);
  const std::int64_t shift = shift_of(row.rank, place.start_ns);
  show_around(state_.window, place.start_ns - shift, place.end_ns - shift);
  run_.scroll_to = row.id;
}

void TimelineBoard::note_names(const InspectView& view) {
  const auto hits = view.hits && view.hits->problem.empty() ? view.hits : nullptr;
  std::string wanted;
  if (!hits && state_.picked) {
    const trace::RowPicture* picture =
        run_.pictures.find(state_.picked->place.row, state_.picked->place.start_ns);
    if (picture != nullptr && state_.picked->name.empty()) {
      for (const trace::Piece& piece : picture->pieces) {
        if (piece.ref == state_.picked->place.ref)
          state_.picked->name = run_.pictures.names()[piece.name];
      }
    }
    wanted = state_.picked->name;
  }
  const bool same =
      hits == run_.hits && wanted == run_.lit_name && run_.has_lit == (hits || !wanted.empty());
  if (same) return;
  run_.hits = hits;
  run_.lit_name = wanted;
  run_.has_lit = run_.hits || !wanted.empty();
  run_.lit.clear();
  if (!run_.has_lit) return;
  std::unordered_set<std::string_view> names{wanted};
  if (run_.hits) {
    for (const trace::NameHit& hit : run_.hits->names) names.insert(hit.name);
  }
  names.erase(std::string_view());
  for (const std::string& name : run_.pictures.names()) run_.lit.push_back(names.contains(name));
}

// Of many ranks those come first that compute longest.
void TimelineBoard::order_by_compute(const trace::StepPicture& step) {
  RowFolds& folds = state_.folds;
  folds.extremes.clear();
  folds.rest.clear();
  if (step.by_compute.size() <= kMostRanksShown) return;
  for (const auto& each : step.by_compute) folds.extremes.push_back(each.rank);
  folds.rest = ", which compute for " + length_text(step.by_compute.back().compute_ns) + " to " +
               length_text(step.by_compute[kRanksOfMany].compute_ns);
}

void TimelineBoard::follow(const std::string& run_folder, const trace::StepPicture& step) {
  follow_run(run_folder);
  state_.mode = TimelineState::Mode::kOneStep;
  if (step.rows == run_.rows) return;
  if (state_.pinned && !is_same_row(*run_.rows, *step.rows, state_.pinned->row)) {
    state_.pinned.reset();
  }
  follow_rows(step.rows);
  follow_picture(step.picture);
  order_by_compute(step);
}

void TimelineBoard::follow(const InspectView& view) {
  follow_run(view.run_folder);
  follow_rows(view.rows);
  follow_picture(view.picture);
  follow_extremes(view);
  follow_picked(view);
  reveal(view);
  note_names(view);
}

}  // namespace shardlens::ui
