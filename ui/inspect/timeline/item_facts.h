// What there is to say about one thing of the timeline, in a tooltip and on the card of what was
// clicked, and about the clocks of its ranks. Free of ImGui, any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/timeline/values/picture.h"
#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/timeline_steps.h"

namespace shardlens::ui::inspect {

// What the mouse is over in the timeline, or was clicked. Times are the row's own.
struct RowItem {
  int row = -1;
  std::int64_t shift_ns = 0;
  std::optional<trace::timeline::Piece> piece = {};
  std::optional<trace::timeline::RibbonColumn> column = {};
  std::optional<trace::timeline::AreaPoint> point = {};
  std::int64_t smooth_ns = 0;  // `column` and `point` are of so long around them; 0: of themselves
  std::optional<trace::timeline::ReadyPoint> ready = {};
  // What `piece` is, or what reduces what is ready; none: it is not drawn alone.
  std::optional<trace::timeline::DrawnCollective> collective = {};
  std::string name = {};
};

struct ItemFacts {
  struct Row {
    std::optional<trace::base::TimeClass> swatch;
    std::string name, value;
  };
  std::string title, what;
  std::vector<Row> rows;
  std::vector<std::string> notes;  // parameters, why something is not known, where it is
};

ItemFacts item_facts(const trace::timeline::TimelineRows& rows, const StepIndex& steps,
                     const RowItem& item);

// What a collective's bar says: `full` where it fits, else `brief`, else nothing.
struct CollectiveLabel {
  std::string full;   // "bucket 3 · 4.00 MiB", "blocks.3 forward gather", "loss"
  std::string brief;  // "3"; "" where nothing short names it
};
CollectiveLabel collective_label(const trace::timeline::DrawnCollective& collective,
                                 const std::string& name);

// "31.2 GiB", "1,755 MHz"
std::string area_value_text(double value, const std::string& unit);

// One sentence about one rank's clock against the first rank's; "" where nothing is to be said.
std::string clock_text(const trace::timeline::TimelineRank& rank,
                       const trace::timeline::TimelineRank& first);
// About all of them: "All on host node-1: one clock."
std::string clocks_text(std::span<const trace::timeline::TimelineRank> ranks);

}  // namespace shardlens::ui::inspect
