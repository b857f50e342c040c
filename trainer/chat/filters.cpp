// How filters and tests are found and applied.
#include <algorithm>
#include <array>

#include "trainer/chat/builtins.h"
#include "trainer/chat/interpreter.h"
#include "trainer/chat/operators.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

const Filter* filter_named(std::string_view name) {
  for (const auto filters :
       {text_filters(), number_filters(), sequence_filters(), lazy_filters()}) {
    const auto found = std::find_if(filters.begin(), filters.end(),
                                    [&](const Filter& filter) { return filter.name == name; });
    if (found != filters.end()) return &*found;
  }
  return nullptr;
}

bool unsupported_filter(std::string_view name) {
  constexpr std::array<std::string_view, 9> kNames = {"filesizeformat", "groupby",   "pprint",
                                                      "random",         "striptags", "urlencode",
                                                      "urlize",         "wordwrap",  "xmlattr"};
  return std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

Result<Value> Interpreter::apply_filter(std::string_view name, Value input, Arguments arguments) {
  const Filter* filter = filter_named(name);
  if (filter == nullptr) {
    return fail(ErrorKind::kDamaged, "the filter '" + std::string(name) + "' is not " +
                                         (unsupported_filter(name) ? "supported" : "known"));
  }
  if (input.is_text()) TRY(budget_.spend(input.as_text().size()));
  arguments.callee = filter->name;
  return filter->body(*this, input, std::move(arguments));
}

Result<bool> Interpreter::apply_test(std::string_view name, const Value& input,
                                     Arguments arguments) {
  const Test* test = test_named(name);
  if (test == nullptr) {
    return fail(ErrorKind::kDamaged, "the test '" + std::string(name) + "' is not known");
  }
  arguments.callee = test->name;
  return test->body(*this, input, std::move(arguments));
}

Result<Value> attribute_by_path(Interpreter& interpreter, Value item, const Value& path,
                                const Value* fallback) {
  const auto step = [&](const Value& part) -> Result<void> {
    TRY_ASSIGN(item, item_of(interpreter, item, part));
    if (fallback != nullptr && item.is_undefined()) item = *fallback;
    return {};
  };
  if (path.is_none()) return item;
  if (!path.is_text()) {
    TRY(step(path));
    return item;
  }
  for (const std::string_view part : split(path.as_text(), ".", -1)) {
    const bool digits = all_have(part, kDigit);
    const auto index = digits ? parse_integer(part, 10) : std::nullopt;
    TRY(step(index ? Value::integer(*index) : Value::text(std::string(part))));
  }
  return item;
}

Result<Value> comparison_key(Interpreter& interpreter, const Value& value, bool case_sensitive) {
  if (case_sensitive || !value.is_text()) return value;
  TRY(interpreter.budget().spend(value.as_text().size()));
  return Value::text(lower(value.as_text()));
}

}  // namespace shardlens::trainer::chat
