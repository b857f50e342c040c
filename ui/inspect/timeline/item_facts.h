// What there is to say about one thing of the timeline: in a tooltip, and on the card of what was
// clicked. Free of ImGui, any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "trace/timeline/values/timeline_rows.h"
#include "ui/inspect/timeline/row_item.h"
#include "ui/inspect/timeline/timeline_steps.h"

namespace shardlens::ui::inspect {

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

}  // namespace shardlens::ui::inspect
