// Which rows the timeline shows, folded as wished, and where they lie. Free of ImGui, any thread.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::inspect {

// What the user folded or unfolded; everything else is as it fits.
struct RowFolds {
  bool run = false;  // folded: the mean over all ranks alone
  // Of many ranks: those that come first, for there is something about them, and whether the rest
  // are shown as well.
  std::vector<int> extremes;
  bool shows_rest = false;
  std::string rest;           // what there is to say of those: ", which …"
  std::map<int, bool> ranks;  // by rank: unfolded
  std::set<int> levels;       // by row: the nested levels are not as they are by themselves
  std::set<std::pair<int, trace::timeline::RowKind>> lanes;  // by rank and kind, likewise

  bool operator==(const RowFolds&) const = default;
};

struct RowFilter {
  // By kind. Launches and most counters come when they are asked for.
  std::uint32_t hidden = 1u << static_cast<unsigned>(trace::timeline::RowKind::kLaunches) |
                         1u << static_cast<unsigned>(trace::timeline::RowKind::kCounter);

  bool shows(trace::timeline::RowKind kind) const {
    return (hidden >> static_cast<unsigned>(kind) & 1) == 0;
  }
  void set(trace::timeline::RowKind kind, bool shown) {
    const auto bit = std::uint32_t{1} << static_cast<unsigned>(kind);
    hidden = shown ? hidden & ~bit : hidden | bit;
  }
  bool operator==(const RowFilter&) const = default;
};

struct ShownRow {
  enum class Heading : std::uint8_t { kNone, kRun, kRank, kRest } heading = Heading::kNone;
  int row = -1;             // of TimelineRows
  int place = -1;           // into TimelineRows::ranks; -1: the run's
  float y = 0, height = 0;  // pixels from the first row's top
  int levels = 1;           // drawn
  float level_height = 0;
  bool unfolded = true;        // of the heading
  bool offers_levels = false;  // there are more than it shows, or it can show fewer
  bool shows_all_levels = false;
  int lanes = 0;  // first of several of its kind that fold together: how many they are
  bool shows_lanes = true;
  int ranks = 0;  // of kRest: how many
};

// Of more ranks than that only so many are shown before the user asks for all.
inline constexpr std::size_t kMostRanksShown = 24, kRanksOfMany = 12;

struct RowLayout {
  std::vector<ShownRow> rows;  // from the top
  float height = 0;

  const ShownRow* find(int row) const;
};

// `available`: height of the plot; as many ranks from the top as fit are unfolded by themselves.
RowLayout layout_rows(const trace::timeline::TimelineRows& rows, const RowFolds& folds,
                      const RowFilter& filter, float available, float scale);

}  // namespace shardlens::ui::inspect
