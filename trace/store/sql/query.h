// SQL over all ranks of a run, reading only. Any thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::store {

// NULL, integer, real or text; a blob is shown as "<123 bytes>".
using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;
std::string to_text(const QueryValue& value);  // NULL is ""
inline bool is_number(const QueryValue& value) {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
  bool truncated = false;             // there were more rows than the limit
  std::int64_t decoded_chunks = 0;    // of bulk events: what the query really had to read
  std::vector<std::string> left_out;  // ranks whose file cannot be opened, and why
};

struct QueryOptions {
  std::int64_t row_limit = INT64_MAX;
  // Of all values together; an answer that is larger is kFailed.
  std::int64_t byte_limit = std::int64_t{1} << 30;
  // Of all that is read for it, beside what its answer and the work for that need.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  // Takes each row as it comes, with the columns' names in `QueryResult`, which then has no rows,
  // and needs no memory for them.
  std::function<void(const std::vector<std::string>&, const std::vector<QueryValue>&)> take_row =
      {};
  std::function<bool()> interrupted =
      {};  // asked every few milliseconds; true ends it with kFailed
  // Where it is told at which byte of the SQL the mistake is, if that is known.
  std::optional<std::size_t>* wrong_at = nullptr;
};

// One SELECT over the row tables (`step`, `collective`, `memory`, …) and the tables of bulk events
// (event_tables.h), each holding those of all ranks, of a run's folder or packed file. Errors:
// kUsage for the SQL, with the list of tables, or of columns.
base::Result<QueryResult> query_run(const std::filesystem::path& run, const std::string& sql,
                                    const QueryOptions& options = {});

// What a query may name: tables with their columns, for help texts and completion.
struct QueryTable {
  std::string name;
  std::vector<std::string> columns;
};
std::vector<QueryTable> query_tables();

}  // namespace shardlens::trace::store
