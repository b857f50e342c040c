// One thing of the timeline and what there is to say about it. Free of ImGui.
#pragma once

#include <string>
#include <vector>

#include "trace/analysis/steps/step_timeline.h"

namespace shardlens::ui {

struct TimelineItem {
  enum class Kind : std::uint8_t { kBar, kCollective, kReady } kind = Kind::kBar;
  int rank = 0;
  trace::Bar bar;
  trace::CollectiveBar collective;
  trace::ReadyMark ready;
  double start_ns = 0, end_ns = 0;
};

// What a collective of a unit is for, by its tag.
bool is_gather(const trace::CollectiveBar& bar);
bool is_backward(const trace::CollectiveBar& bar);    // gathered for backward
bool is_prefetched(const trace::CollectiveBar& bar);  // launched ahead of need

// What a collective's bar says: `full` where it fits, else `brief`, else nothing.
struct BarLabel {
  std::string full;   // "bucket 3 · 4.00 MiB", "blocks.3 forward gather", "loss"
  std::string brief;  // "3"; "" where nothing short names it
};
BarLabel collective_label(const trace::CollectiveBar& bar);

bool same_item(const TimelineItem& a, const TimelineItem& b);

struct ItemDetails {
  struct Row {
    enum class Swatch : std::uint8_t { kNone, kOverlapped, kExposed } swatch = Swatch::kNone;
    std::string name, value;
  };
  std::string title, what;
  std::vector<Row> rows;
  std::string note;         // the parameters of a unit; "" for none
  std::string why_unknown;  // "Waiting is not known: …"; "" where it is
  std::string where;        // rank and step
};

ItemDetails item_details(const TimelineItem& item, std::int64_t step);

}  // namespace shardlens::ui
