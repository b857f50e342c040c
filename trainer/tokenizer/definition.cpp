#include "trainer/tokenizer/definition.h"

#include <algorithm>
#include <limits>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

std::optional<Definition> Definition::find(std::string_view name) const {
  simdjson::dom::object object;
  if (value_.get(object) != simdjson::SUCCESS) return {};
  simdjson::dom::element found;
  if (object.at_key(name).get(found) != simdjson::SUCCESS || found.is_null()) return {};
  return Definition(found, place_.empty() ? std::string(name) : place_ + "." + std::string(name));
}

Result<Definition> Definition::at(std::string_view name) const {
  if (!is_object()) return error("is no object");
  auto found = find(name);
  if (!found) return error("has no '" + std::string(name) + "'");
  return *std::move(found);
}

Result<std::vector<Definition>> Definition::items() const {
  simdjson::dom::array array;
  if (value_.get(array) != simdjson::SUCCESS) return error("is no list");
  std::vector<Definition> items;
  for (const simdjson::dom::element item : array) {
    items.emplace_back(item, place_ + "[" + std::to_string(items.size()) + "]");
  }
  return items;
}

Result<std::string_view> Definition::text() const {
  std::string_view text;
  if (value_.get(text) != simdjson::SUCCESS) return error("is no text");
  return text;
}

Result<bool> Definition::flag() const {
  bool flag = false;
  if (value_.get(flag) != simdjson::SUCCESS) return error("is neither true nor false");
  return flag;
}

Result<double> Definition::number() const {
  double number = 0;
  if (value_.get(number) != simdjson::SUCCESS) return error("is no number");
  return number;
}

Result<std::uint64_t> Definition::count() const {
  std::uint64_t count = 0;
  if (value_.get(count) != simdjson::SUCCESS) return error("is no whole number of 0 or more");
  return count;
}

Result<TokenId> Definition::id() const {
  std::uint64_t id = 0;
  if (value_.get(id) != simdjson::SUCCESS || id > std::numeric_limits<TokenId>::max()) {
    return error("is no token id (a whole number from 0 to 2147483647)");
  }
  return static_cast<TokenId>(id);
}

Result<char32_t> Definition::character() const {
  TRY_ASSIGN(const std::string_view character, text());
  if (count_characters(character) != 1) return error("is not one character");
  std::size_t at = 0;
  return next_code_point(character, at);
}

Result<std::string_view> Definition::text(std::string_view name) const {
  TRY_ASSIGN(const Definition found, at(name));
  return found.text();
}

Result<bool> Definition::flag(std::string_view name) const {
  TRY_ASSIGN(const Definition found, at(name));
  return found.flag();
}

Result<bool> Definition::flag_or(std::string_view name, bool otherwise) const {
  const auto found = find(name);
  if (!found) return otherwise;
  return found->flag();
}

Result<std::string> Definition::text_or(std::string_view name, std::string otherwise) const {
  const auto found = find(name);
  if (!found) return otherwise;
  TRY_ASSIGN(const std::string_view text, found->text());
  return std::string(text);
}

tl::unexpected<trace::Error> Definition::error(const std::string& problem) const {
  return fail(ErrorKind::kDamaged, (place_.empty() ? "the file" : place_) + " " + problem);
}

Result<std::string_view> type_of(const Definition& definition, std::string_view what,
                                 std::initializer_list<std::string_view> supported) {
  TRY_ASSIGN(const std::string_view type, definition.text("type"));
  if (std::ranges::find(supported, type) != supported.end()) return type;
  std::string names;
  for (const std::string_view name : supported) {
    names += (names.empty() ? "" : ", ") + std::string(name);
  }
  return fail(ErrorKind::kUsage, definition.place() + ": the " + std::string(what) + " '" +
                                     std::string(type.substr(0, 60)) +
                                     "' is not supported. Supported: " + names + ".");
}

}  // namespace shardlens::trainer
