// How commands speak: results on standard output, everything else on standard error. Main thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"

namespace CLI {
class App;
}

namespace shardlens::app {

void print_result(std::string_view text);   // standard output, flushed
void print_message(std::string_view text);  // standard error, with a newline

// "error: …" on standard error. Returns the exit code: 2 for wrong use, 1 for all else.
int report_error(const trace::Error& error);

// --runs-dir, as every command has it.
void add_runs_dir(CLI::App& command, std::filesystem::path& runs_dir);
// --format with these choices, the first being the default, and --json for the choice "json".
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices);

}  // namespace shardlens::app
