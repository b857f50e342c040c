#include "trace/store/older_formats.h"

#include <algorithm>

#include "trace/store/schema.h"

namespace shardlens::trace {

namespace {

// What a column holds that a file does not have: nothing known.
std::string missing_value(const Column& column) {
  if (!column.type.ends_with("NOT NULL")) return "null";
  return column.type.starts_with("TEXT") ? "''" : "0";
}

// Until format 8 what is not known was kept as a number, mostly 0. Some of them can be true zeros:
// then the row has another column that tells. "" for a column that is always known.
std::string known_of_format_8(const std::string& table, const std::string& column) {
  struct Rule {
    std::string_view table, column, expression;
  };
  constexpr std::string_view kIfNotZero = "nullif(?,0)", kIfNotNegative = "nullif(?,-1)";
  constexpr std::string_view kIfTold = "iif(tokens=0 and samples=0,null,?)";
  constexpr std::string_view kOfCall = "iif(?=0 and function<>'barrier',null,?)";
  constexpr std::string_view kOfLauncher = "iif(process_id=0,null,?)";
  // Of our own programs something is always outside of PyTorch.
  constexpr std::string_view kCategory =
      "iif(outside_bytes=0 and parameters_bytes=0 and gathered_parameters_bytes=0 and "
      "gradients_bytes=0 and optimizer_bytes=0 and activations_bytes=0 and "
      "communication_bytes=0 and other_bytes<>0,null,?)";
  constexpr std::string_view kHighest =
      "iif(is_peak and other_highest_bytes+parameters_highest_"
      "bytes+outside_highest_bytes+activations_highest_bytes<>0,?,null)";
  constexpr Rule kRules[] = {
      {"step", "learning_rate", kIfTold},
      {"step", "tokens", kIfNotZero},
      {"step", "samples", kIfNotZero},
      {"step", "model_flops", kIfNotZero},
      {"step", "nonfinite", "iif(?=0 and loss is null and gradient_norm is null,null,?)"},
      {"collective", "sequence", kIfNotNegative},
      {"collective", "channels", kIfNotZero},
      {"collective", "enqueued_ns", "nullif(?,start_ns)"},
      {"collective", "bytes", kOfCall},
      {"pending", "sequence", kIfNotNegative},
      {"pending", "bytes", kOfCall},
      {"memory", "other_bytes", ""},
      {"memory", "*_highest_bytes", kHighest},
      {"memory", "device_used_bytes", kIfNotNegative},
      {"memory", "device_total_bytes", kIfNotNegative},
      {"memory", "reserved_bytes", "iif(?=0 and other_bytes<>0,null,?)"},
      {"memory", "*_bytes", kCategory},
      {"recorder_cost", "callback_ns", "iif(?=0 and events<>0,null,?)"},
      {"rank", "local_rank", kOfLauncher},
      {"rank", "process_id", kIfNotZero},
      {"rank", "peak_flops", kIfNotZero},
      {"rank", "parameters", kIfNotZero},
      {"rank", "trained_parameters", kIfNotZero},
      {"rank", "link_bytes_per_second", kIfNotZero}};
  for (const Rule& rule : kRules) {
    const bool is_ending = rule.column.starts_with('*');
    const bool is_meant =
        is_ending ? column.ends_with(rule.column.substr(1)) : column == rule.column;
    if (rule.table != table || !is_meant) continue;
    std::string text;
    for (const char c : rule.expression) c == '?' ? text += column : text += c;
    return text;
  }
  return {};
}

// "row_id,rank,nullif(tokens,0) as tokens,…"
std::string known_columns(const TableSchema& table, const std::vector<std::string>& found,
                          bool is_of_format_8) {
  std::string sql;
  for (const Column& column : table.columns) {
    const bool is_there = std::ranges::find(found, column.name) != found.end();
    const std::string known = is_of_format_8 ? known_of_format_8(table.name, column.name) : "";
    if (!sql.empty()) sql += ",";
    if (!is_there) sql += missing_value(column) + " as ";
    if (is_there && !known.empty()) sql += known + " as ";
    sql += column.name;
  }
  return sql;
}

std::string empty_table_sql(const TableSchema& table) {
  return "create temp table " + table.name + "(" + column_names(table.columns) + ")";
}

}  // namespace

Result<std::vector<std::string>> columns_in_file(Database& database, std::string_view table) {
  TRY_ASSIGN(auto statement, database.prepare("select name from pragma_table_info(?1, 'main')"));
  statement.bind_text(1, table);
  std::vector<std::string> names;
  while (true) {
    TRY_ASSIGN(const bool more, statement.step());
    if (!more) return names;
    names.emplace_back(statement.text(0));
  }
}

Result<void> complete_older_format(Database& database) {
  TRY_ASSIGN(const auto version, database.integer("pragma user_version"));
  if (version >= kSchemaVersion) return {};
  // In memory: the folder for temporary files may be full or missing.
  TRY(database.execute("pragma temp_store=memory"));
  for (const TableSchema& table : trace_tables()) {
    TRY_ASSIGN(const auto found, columns_in_file(database, table.name));
    const std::string known = known_columns(table, found, version <= 8);
    if (known == column_names(table.columns)) continue;
    TRY(database.execute(found.empty() ? empty_table_sql(table)
                                       : "create temp view " + table.name + " as select " + known +
                                             " from main." + table.name));
  }
  return {};
}

}  // namespace shardlens::trace
