// How commands speak: results on standard output, everything else on standard error. Main thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"

namespace CLI {
class App;
}

namespace shardlens::app::cli {

// With what the program leaves: a contract with scripts.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

// All that commands print passes here, where text from outside loses what a terminal would obey.
void print_result(std::string_view text);   // standard output, flushed
void print_message(std::string_view text);  // standard error, with a newline
void print_lines(std::string_view text);    // the same of every line; nothing of ""
// For other programs, byte by byte, unless standard output is a terminal. Flushed.
void print_data(std::string_view data);
// Of standard output, as that of `shardlens query … | head` has: what follows is for nobody.
bool reader_has_left();

// "error: …" on one line of standard error. Returns the exit code: 2 for wrong use, 1 for all else.
int report_error(const trace::base::Error& error);

// RUN, as every command has it that needs one.
void add_run(CLI::App& command, std::string& run);
// --runs-dir, as every command has it.
void add_runs_dir(CLI::App& command, std::filesystem::path& runs_dir);
// --format with these choices, the first being the default, and --json for the choice "json".
void add_format(CLI::App& command, std::string& format, const std::vector<std::string>& choices);

}  // namespace shardlens::app::cli
