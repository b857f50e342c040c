#include "ui/runs/run_order.h"

#include <algorithm>
#include <iterator>

#include "trace/base/text.h"
#include "trace/job/settings/settings.h"
#include "ui/present/tables/ledger_table.h"

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

struct AskedValue {
  const trace::job::Knob* knob;
  std::string name, text;  // as typed
};

struct Filter {
  std::vector<AskedValue> values;
  std::string words;  // all others
};

Filter parsed(std::string_view filter) {
  Filter parts;
  for (const std::string_view word : trace::base::split(filter, ' ')) {
    const auto equals = std::min(word.find('='), word.size());
    const std::string name(word.substr(0, equals));
    const auto* knob = equals < word.size() ? trace::job::find_knob(name) : nullptr;
    if (knob != nullptr) {
      parts.values.push_back({knob, name, std::string(word.substr(equals + 1))});
    } else {
      parts.words += std::string(word) + " ";
    }
  }
  return parts;
}

// Where the strategy obeys the knob, as in the ledger's column of it. However a value may be
// written; of a free text, such as a path, a part is enough.
bool has_value(const state::LedgerRow& row, const AskedValue& asked) {
  if (asked.text.empty()) return true;  // still being typed
  const trace::job::Knob& knob = *asked.knob;
  if (row.is_imported || !trace::job::applies(knob, row.settings.sharding_strategy)) return false;
  const std::string value = trace::job::value_text(row.settings, knob);
  if (trace::base::equal_but_for_case(value, asked.text)) return true;
  if (trace::job::type_name(knob) == "text") return value.find(asked.text) != std::string::npos;
  trace::job::Settings wanted;
  return trace::job::set_value(wanted, asked.name, asked.text) &&
         trace::job::value_text(wanted, knob) == value;
}

state::Ledger matching(const state::Ledger& ledger, std::string_view filter) {
  const Filter parts = parsed(filter);
  present::Table table;
  table.rows = ledger.rows.size();
  present::TableColumn& words = table.columns.emplace_back();
  words.kind = present::TableColumn::Kind::kText;
  words.cell = [&](std::size_t row) {
    return present::TableCell::words(words_of_run(ledger.rows[row]));
  };
  state::Ledger shown;
  for (const auto row : present::table_order(table, {}, parts.words)) {
    const bool has_all = std::ranges::all_of(
        parts.values, [&](const auto& asked) { return has_value(ledger.rows[row], asked); });
    if (has_all) shown.rows.push_back(ledger.rows[row]);
  }
  return shown;
}

}  // namespace

std::vector<state::LedgerRow> ordered_runs(const state::Ledger& ledger,
                                           const present::TableSort& sort,
                                           std::string_view filter) {
  const state::Ledger shown = matching(ledger, filter);
  // By the columns of the rows that are left, since those are the ones whose heads are clicked.
  const present::Table table = present::ledger_table(shown);
  std::vector<state::LedgerRow> rows;
  for (const auto row : present::table_order(table, sort, "")) rows.push_back(shown.rows[row]);
  return rows;
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
