#include "ui/runs/run_order.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "trace/job/settings/settings.h"

namespace shardlens::ui {

namespace {

std::string words_of_run(const LedgerRow& row) {
  std::string text = row.name + "\n" + row.ordinal + "\n" + row.note + "\n" +
                     std::string(trace::to_string(row.status)) + "\n" + row.not_compared;
  for (const auto& tag : row.tags) text += "\n" + tag;
  if (row.is_bundled) text += "\nexample";
  if (row.is_imported) return text + "\nimported";
  const trace::Settings defaults;
  for (const trace::Knob& knob : trace::knobs()) {
    const auto value = trace::value_text(row.settings, knob);
    if (value == trace::value_text(defaults, knob)) continue;
    text += "\n" + std::string(knob.name) + "=" + value;
  }
  return text;
}

TableColumn words_column(const Ledger& ledger) {
  TableColumn out;
  out.kind = TableColumn::Kind::kText;
  out.cell = [&](std::size_t row) { return TableCell::words(words_of_run(ledger.rows[row])); };
  return out;
}

TableColumn sortable(const Ledger& ledger, const LedgerColumn& column) {
  TableColumn out;
  out.title = column.title;
  out.cell = [&](std::size_t row) { return column.cell(ledger.rows[row], {}); };
  if (column.number) out.number = [&](std::size_t row) { return column.number(ledger.rows[row]); };
  return out;
}

}  // namespace

std::vector<LedgerRow> ordered_runs(const Ledger& ledger, const TableSort& sort,
                                    std::string_view filter) {
  const LedgerTable ledger_columns = ledger_table(ledger);
  Table table;
  table.rows = ledger.rows.size();
  table.columns.push_back(words_column(ledger));
  for (const LedgerColumn& column : ledger_columns.columns) {
    if (column.title == sort.column) table.columns.push_back(sortable(ledger, column));
  }
  std::vector<LedgerRow> rows;
  for (const auto row : table_order(table, sort, filter)) rows.push_back(ledger.rows[row]);
  return rows;
}

TableSort next_run_sort(const TableSort& sort, const LedgerColumn& column) {
  // Figures from the greatest first, as in other tables; words from the first.
  const bool first = static_cast<bool>(column.number);
  if (sort.column != column.title) return {column.title, first};
  if (sort.descending == first) return {column.title, !first};
  return {};
}

std::vector<std::string> runs_between(const std::vector<LedgerRow>& rows, std::string_view from,
                                      std::string_view to) {
  const auto place = [&](std::string_view folder) {
    return std::ranges::find(rows, folder, &LedgerRow::folder) - rows.begin();
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

}  // namespace shardlens::ui
