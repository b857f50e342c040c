// Texts with places for values: Python's `text % values` and text.format(…). One thread for a
// budget.
#pragma once

#include <cstdint>
#include <string>

#include "trainer/chat/object.h"
#include "trainer/chat/render_budget.h"

namespace shardlens::trainer::chat {

// `values` is a tuple for several places, a dict for places with names.
Result<Value> formatted_percent(RenderBudget& budget, const Value& format, const Value& values);
Result<Value> formatted_braces(Interpreter& interpreter, const Value& format,
                               const Arguments& arguments);

// Widths and precisions that no chat needs are refused before they cost memory.
inline constexpr std::int64_t kLargestWidth = 10'000;

// How a value is set: [[fill]align][sign][#][0][width][,][.precision][type] of Python's format().
struct FormatSpec {
  std::string fill = " ";
  char align = '\0';
  char sign = '-';
  bool alternate = false;
  bool zero = false;
  char grouping = '\0';
  std::int64_t width = 0;
  std::int64_t precision = -1;
  char type = '\0';
};
// A number without its padding, but with the zeros that `zero` asks for.
Result<std::string> set_number(const Value& value, const FormatSpec& spec);
Result<std::string> padded(RenderBudget& budget, std::string text, const FormatSpec& spec,
                           char usual_align);

// The error of a format: "a text to be formatted " + what.
tl::unexpected<Error> unformattable(const std::string& what);

}  // namespace shardlens::trainer::chat
