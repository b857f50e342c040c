// What a benchmark needs to go on: thrown if it failed. Any thread.
#pragma once

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

}  // namespace shardlens::bench
