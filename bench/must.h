// What a benchmark needs to go on: thrown if it failed, and told at the end. Any thread.
#pragma once

#include <cstdio>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "trace/base/result.h"

namespace shardlens::bench {

template <typename T>
T must(trace::base::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

// The exit code: 1 after an exception, whose message is on standard error.
template <typename Work>
int exit_code_of(Work work) {
  try {
    work();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return 1;
  }
}

}  // namespace shardlens::bench
