// What benchmarks have in common: the rows that they print, one JSON array on standard output, what
// they need to go on, and times of threads and processes. Rows: one thread; else any.
#pragma once

#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/base/number_text.h"
#include "trace/base/result.h"

namespace shardlens::bench {

struct BenchRow {
  std::string what;
  double value = 0;
  std::string unit;
  std::string budget{};  // "<= 1 %", …; "" for none
  std::optional<bool> met{};
  std::string peer{};             // what it is compared with; "" for nothing
  std::optional<double> ratio{};  // value ÷ the peer's
};

inline std::string json_number(std::optional<double> number) {
  if (!number || !std::isfinite(*number)) return "null";
  return trace::base::formatted("%.6g", *number);
}

// Texts come from the benchmarks themselves and hold nothing to escape.
inline std::string json_text(const std::string& text) {
  return text.empty() ? "null" : "\"" + text + "\"";
}

inline void print_rows(const std::vector<BenchRow>& rows) {
  std::string out = "[";
  for (const BenchRow& row : rows) {
    if (out.size() > 1) out += ",";
    out += "\n  {\"what\": " + json_text(row.what) + ", \"value\": " + json_number(row.value) +
           ", \"unit\": " + json_text(row.unit) + ", \"peer\": " + json_text(row.peer) +
           ", \"ratio\": " + json_number(row.ratio) + ", \"budget\": " + json_text(row.budget) +
           ", \"met\": " + (row.met ? (*row.met ? "true" : "false") : "null") + "}";
  }
  std::puts((out + "\n]").c_str());
}

// What failed is thrown.
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

inline double seconds_on(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
}

// Of the calling thread: what other programs do meanwhile does not count.
inline double thread_cpu_ms() { return 1e3 * seconds_on(CLOCK_THREAD_CPUTIME_ID); }

// NaN of nothing.
inline double quantile(std::vector<double> values, double share) {
  if (values.empty()) return std::nan("");
  std::sort(values.begin(), values.end());
  return values[static_cast<std::size_t>(share * static_cast<double>(values.size() - 1))];
}

}  // namespace shardlens::bench
