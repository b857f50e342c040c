// What no file should be able to cause, as an error like any other. The thread that reads.
#pragma once

#include <exception>
#include <string>
#include <string_view>

#include "trace/base/file_system.h"
#include "trace/base/result.h"

namespace shardlens::app::session {

// A damaged file may say what no memory suffices for. `thrown`: what was, while it was read.
inline std::string unreadable_text(const std::string& run, std::string_view thrown) {
  return trace::base::quoted(run) + " is damaged, or too large for this machine's memory (" +
         std::string(thrown) + ")";
}

// What `read` returns, a Result; what it throws is the error of this run: others are still to be
// read.
template <typename Read>
auto read_safely(const std::string& run, Read read) -> decltype(read()) {
  try {
    return read();
  } catch (const std::exception& error) {
    return trace::base::fail(trace::base::ErrorKind::kDamaged, unreadable_text(run, error.what()));
  }
}

}  // namespace shardlens::app::session
