// What the ledger, its tooltips and reports say about a run or a pair of runs, and which settings
// it shows. Free of ImGui; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/analysis/run/comparison.h"
#include "trace/job/settings/settings.h"
#include "ui/present/table_model.h"
#include "ui/state/snapshot.h"

namespace shardlens::ui::present {

// Cells that are more than a figure; an empty text where there is nothing to say.
TableCell name_cell(const state::LedgerRow& row);
TableCell when_cell(const state::LedgerRow& row);
TableCell steps_cell(const state::LedgerRow& row, const state::JobState& job);
TableCell relative_cell(const state::LedgerRow& row);  // against the baseline
TableCell setting_cell(const state::LedgerRow& row, const trace::job::Knob& knob);
TableCell tags_cell(const state::LedgerRow& row);
TableCell note_cell(const state::LedgerRow& row);
TableCell waiting_cell(const state::LedgerRow& row);    // the part of exposed for late ranks
TableCell predicted_cell(const state::LedgerRow& row);  // "331.0 → 325.2 ms −1.8 %"
// Measured ÷ predicted step time − 1; none: one of them is not known.
std::optional<double> prediction_error(const state::LedgerRow& row);
// `step`: the one that the column's head names.
TableCell loss_cell(const state::LedgerRow& row, std::int64_t step);

using CellOf = std::function<TableCell(const state::LedgerRow&)>;

bool is_any_run(const state::LedgerRow& row);
// No example, whose job may be another one.
bool is_own_run(const state::LedgerRow& row);
// Among the rows that have a value and are counted.
bool rows_differ(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                 bool is_counted(const state::LedgerRow&) = is_any_run);

struct ShownSetting {
  const trace::job::Knob* knob = nullptr;
  CellOf cell_of;
  std::size_t exceptions = 0;  // own runs, if there are any, that have not the most common value
  int place = 0;               // among all, those first that tell most runs apart
};
// In which rows differ, in the order of the table of knobs: at most `most`, by their places.
std::vector<ShownSetting> shown_settings(const std::vector<state::LedgerRow>& rows,
                                         std::size_t most);

// What of a run was not real: "link of 1 Gbit/s, 50 µs; …"; "" for nothing.
std::string simulation_text(const trace::job::Settings& settings);

// "Weak scaling": the name of the kind.
std::string scaling_title(const trace::analysis::Scaling& scaling);
// "2 → 4 ranks: 1.84 × the samples/s, efficiency 92 % (same batch per rank)"
std::string scaling_text(const trace::analysis::Scaling& scaling);

// The words between commas and spaces, each once, in order; and back.
std::vector<std::string> tags_from_text(std::string_view text);
std::string tags_text(const std::vector<std::string>& tags);

std::string undo_text(std::size_t deleted);  // "Undo: 1 run deleted"

}  // namespace shardlens::ui::present
