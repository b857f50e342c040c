#include "ui/inspect/timeline/timeline_layout.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::RowKind;
using trace::timeline::TimelineRank;
using trace::timeline::TimelineRow;
using trace::timeline::TimelineRows;

constexpr int kCompactLevels = 2;  // of nesting, before there is room or the user asks for all
constexpr int kMostLevelsByThemselves = 16;
constexpr int kMostLanesUnfolded = 4;  // of one kind and rank, before the user asks for all
// Of rows, where there is room below them; of one step's, where not even one rank fits.
constexpr float kMostStretch = 1.6f, kMostStretchOfStep = 2.6f, kLeastStretch = 0.75f;
constexpr float kRowGap = 4, kRankGap = 14, kFoldedGap = 5, kRibbonHeight = 14;

// Of one level, at scale 1; by RowKind.
constexpr std::array<float, 11> kLaneHeights{
    kRibbonHeight,
    16,  // phases
    12,  // operators
    10,  // launches
    18,  // kernels
    18,  // communication
    12,  // copies
    24,  // ready: marks, and boxes under them
    34,  // memory
    26,  // counters
    22,  // GPU
};
static_assert(kLaneHeights.size() == static_cast<std::size_t>(RowKind::kGpu) + 1);

bool nests(RowKind kind) { return kind == RowKind::kPhases || kind == RowKind::kOperators; }

class LayoutMaker {
 public:
  LayoutMaker(const TimelineRows& rows, const RowFolds& folds, const RowFilter& filter, float scale)
      : rows_(rows), folds_(folds), filter_(filter), scale_(scale) {}

  RowLayout make(float available);

 private:
  float px(float length) const { return std::round(length * scale_); }
  float row_px(float length) const { return std::floor(length * scale_ * stretch_ + 0.01f); }
  // Solid bars: they grow less than what has names in it.
  float ribbon_px() const { return px(kRibbonHeight * std::min(stretch_, 1.2f)); }
  void choose_and_place(float available);
  void place_all();
  // Nested rows show as many levels as there is room for, and rows share what is left then.
  void deepen(float available);
  void stretch(float available);
  float least_stretch(float available) const;
  std::vector<const TimelineRow*> lanes_of(const TimelineRank& rank) const;
  std::vector<ShownRow> unfolded_rows(int place) const;
  ShownRow shown(const TimelineRow& row, int place) const;
  float height_of(const std::vector<ShownRow>& rows) const;
  void choose_ranks();
  void fill_contents();
  void choose_unfolded(float available);
  // At the foot of what is placed so far, with `gap` behind it.
  ShownRow& add_ribbon(ShownRow::Heading heading, bool unfolded, float gap);
  void add_rest();
  void add_rank(int place);

  const TimelineRows& rows_;
  const RowFolds& folds_;
  const RowFilter& filter_;
  float scale_;
  float stretch_ = 1;
  int levels_ = kCompactLevels;                  // rows that are no deeper are shown whole
  std::vector<std::vector<ShownRow>> contents_;  // of every rank that is shown, unfolded
  std::vector<bool> unfolded_;
  std::vector<int> order_;  // places of the ranks that are shown, from the top
  int rest_ = 0;            // how many are not by themselves
  bool tight_ = false;      // the other ranks would be pushed off the screen
  RowLayout layout_;
};

std::vector<const TimelineRow*> LayoutMaker::lanes_of(const TimelineRank& rank) const {
  std::vector<const TimelineRow*> lanes;
  for (const int id : rank.rows) {
    const TimelineRow* row = rows_.row_of(id);
    if (row != nullptr && row->kind != RowKind::kRibbon && filter_.shows(row->kind)) {
      lanes.push_back(row);
    }
  }
  return lanes;
}

ShownRow LayoutMaker::shown(const TimelineRow& row, int place) const {
  ShownRow out;
  out.row = row.id;
  out.place = place;
  const bool deep = nests(row.kind) && row.levels > kCompactLevels;
  out.offers_levels = deep;
  out.shows_all_levels = deep && folds_.levels.contains(row.id) != (row.levels <= levels_);
  out.levels = out.shows_all_levels || !deep ? std::max(row.levels, 1) : kCompactLevels;
  if (!nests(row.kind)) out.levels = 1;
  out.level_height = row.kind == RowKind::kRibbon
                         ? ribbon_px()
                         : row_px(kLaneHeights[static_cast<std::size_t>(row.kind)]);
  out.height = out.level_height * static_cast<float>(out.levels);
  return out;
}

