// The filters, tests and global functions of a template. Tables; any thread.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "trainer/chat/object.h"

namespace shardlens::trainer::chat {

struct Filter {
  std::string_view name;
  Result<Value> (*body)(Interpreter&, const Value& input, Arguments);
};
std::span<const Filter> text_filters();
std::span<const Filter> number_filters();
std::span<const Filter> sequence_filters();
// Those that give their items one by one, when they are asked for.
std::span<const Filter> lazy_filters();

// Null: there is none of this name. `unsupported`: Jinja has it, this interpreter does not.
const Filter* filter_named(std::string_view name);
bool unsupported_filter(std::string_view name);

struct Test {
  std::string_view name;
  Result<bool> (*body)(Interpreter&, const Value& input, Arguments);
};
const Test* test_named(std::string_view name);

std::optional<Value> global_named(std::string_view name);

// ---- shared by filters

// What `attribute` names within an item: "a.b", 0, or several with commas between them.
Result<Value> attribute_by_path(Interpreter& interpreter, Value item, const Value& path,
                                const Value* fallback = nullptr);
// The keys that sort and unique compare: texts in lower case unless `case_sensitive`.
Result<Value> comparison_key(Interpreter& interpreter, const Value& value, bool case_sensitive);

}  // namespace shardlens::trainer::chat
