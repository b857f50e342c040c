#include "trace/frameworks/read/config_reader.h"

#include <algorithm>
#include <cmath>

#include "trace/base/printable.h"
#include "trace/base/text.h"

namespace shardlens::trace::frameworks {

namespace {

constexpr std::string_view kFilledIn = "auto";
constexpr double kMostWhole = 9e15;  // beyond, a double skips integers

// As JSON and YAML 1.1 write it.
std::optional<bool> parse_boolean(std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on"}) {
    if (base::equal_but_for_case(text, yes)) return true;
  }
  for (const std::string_view no : {"false", "no", "off"}) {
    if (base::equal_but_for_case(text, no)) return false;
  }
  return {};
}

std::string not_valid(const std::string& text, std::string_view use) {
  return "'" + base::shortened(text) + "' is not valid; use " + std::string(use);
}

}  // namespace

std::string reason_of_key(std::span<const KeyReason> reasons, std::string_view key) {
  const auto found = std::ranges::find_if(
      reasons, [&](const KeyReason& reason) { return key.starts_with(reason.begin); });
  return std::string(found == reasons.end() ? "Shardlens has no such setting" : found->text);
}

ConfigReader::ConfigReader(const ConfigFile& file, Framework framework, std::int64_t ranks)
    : file_(file) {
  result_.framework = framework;
  result_.settings.ranks = ranks;
}

const ConfigEntry* ConfigReader::take(std::string_view key) {
  const ConfigEntry* entry = file_.find(key);
  if (entry == nullptr) return nullptr;
  taken_.insert(entry->key);
  if (entry->is_null) return nullptr;
  if (entry->text == kFilledIn) {
    ignore(key, "the program that reads the file fills it in");
    return nullptr;
  }
  return entry;
}

void ConfigReader::leave(std::initializer_list<std::string_view> knobs) {
  result_.left_to_program.insert(result_.left_to_program.end(), knobs);
}

bool ConfigReader::is_left(std::string_view key, std::initializer_list<std::string_view> knobs) {
  const ConfigEntry* entry = file_.find(key);
  if (entry == nullptr || entry->text != kFilledIn) return false;
  take(key);
  leave(knobs);
  return true;
}

template <typename Value>
std::optional<Value> ConfigReader::single(std::string_view key,
                                          std::optional<Value> (*parse)(std::string_view),
                                          std::string_view use) {
  const ConfigEntry* entry = take(key);
  if (entry == nullptr) return {};
  const auto value = entry->is_list ? std::nullopt : parse(entry->text);
  if (!value) fail(key, not_valid(entry->text, use));
  return value;
}

std::optional<double> ConfigReader::number(std::string_view key) {
  return single<double>(key, base::number_from<double>, "a number");
}

std::optional<std::int64_t> ConfigReader::whole(std::string_view key) {
  const auto value = number(key);
  if (!value) return {};
  if (*value != std::floor(*value) || std::abs(*value) > kMostWhole) {
    fail(key, not_valid(file_.find(key)->text, "a whole number"));
    return {};
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<bool> ConfigReader::boolean(std::string_view key) {
  return single<bool>(key, parse_boolean, "true or false");
}

std::optional<std::string> ConfigReader::text(std::string_view key) {
  const auto as_it_is = [](std::string_view text) { return std::optional<std::string>(text); };
  return single<std::string>(key, as_it_is, "one word, no list");
}

std::optional<std::vector<double>> ConfigReader::numbers(std::string_view key) {
  const ConfigEntry* entry = take(key);
  if (entry == nullptr) return {};
  std::vector<double> values;
  for (const std::string& item : entry->items) {
    const auto value = base::number_from<double>(item);
    if (value) values.push_back(*value);
  }
  if (!entry->is_list || values.size() != entry->items.size()) {
    fail(key, not_valid(entry->text, "a list of numbers"));
    return {};
  }
  return values;
}

bool ConfigReader::take_empty_list(std::string_view key) {
  const ConfigEntry* entry = file_.find(key);
  const bool is_empty = entry != nullptr && entry->is_list && entry->items.empty();
  if (is_empty) taken_.insert(entry->key);
  return is_empty;
}

void ConfigReader::set(std::string_view knob, const std::string& value, std::string_view key) {
  const auto done = job::set_value(result_.settings, knob, value);
  if (!done) return fail(key, "as " + done.error().message);
  say(job::find_knob(knob)->name);
}

void ConfigReader::ignore(std::string_view key, const std::string& reason) {
  const ConfigEntry* entry = file_.find(key);
  if (entry == nullptr) return;
  taken_.insert(entry->key);
  ignored_.push_back({entry->key, base::shortened(entry->text), reason});
}

void ConfigReader::fail(std::string_view key, const std::string& message) {
  if (problem_.empty()) problem_ = std::string(key) + ": " + message;
}

base::Result<ForeignSettings> ConfigReader::finish(
    const std::function<std::string(std::string_view)>& reason) {
  if (!problem_.empty()) {
    return base::fail(base::ErrorKind::kUsage,
                      base::printable_line(file_.source + ": " + problem_));
  }
  for (const ConfigEntry& entry : file_.entries) {
    const auto known = std::ranges::find(ignored_, entry.key, &IgnoredKey::key);
    if (known != ignored_.end()) {
      result_.ignored.push_back(*known);
    } else if (!taken_.contains(entry.key)) {
      result_.ignored.push_back(
          {entry.key, base::printable_line(base::shortened(entry.text)), reason(entry.key)});
    }
  }
  return std::move(result_);
}

}  // namespace shardlens::trace::frameworks
