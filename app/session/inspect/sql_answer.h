// What the SQL console shows of a query over a run. Any thread; slow.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "ui/state/inspect_view.h"

namespace shardlens::app::session {

// `wanted`: asked all the time; false ends it. Problems are in the answer.
ui::state::SqlAnswer ask_sql(const std::filesystem::path& run, const std::string& query,
                             const std::function<bool()>& wanted);

// What a query may name.
std::vector<ui::state::SqlConsole::Table> sql_tables();

}  // namespace shardlens::app::session
