#include "trace/huggingface/config_keys.h"

#include <cmath>
#include <utility>

namespace shardlens::trace {

namespace {

constexpr std::size_t kShownCharacters = 40;

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters) + "…";
  return text;
}

std::string number_text(double value) { return shown(nlohmann::json(value)); }

}  // namespace

ConfigKeys::ConfigKeys(const nlohmann::json& object, std::vector<std::string>& problems,
                       std::string prefix)
    : object_(object), problems_(problems), prefix_(std::move(prefix)) {}

const nlohmann::json* ConfigKeys::find(std::string_view key) const {
  const auto at = object_.find(std::string(key));
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

void ConfigKeys::problem(std::string_view key, const std::string& what) {
  problems_.push_back(prefix_ + std::string(key) + " " + what);
}

std::int64_t ConfigKeys::count(std::string_view key, CountRange range,
                               std::optional<std::int64_t> automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    if (!automatic) problem(key, "is missing");
    return automatic.value_or(range.least);
  }
  const bool is_whole = value->is_number_integer();
  const bool fits =
      is_whole && (!value->is_number_unsigned() ||
                   value->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t count = fits ? value->get<std::int64_t>() : range.least - 1;
  if (count >= range.least && count <= range.most) return count;
  problem(key, "is " + shown(*value) + ", not a whole number from " + std::to_string(range.least) +
                   " to " + std::to_string(range.most));
  return range.least;
}

double ConfigKeys::number(std::string_view key, double least, double most,
                          std::optional<double> automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    if (!automatic) problem(key, "is missing");
    return automatic.value_or(least);
  }
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (number >= least && number <= most) return number;
  problem(key, "is " + shown(*value) + ", not a number from " + number_text(least) + " to " +
                   number_text(most));
  return least;
}

bool ConfigKeys::flag(std::string_view key, bool automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return automatic;
  if (value->is_boolean()) return value->get<bool>();
  problem(key, "is " + shown(*value) + ", not true or false");
  return automatic;
}

std::string ConfigKeys::text(std::string_view key, std::string_view automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::string(automatic);
  if (value->is_string()) return value->get<std::string>();
  problem(key, "is " + shown(*value) + ", not a text");
  return std::string(automatic);
}

const nlohmann::json* ConfigKeys::object(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr || value->is_object()) return value;
  problem(key, "is " + shown(*value) + ", not an object");
  return nullptr;
}

void ConfigKeys::must_be_absent(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value != nullptr) problem(key, "(" + shown(*value) + ") is not implemented");
}

void ConfigKeys::must_be_off(std::string_view key) {
  if (flag(key, false)) problem(key, "(true) is not implemented");
}

}  // namespace shardlens::trace
