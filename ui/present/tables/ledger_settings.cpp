#include "ui/present/tables/ledger_settings.h"

#include <algorithm>
#include <map>
#include <string>

#include "ui/present/tables/ledger_cells.h"

namespace shardlens::ui::present {

namespace {

// How many of the rows that are counted have another value than most of them.
std::size_t exceptions(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                       bool is_counted(const state::LedgerRow&)) {
  std::map<std::string, std::size_t> counts;
  std::size_t all = 0, most = 0;
  for (const state::LedgerRow& row : rows) {
    const std::string text = is_counted(row) ? cell_of(row).text : "";
    if (text.empty()) continue;
    ++all;
    most = std::max(most, ++counts[text]);
  }
  return all - most;
}

}  // namespace

bool is_any_run(const state::LedgerRow&) { return true; }
bool is_own_run(const state::LedgerRow& row) { return !row.is_bundled && !row.is_imported; }

bool rows_differ(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of,
                 bool is_counted(const state::LedgerRow&)) {
  std::string first;
  return std::any_of(rows.begin(), rows.end(), [&](const state::LedgerRow& row) {
    const std::string text = is_counted(row) ? cell_of(row).text : "";
    if (first.empty()) first = text;
    return !text.empty() && text != first;
  });
}

std::vector<ShownSetting> shown_settings(const std::vector<state::LedgerRow>& rows,
                                         std::size_t most) {
  const bool has_own = std::ranges::any_of(rows, is_own_run);
  std::vector<ShownSetting> shown;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    if (knob.name == "steps" || knob.name == "ranks" || knob.name == "seed") continue;
    const auto cell_of = [&knob](const state::LedgerRow& row) { return setting_cell(row, knob); };
    if (!rows_differ(rows, cell_of)) continue;
    shown.push_back({&knob, cell_of, exceptions(rows, cell_of, has_own ? is_own_run : is_any_run)});
  }
  std::vector<ShownSetting*> order;
  for (ShownSetting& setting : shown) order.push_back(&setting);
  std::ranges::stable_sort(order, std::ranges::greater{}, &ShownSetting::exceptions);
  for (std::size_t i = 0; i < order.size(); ++i) order[i]->place = static_cast<int>(i);
  std::erase_if(shown, [most](const ShownSetting& setting) {
    return static_cast<std::size_t>(setting.place) >= most;
  });
  return shown;
}

}  // namespace shardlens::ui::present
