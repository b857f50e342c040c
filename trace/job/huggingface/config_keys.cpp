#include "trace/job/huggingface/config_keys.h"

#include <algorithm>
#include <utility>

#include "trace/base/text.h"

namespace shardlens::trace::job {

namespace {

constexpr std::size_t kShownCharacters = 40;

// "silu is", "gelu, gelu_new and relu are"
std::string are_supported(std::span<const std::string_view> names) {
  return base::listed({names.begin(), names.end()}) + (names.size() == 1 ? " is" : " are");
}

}  // namespace

nlohmann::json parse_config(std::string_view text) {
  constexpr int kDeepest = 64;
  bool is_deep = false;
  const auto keep = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
    is_deep = is_deep || depth > kDeepest;
    return !is_deep;
  };
  auto json = nlohmann::json::parse(text, keep, /*allow_exceptions=*/false);
  return is_deep ? nlohmann::json(nlohmann::json::value_t::discarded) : std::move(json);
}

std::string shown(const nlohmann::json& value) {
  constexpr bool kEscapesToAscii = true;  // no character is cut in two
  std::string text = value.dump(-1, ' ', kEscapesToAscii, nlohmann::json::error_handler_t::replace);
  if (text.size() > kShownCharacters) text = text.substr(0, kShownCharacters) + "…";
  return text;
}

ConfigKeys::ConfigKeys(const nlohmann::json& object, ConfigProblems& problems, std::string prefix)
    : object_(object), problems_(problems), prefix_(std::move(prefix)) {}

const nlohmann::json* ConfigKeys::find(std::string_view key) const {
  const auto at = object_.find(std::string(key));
  return at == object_.end() || at->is_null() ? nullptr : &*at;
}

void ConfigKeys::damaged(std::string_view key, std::string_view what) {
  problems_.damaged.push_back(prefix_ + std::string(key) + " " + std::string(what));
}

void ConfigKeys::unsupported(std::string_view key, std::string_view supported) {
  const nlohmann::json* value = find(key);
  problems_.unsupported.push_back(prefix_ + std::string(key) +
                                  (value == nullptr ? "" : " " + shown(*value)) +
                                  " is not supported (" + std::string(supported) + ")");
}

std::int64_t ConfigKeys::count(std::string_view key, CountRange range,
                               std::optional<std::int64_t> automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    if (!automatic) damaged(key, "is missing");
    return automatic.value_or(range.least);
  }
  const bool is_whole = value->is_number_integer();
  const bool fits =
      is_whole && (!value->is_number_unsigned() ||
                   value->get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
  const std::int64_t count = fits ? value->get<std::int64_t>() : 0;
  if (fits && count >= range.least && count <= range.most) return count;
  damaged(key, "is " + shown(*value) + ", not a whole number from " + std::to_string(range.least) +
                   " to " + std::to_string(range.most));
  return range.least;
}

double ConfigKeys::number(std::string_view key, double least, double most,
                          std::optional<double> automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) {
    if (!automatic) damaged(key, "is missing");
    return automatic.value_or(least);
  }
  const double number = value->is_number() ? value->get<double>() : std::nan("");
  if (number >= least && number <= most) return number;
  damaged(key,
          "is " + shown(*value) + ", not a number from " + shown(least) + " to " + shown(most));
  return least;
}

bool ConfigKeys::flag(std::string_view key, bool automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return automatic;
  if (value->is_boolean()) return value->get<bool>();
  damaged(key, "is " + shown(*value) + ", not true or false");
  return automatic;
}

std::string ConfigKeys::text(std::string_view key, std::string_view automatic) {
  const nlohmann::json* value = find(key);
  if (value == nullptr) return std::string(automatic);
  if (value->is_string()) return value->get<std::string>();
  damaged(key, "is " + shown(*value) + ", not a text");
  return std::string(automatic);
}

std::string ConfigKeys::choice(std::string_view key, std::string_view automatic,
                               std::span<const std::string_view> supported) {
  std::string chosen = text(key, automatic);
  if (chosen == automatic || std::ranges::find(supported, chosen) != supported.end()) return chosen;
  unsupported(key, are_supported(supported));
  return std::string(automatic);
}

const nlohmann::json* ConfigKeys::object(std::string_view key) {
  const nlohmann::json* value = find(key);
  if (value == nullptr || value->is_object()) return value;
  damaged(key, "is " + shown(*value) + ", not an object");
  return nullptr;
}

ConfigKeys ConfigKeys::inside(std::string_view key) {
  static const nlohmann::json kNothing = nlohmann::json::object();
  const nlohmann::json* found = object(key);
  return {found != nullptr ? *found : kNothing, problems_, prefix_ + std::string(key) + "."};
}

void ConfigKeys::must_be_absent(std::string_view key) {
  if (has(key)) unsupported(key, "models without it are");
}

void ConfigKeys::must_be_off(std::string_view key) {
  if (flag(key, false)) unsupported(key, "false is");
}

}  // namespace shardlens::trace::job
