// All that differs between two runs as one table (parts of a step, phases, operators, collectives,
// buckets or units, memory), and how one step time becomes the other: bars that each begin where
// the one before ended. Free of ImGui; any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/compare/run_difference.h"
#include "trace/base/time_partition.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::present {

// "All" first, then those of which there is anything.
std::vector<std::string_view> difference_kinds(const trace::analysis::RunDifference& difference);

// `kind`: one of these. The greatest difference first, times before sizes; `first` and `second`:
// what the runs are called. The difference is shared with the table.
std::shared_ptr<const Table> difference_table(
    const std::shared_ptr<const trace::analysis::RunDifference>& difference, std::string_view kind,
    const std::string& first, const std::string& second);

// From one run's step time to another's, part by part.
struct WaterfallBar {
  std::string title;              // "exposed transfer", "backward"
  double from_ns = 0, to_ns = 0;  // of a total from 0
  bool is_total = false;          // a run's step time
  std::string text;               // "−9.2 ms ± 1.1", "236 ms"
  std::optional<bool> beyond_noise{};
  trace::base::TimeClass time_class = trace::base::TimeClass::kCompute;
};

struct Waterfall {
  std::vector<WaterfallBar> bars;  // the first run, the shares by their size, the second run
  // Of the axis: the totals are cut off on the left where their differences are small.
  double low_ns = 0, high_ns = 1;

  double position(double ns) const { return (ns - low_ns) / (high_ns - low_ns); }
};

// The colour of a part or a phase, as everywhere.
trace::base::TimeClass share_class(const trace::analysis::ShareDifference& share);

enum class WaterfallOf : unsigned char { kParts, kPhases };
// At most `most_bars` of them; the smallest shares are put together as "the rest". No bars: nothing
// is known.
Waterfall waterfall_of(const trace::analysis::StepExplanation& explanation, WaterfallOf what,
                       const std::string& first, const std::string& second,
                       std::size_t most_bars = 12);

}  // namespace shardlens::ui::present
