// Queries that teach the tables. Plain values, any thread.
#pragma once

#include <span>
#include <string_view>

namespace shardlens::ui {

struct SqlExample {
  std::string_view title;
  std::string_view query;
};

std::span<const SqlExample> sql_examples();

}  // namespace shardlens::ui
