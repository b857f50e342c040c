// Queries that teach the tables. Plain values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/timeline/values/timeline_rows.h"

namespace shardlens::ui::inspect {

struct SqlExample {
  std::string_view title;
  std::string_view query;
};

// Those that have something to show of a run; of one that is not open yet (null) all.
std::vector<SqlExample> sql_examples(const trace::timeline::TimelineRows* rows);
// "select … from kernel …", with a table that the run has.
std::string sql_hint(const trace::timeline::TimelineRows* rows);

}  // namespace shardlens::ui::inspect
