#include "trainer/chat/interpreter.h"
#include "trainer/chat/methods.h"
#include "trainer/chat/python_text.h"
#include "trainer/chat/unicode_tables.h"

namespace shardlens::trainer::chat {

namespace {

template <std::string (*kChange)(std::string_view)>
Result<Value> change_case(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY(interpreter.budget().spend(self.as_text().size() * 4));
  return interpreter.budget().text(kChange(self.as_text()), self.is_safe());
}

template <bool (*kQuestion)(std::string_view)>
Result<Value> ask(Interpreter& interpreter, const Value& self, Arguments arguments) {
  TRY(bind_arguments(std::move(arguments), {}, 0));
  TRY(interpreter.budget().spend(self.as_text().size() * 4));
  return Value::boolean(kQuestion(self.as_text()));
}

template <std::uint32_t kTraits>
bool all_with(std::string_view text) {
  return all_have(text, kTraits);
}

bool all_printable(std::string_view text) { return text.empty() || all_have(text, kPrintable); }

bool all_ascii(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  }
  return true;
}

constexpr Method kMethods[] = {
    {"upper", change_case<upper>},
    {"lower", change_case<lower>},
    {"capitalize", change_case<capitalize>},
    {"title", change_case<title>},
    {"swapcase", change_case<swap_case>},
    {"isupper", ask<is_upper>},
    {"islower", ask<is_lower>},
    {"istitle", ask<is_title>},
    {"isspace", ask<all_spaces>},
    {"isalpha", ask<all_with<kAlphabetic>>},
    {"isdigit", ask<all_with<kDigit>>},
    {"isdecimal", ask<all_with<kDecimal>>},
    {"isnumeric", ask<all_with<kNumeric>>},
    {"isalnum", ask<all_with<kAlphanumeric>>},
    {"isprintable", ask<all_printable>},
    {"isascii", ask<all_ascii>},
};

}  // namespace

std::span<const Method> text_case_methods() { return kMethods; }

}  // namespace shardlens::trainer::chat
