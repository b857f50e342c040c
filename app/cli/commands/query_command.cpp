// `shardlens query`: SQL over the rows and events of a run, all ranks together, reading only.
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <iterator>
#include <set>
#include <utility>
#include <variant>

#include "app/cli/commands.h"
#include "app/cli/terminal/lesson_text.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/cli/terminal/stop_request.h"
#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "app/session/runs/listed_runs.h"
#include "trace/base/text.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sql/query.h"
#include "ui/present/table_model.h"

namespace shardlens::app::cli {
namespace {

using trace::store::QueryResult;
using trace::store::QueryValue;

struct QueryArguments : CommonArguments {
  std::string run;
  std::string sql;
};

report::Json value_json(const QueryValue& value) {
  if (const auto* integer = std::get_if<std::int64_t>(&value)) return *integer;
  if (const auto* real = std::get_if<double>(&value)) return report::number_or_null(*real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return nullptr;
}

// Rows as arrays: two columns may have one name.
std::string as_json(const QueryResult& result) {
  report::Json rows = report::Json::array();
  for (const auto& row : result.rows) {
    report::Json values = report::Json::array();
    for (const auto& value : row) values.push_back(value_json(value));
    rows.push_back(std::move(values));
  }
  return report::dump_json({{"columns", result.columns}, {"rows", std::move(rows)}});
}

// RFC 4180, with lines that end in "\n" as Unix tools expect.
template <typename Values, typename ToText>
std::string csv_line(const Values& values, ToText text_of) {
  const auto field = [&](const auto& value) { return ui::present::csv_field(text_of(value)); };
  return trace::base::joined(values, ",", field) + "\n";
}

std::string names_as_csv(const std::vector<std::string>& columns) {
  return csv_line(columns, [](const std::string& name) { return name; });
}

std::string row_as_csv(const std::vector<QueryValue>& row) {
  return csv_line(row, [](const QueryValue& value) { return trace::store::to_text(value); });
}

// A file, or another program, gets values as they are.
std::string as_table(const QueryResult& result) {
  const std::size_t longest = isatty(STDOUT_FILENO) == 1 ? 60 : std::string::npos;
  std::vector<report::TextTable::Column> columns;
  for (std::size_t i = 0; i < result.columns.size(); ++i) {
    const bool numeric = !result.rows.empty() && trace::store::is_number(result.rows.front()[i]);
    const auto align = numeric ? report::Align::kRight : report::Align::kLeft;
    columns.push_back({result.columns[i], align, longest});
  }
  report::TextTable table(std::move(columns));
  for (const auto& row : result.rows) {
    std::vector<std::string> cells;
    for (const auto& value : row) cells.push_back(trace::store::to_text(value));
    table.add_row(std::move(cells));
  }
  return table.text("");
}

trace::base::Result<int> query(const QueryArguments& options) {
  TRY_ASSIGN(const auto run, session::find_listed_run(options.run, options.runs_dir));
  StopRequest stop;
  trace::store::QueryOptions how;
  bool is_read = true;
  how.interrupted = [&] {
    is_read = is_read && !reader_has_left();
    return !is_read || stop.is_made();
  };
  constexpr std::size_t kWrittenAtOnce = 1 << 16;
  std::string csv;
  bool has_rows = false;
  if (options.format == "csv") {
    how.take_row = [&](const auto& columns, const auto& row) {
      if (!std::exchange(has_rows, true)) csv = names_as_csv(columns);
      csv += row_as_csv(row);
      if (csv.size() > kWrittenAtOnce) print_data(std::exchange(csv, {}));
    };
  }
  const std::string sql =
      options.sql == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : options.sql;
  const auto result = trace::store::query_run(run, sql, how);
  if (!result && !is_read) return kDone;
  if (!result) return tl::make_unexpected(result.error());
  if (options.format == "csv") {
    print_data(has_rows ? csv : names_as_csv(result->columns));
  } else {
    print_result(options.as_json() ? as_json(*result) : as_table(*result));
  }
  for (const std::string& problem : result->left_out)
    print_message("error: the answer lacks a rank: " + problem);
  return result->left_out.empty() ? kDone : kFailed;
}

std::string tables_text() {
  std::vector<std::string> rows;
  for (const auto& table : trace::store::query_tables()) {
    const auto is_it = [&](const auto& events) { return events.name == table.name; };
    if (std::ranges::none_of(trace::store::event_tables(), is_it)) rows.push_back(table.name);
  }
  std::string text = "Tables of rows (\"select * from step limit 1\" shows the columns):\n";
  text += wrapped(trace::base::joined(rows), "  ") +
          "Tables of events, read from the compressed blocks as needed:\n";
  std::set<trace::store::EventColumn> columns;
  for (const trace::store::EventTable& table : trace::store::event_tables()) {
    std::vector<std::string_view> names;
    for (const trace::store::EventColumn column : table.columns) {
      names.emplace_back(trace::store::traits_of(column).name);
      columns.insert(column);
    }
    text += "  " + table.name + ": " + table.description + "\n" +
            wrapped(trace::base::joined(names), "    ");
  }
  text += "Their columns:\n";
  for (const trace::store::EventColumn column : columns) {
    const trace::store::EventColumnTraits& traits = trace::store::traits_of(column);
    std::string name(traits.name);
    name.resize(12, ' ');
    text += "  " + name + std::string(traits.description) + "\n";
  }
  return text +
         "Conditions on rank, lane, step, name, start_ns and end_ns are quick: only blocks that\n"
         "can hold an answer are read. Grouping by rank, lane and name needs no sort.\n"
         "Beside SQLite's own functions there are median(x), percentile(x, p) and stdev(x).\n";
}

}  // namespace

void add_query_command(CommandLine& line) {
  const auto [command, options] =
      add_command(line, "query", "SQL over a run, all ranks together, reading only", query);
  add_run(*command, options->run);
  command->add_option("SQL", options->sql, "One SELECT; - reads it from standard input")
      ->required();
  add_common(*command, *options, {"table", "csv", "json"});
  command->footer(
      "Every table holds the rows of all ranks; times are in ns, sizes in bytes.\n" +
      tables_text() +
      "\n"
      "Examples:\n"
      "  shardlens query baseline \"select name, count(*), sum(duration_ns) / 1e6 as ms from op "
      "\\\n"
      "    where rank = 1 group by name order by ms desc limit 10\"\n"
      "  shardlens query baseline \"select s.step, count(*) from step s join kernel k \\\n"
      "    on k.rank = s.rank and k.step = s.step group by 1\"\n"
      "  shardlens query baseline --format csv \\\n"
      "    \"select step, (end_ns - start_ns) / 1e6 as ms, loss from step where rank = 0\"");
}

}  // namespace shardlens::app::cli