std::vector<ShownRow> LayoutMaker::unfolded_rows(int place) const {
  const TimelineRank& rank = rows_.ranks[static_cast<std::size_t>(place)];
  const auto lanes = lanes_of(rank);
  std::vector<ShownRow> out;
  for (std::size_t i = 0; i < lanes.size();) {
    const RowKind kind = lanes[i]->kind;
    std::size_t end = i;
    while (end < lanes.size() && lanes[end]->kind == kind) ++end;
    const int count = static_cast<int>(end - i);
    const bool wish = folds_.lanes.contains({rank.rank, kind});
    // Counters are there because somebody asked for them.
    const bool fits = (count <= kMostLanesUnfolded && !(tight_ && kind == RowKind::kGpu)) ||
                      kind == RowKind::kCounter;
    const bool all = fits != wish;
    for (std::size_t j = i; j < (all ? end : i + 1); ++j) {
      out.push_back(shown(*lanes[j], place));
      if (j == i && count > 1) {
        out.back().lanes = count;
        out.back().shows_lanes = all;
      }
    }
    i = end;
  }
  if (rows_.is_one_step) out.push_back(shown(*rows_.row_of(rank.rows.front()), place));
  return out;
}

float LayoutMaker::height_of(const std::vector<ShownRow>& rows) const {
  float height = px(kRankGap);
  for (const ShownRow& row : rows) height += row.height + px(kRowGap);
  return height;
}

void LayoutMaker::fill_contents() {
  contents_.assign(rows_.ranks.size(), {});
  for (const int place : order_) {
    contents_[static_cast<std::size_t>(place)] = unfolded_rows(place);
  }
}

void LayoutMaker::choose_ranks() {
  const std::size_t count = rows_.ranks.size();
  order_.clear();
  rest_ = 0;
  const bool many = count > kMostRanksShown;
  const auto add = [&](std::size_t place) {
    const int number = static_cast<int>(place);
    if (std::ranges::find(order_, number) == order_.end()) order_.push_back(number);
  };
  const auto place_of = [&](int rank) {
    const auto at = std::ranges::find(rows_.ranks, rank, &TimelineRank::rank);
    return static_cast<std::size_t>(at - rows_.ranks.begin());
  };
  if (many) {
    for (const int rank : folds_.extremes) {
      if (order_.size() < kRanksOfMany && place_of(rank) < count) add(place_of(rank));
    }
    for (std::size_t i = 0; i < count && order_.size() < kRanksOfMany; ++i) add(i);
    rest_ = static_cast<int>(count - order_.size());
    // What the user unfolded, or what was gone to.
    for (const auto& [rank, unfolded] : folds_.ranks) {
      if (unfolded && place_of(rank) < count) add(place_of(rank));
    }
  }
  if (many && !folds_.shows_rest) return;
  for (const int rank : rows_.is_one_step ? folds_.extremes : std::vector<int>()) {
    if (place_of(rank) < count) add(place_of(rank));
  }
  for (std::size_t i = 0; i < count; ++i) add(i);
}

void LayoutMaker::choose_unfolded(float available) {
  const float folded = ribbon_px() + px(kFoldedGap);
  const auto count = order_.size();
  const bool has_more = rows_.is_one_step ? rest_ > 0 : count > 1;  // than ranks
  float left = available - folded * static_cast<float>(count + (has_more ? 1 : 0));
  bool fits = !rows_.is_one_step || least_stretch(available) > kLeastStretch;
  for (const int place : order_) {
    const auto i = static_cast<std::size_t>(place);
    const float more = height_of(contents_[i]) - folded;
    fits = fits && (place == order_.front() || more <= left);
    const auto wish = folds_.ranks.find(rows_.ranks[i].rank);
    const bool unfolded = wish != folds_.ranks.end() ? wish->second : fits;
    unfolded_[i] = unfolded && !contents_[i].empty();
    if (unfolded_[i]) left -= more;
  }
}

