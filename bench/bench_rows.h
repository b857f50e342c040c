// The rows a benchmark prints: one JSON array on standard output. One thread.
#pragma once

#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "trace/base/number_text.h"

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

}  // namespace shardlens::bench
