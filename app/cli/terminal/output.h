// How commands speak: results on standard output, everything else on standard error. Main thread.
#pragma once

#include <string_view>

#include "trace/base/result.h"

namespace shardlens::app::cli {

// Exit codes: a contract with scripts.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;
inline constexpr int kWrongUse = 2;

// All that commands print passes here, where text from outside loses what a terminal would obey.
void print_result(std::string_view text);   // standard output, flushed
void print_message(std::string_view text);  // standard error, one line
void print_lines(std::string_view text);    // the same of every line; nothing of ""
// For other programs, byte by byte, unless standard output is a terminal. Flushed.
void print_data(std::string_view data);
// Whether nobody reads standard output any more, as once `head` has what it wants of `shardlens
// query … | head`.
bool reader_has_left();

// "error: …" on one line of standard error. Returns the exit code: 2 for wrong use, 1 for all else.
int report_error(const trace::base::Error& error);

}  // namespace shardlens::app::cli
