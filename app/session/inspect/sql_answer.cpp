#include "app/session/inspect/sql_answer.h"

#include <chrono>
#include <utility>
#include <variant>

#include "app/session/worker/read_safely.h"
#include "trace/store/sql/query.h"

namespace shardlens::app::session {

namespace {

// More than anybody reads; the note below the table says that there were more.
constexpr std::int64_t kMostRows = 10'000;

void take_rows(ui::state::SqlAnswer& answer, const trace::store::QueryResult& result) {
  answer.columns = result.columns;
  answer.truncated = result.truncated;
  answer.is_number.assign(result.columns.size(), !result.rows.empty());
  for (const auto& row : result.rows) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const bool is_null = std::holds_alternative<std::monostate>(row[i]);
      if (!is_null && !trace::store::is_number(row[i])) answer.is_number[i] = false;
      texts.push_back(trace::store::to_text(row[i]));
    }
    answer.rows.push_back(std::move(texts));
  }
}

}  // namespace

ui::state::SqlAnswer ask_sql(const std::filesystem::path& run, const std::string& query,
                             const std::function<bool()>& wanted) {
  ui::state::SqlAnswer answer;
  answer.query = query;
  const auto begin = std::chrono::steady_clock::now();
  const auto result = read_safely(run.string(), [&] {
    return trace::store::query_run(run, query,
                                   {.row_limit = kMostRows,
                                    .interrupted = [&] { return !wanted(); },
                                    .wrong_at = &answer.wrong_at});
  });
  answer.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (result) {
    take_rows(answer, *result);
    if (!result->left_out.empty()) answer.left_out = result->left_out.front();
  } else {
    answer.error = result.error().message;
  }
  return answer;
}

std::vector<ui::state::SqlConsole::Table> sql_tables() {
  std::vector<ui::state::SqlConsole::Table> tables;
  for (auto& table : trace::store::query_tables()) {
    tables.push_back({std::move(table.name), std::move(table.columns)});
  }
  return tables;
}

}  // namespace shardlens::app::session
