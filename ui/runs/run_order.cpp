#include "ui/runs/run_order.h"

#include <algorithm>
#include <iterator>

#include "trace/job/settings/settings.h"

namespace shardlens::ui::runs {

namespace {

std::string words_of_run(const state::LedgerRow& row) {
  std::string text = row.name + "\n" + row.ordinal + "\n" + row.note + "\n" +
                     std::string(trace::model::to_string(row.status)) + "\n" + row.not_compared;
  for (const auto& tag : row.tags) text += "\n" + tag;
  if (row.is_bundled) text += "\nexample";
  if (row.is_imported) return text + "\nimported";
  const trace::job::Settings defaults;
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    const auto value = trace::job::value_text(row.settings, knob);
    if (value == trace::job::value_text(defaults, knob)) continue;
    text += "\n" + std::string(knob.name) + "=" + value;
  }
  return text;
}

present::TableColumn words_column(const state::Ledger& ledger) {
  present::TableColumn out;
  out.kind = present::TableColumn::Kind::kText;
  out.cell = [&](std::size_t row) {
    return present::TableCell::words(words_of_run(ledger.rows[row]));
  };
  return out;
}

present::TableColumn sortable(const state::Ledger& ledger, const present::LedgerColumn& column) {
  present::TableColumn out;
  out.title = column.title;
  out.cell = [&](std::size_t row) { return column.cell(ledger.rows[row], {}); };
  if (column.number) out.number = [&](std::size_t row) { return column.number(ledger.rows[row]); };
  return out;
}

}  // namespace

std::vector<state::LedgerRow> ordered_runs(const state::Ledger& ledger,
                                           const present::TableSort& sort,
                                           std::string_view filter) {
  const present::LedgerTable ledger_columns = present::ledger_table(ledger);
  present::Table table;
  table.rows = ledger.rows.size();
  table.columns.push_back(words_column(ledger));
  for (const present::LedgerColumn& column : ledger_columns.columns) {
    if (column.title == sort.column) table.columns.push_back(sortable(ledger, column));
  }
  std::vector<state::LedgerRow> rows;
  for (const auto row : present::table_order(table, sort, filter)) rows.push_back(ledger.rows[row]);
  return rows;
}

present::TableSort next_run_sort(const present::TableSort& sort,
                                 const present::LedgerColumn& column) {
  // Figures from the greatest first, as in other tables; words from the first.
  const bool first = static_cast<bool>(column.number);
  if (sort.column != column.title) return {column.title, first};
  if (sort.descending == first) return {column.title, !first};
  return {};
}

std::vector<std::string> runs_between(const std::vector<state::LedgerRow>& rows,
                                      std::string_view from, std::string_view to) {
  const auto place = [&](std::string_view folder) {
    return std::ranges::find(rows, folder, &state::LedgerRow::folder) - rows.begin();
  };
  const auto count = std::ssize(rows);
  auto first = std::min(place(from), place(to)), last = std::max(place(from), place(to));
  if (last >= count) first = last = place(to);
  std::vector<std::string> folders;
  for (auto i = first; i <= last && i < count; ++i) {
    folders.push_back(rows[static_cast<std::size_t>(i)].folder);
  }
  return folders;
}

}  // namespace shardlens::ui::runs