ShownRow& LayoutMaker::add_ribbon(ShownRow::Heading heading, bool unfolded, float gap) {
  ShownRow& row = layout_.rows.emplace_back();
  row.heading = heading;
  row.unfolded = unfolded;
  row.y = layout_.height;
  row.height = row.level_height = ribbon_px();
  layout_.height += row.height + px(gap);
  return row;
}

void LayoutMaker::add_rank(int place) {
  const auto index = static_cast<std::size_t>(place);
  const TimelineRank& rank = rows_.ranks[index];
  float& y = layout_.height;
  if (unfolded_[index]) {
    const bool behind_folded = !layout_.rows.empty() && !layout_.rows.back().unfolded;
    if (behind_folded) y += px(kRankGap - kFoldedGap);
    bool first = true;
    for (ShownRow row : contents_[index]) {
      if (first) row.heading = ShownRow::Heading::kRank;
      first = false;
      row.y = y;
      y += row.height + px(kRowGap);
      layout_.rows.push_back(row);
    }
    y += px(kRankGap - kRowGap);
    return;
  }
  ShownRow& row = add_ribbon(ShownRow::Heading::kRank, false, kFoldedGap);
  row.place = place;
  const TimelineRow* ribbon = rank.rows.empty() ? nullptr : rows_.row_of(rank.rows.front());
  if (ribbon != nullptr && ribbon->kind == RowKind::kRibbon) row.row = ribbon->id;
}

void LayoutMaker::add_rest() {
  if (rest_ == 0) return;
  add_ribbon(ShownRow::Heading::kRest, folds_.shows_rest, kFoldedGap).ranks = rest_;
}

void LayoutMaker::place_all() {
  layout_ = {};
  const int count = static_cast<int>(rows_.ranks.size());
  if (count > 1 && !rows_.is_one_step) {
    ShownRow& run = add_ribbon(ShownRow::Heading::kRun, !folds_.run, kRankGap - kFoldedGap);
    run.row = rows_.rows.empty() ? -1 : 0;
    if (folds_.run) return;
  }
  fill_contents();
  for (const int place : order_) add_rank(place);
  add_rest();
}

void LayoutMaker::deepen(float available) {
  const RowLayout before = layout_;
  if (before.height >= available) return;
  for (int levels = kMostLevelsByThemselves; levels > kCompactLevels; --levels) {
    levels_ = levels;
    place_all();
    if (layout_.height <= available) return;
  }
  levels_ = kCompactLevels;
  layout_ = before;
}

void LayoutMaker::stretch(float available) {
  float rows = 0;
  for (const ShownRow& row : layout_.rows) rows += row.height;
  const float gaps = layout_.height - rows;
  const float least = least_stretch(available);
  if (rows <= 0 || (layout_.height >= available && least == 1)) return;
  const float most = rows_.is_one_step ? kMostStretchOfStep : kMostStretch;
  stretch_ = std::clamp((available - gaps) / rows, least, most);
  if (stretch_ > 1.02f || stretch_ < 1) place_all();
}

// The other ranks are scrolled to.
float LayoutMaker::least_stretch(float available) const {
  if (!rows_.is_one_step || order_.empty()) return 1;
  float rows = 0;
  const auto& first = contents_[static_cast<std::size_t>(order_.front())];
  for (const ShownRow& row : first) rows += row.height;
  const float room = available - px(kRowGap) * static_cast<float>(first.size() - 1);
  return rows > 0 ? std::clamp(room / rows, kLeastStretch, 1.0f) : 1;
}

void LayoutMaker::choose_and_place(float available) {
  choose_ranks();
  fill_contents();
  unfolded_.assign(contents_.size(), false);
  choose_unfolded(available);
  place_all();
}

RowLayout LayoutMaker::make(float available) {
  choose_and_place(available);
  if (layout_.height > available && rows_.ranks.size() > 1) {
    tight_ = true;
    choose_and_place(available);
  }
  deepen(available);
  stretch(available);
  return layout_;
}

}  // namespace

const ShownRow* RowLayout::find(int row) const {
  const auto found = std::ranges::find(rows, row, &ShownRow::row);
  return found == rows.end() ? nullptr : &*found;
}

RowLayout layout_rows(const TimelineRows& rows, const RowFolds& folds, const RowFilter& filter,
                      float available, float scale) {
  return LayoutMaker(rows, folds, filter, scale).make(available);
}

}  // namespace shardlens::ui::inspect
