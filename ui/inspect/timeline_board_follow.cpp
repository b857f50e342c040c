// What the timeline takes over from the view that `app` publishes.
#include <algorithm>
#include <unordered_set>

#include "ui/inspect/timeline_board.h"

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

}  // namespace

void TimelineBoard::follow_run(const InspectView& view) {
  if (view.run_folder == run_) return;
  run_ = view.run_folder;
  state_.window = {};
  state_.step_window = {};
  state_.folds = {};
  state_.scroll = state_.step_scroll = 0;
  state_.step_rank = state_.selected_row = -1;
  state_.selection.reset();
  state_.measured.reset();
  state_.picked.reset();
  asked_ = {};
  rows_.reset();
  picture_.reset();
  backdrop_.reset();
  backdrops_ = {};
  details_.reset();
  hits_.reset();
}

void TimelineBoard::follow_rows(const InspectView& view) {
  if (view.rows != rows_ && view.rows) {
    rows_ = view.rows;
    steps_ = StepIndex(*rows_);
    state_.window.set_extent(rows_->start_ns, rows_->end_ns);
    const StepIndex::Lengths lengths = steps_.lengths();
    state_.step_window.set_extent(0, lengths.longest_ns, 0, lengths.typical_ns);
    if (static_cast<std::size_t>(std::max(state_.selected_row, 0)) >= rows_->rows.size()) {
      state_.selected_row = -1;
    }
  }
  if (view.picture == picture_) return;
  picture_ = view.picture;
  pictures_ = picture_ ? PictureIndex(*picture_) : PictureIndex();
  if (picture_ && rows_ && shows_whole_run(*picture_, *rows_)) {
    backdrop_ = picture_;
    backdrops_ = pictures_;
  }
  means_.clear();
  lit_name_.clear();
  has_lit_ = false;
}

// An event that a table or a link asked for is picked as if it had been clicked.
void TimelineBoard::follow_picked(const InspectView& view) {
  if (view.details == details_) return;
  const bool was_shown =
      details_ && state_.picked && details_->place.ref == state_.picked->place.ref;
  details_ = view.details;
  if (!details_) {
    if (was_shown) state_.picked.reset();
    return;
  }
  if (state_.picked && state_.picked->place.ref == details_->place.ref) return;
  state_.picked = PickedEvent{details_->place, ""};
  state_.selected_row = details_->place.row;
}

void TimelineBoard::unfold(const trace::TimelineRow& row) {
  state_.folds.run = false;
  state_.filter.set(row.kind, true);
  if (row.rank >= 0 && row.kind != trace::RowKind::kRibbon) state_.folds.ranks[row.rank] = true;
  // Its kind may have more lanes than are unfolded by themselves.
  const auto hides = [&](const ShownRow& other) {
    if (other.lanes <= 1 || other.shows_lanes || other.row < 0) return false;
    const trace::TimelineRow& first = rows_->rows[static_cast<std::size_t>(other.row)];
    return first.kind == row.kind && first.rank == row.rank && first.id != row.id;
  };
  const RowLayout unfolded = layout_rows(*rows_, state_.folds, state_.filter, 0, 1);
  if (!std::ranges::any_of(unfolded.rows, hides)) return;
  const std::pair<int, trace::RowKind> key{row.rank, row.kind};
  if (state_.folds.lanes.erase(key) == 0) state_.folds.lanes.insert(key);
}

std::int64_t TimelineBoard::shift_of(int rank, std::int64_t time_ns) const {
  if (!state_.aligned_by_step) return 0;
  const auto shifts = step_shifts(*rows_, steps_, time_ns);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    if (rows_->ranks[i].rank == rank) return shifts[i];
  }
  return 0;
}

void TimelineBoard::reveal(const InspectView& view) {
  if (view.reveal_number == revealed_ || !rows_) return;
  revealed_ = view.reveal_number;
  const trace::EventPlace& place = view.reveal;
  if (place.row < 0 || static_cast<std::size_t>(place.row) >= rows_->rows.size()) return;
  const trace::TimelineRow& row = rows_->rows[static_cast<std::size_t>(place.row)];
  state_.mode = TimelineState::Mode::kTime;
  unfold(row);
  const std::int64_t shift = shift_of(row.rank, place.start_ns);
  show_around(state_.window, place.start_ns - shift, place.end_ns - shift);
  scroll_to_ = row.id;
}

void TimelineBoard::note_names(const InspectView& view) {
  const auto hits = view.hits && view.hits->problem.empty() ? view.hits : nullptr;
  std::string wanted;
  if (!hits && state_.picked) {
    const trace::RowPicture* picture =
        pictures_.find(state_.picked->place.row, state_.picked->place.start_ns);
    if (picture != nullptr && state_.picked->name.empty()) {
      for (const trace::Piece& piece : picture->pieces) {
        if (piece.ref == state_.picked->place.ref)
          state_.picked->name = picture_->names[piece.name];
      }
    }
    wanted = state_.picked->name;
  }
  const bool same = hits == hits_ && wanted == lit_name_ && has_lit_ == (hits || !wanted.empty());
  if (same) return;
  hits_ = hits;
  lit_name_ = wanted;
  has_lit_ = hits_ || !wanted.empty();
  lit_.clear();
  if (!has_lit_ || !picture_) return;
  std::unordered_set<std::string_view> names{wanted};
  if (hits_) {
    for (const trace::NameHit& hit : hits_->names) names.insert(hit.name);
  }
  names.erase(std::string_view());
  for (const std::string& name : picture_->names) lit_.push_back(names.contains(name));
}

void TimelineBoard::follow(const InspectView& view) {
  follow_run(view);
  follow_rows(view);
  follow_picked(view);
  reveal(view);
  note_names(view);
}

}  // namespace shardlens::ui
