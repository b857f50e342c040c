#include "trace/frameworks/read/config_file.h"

#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "trace/base/printable.h"
#include "trace/base/text.h"

namespace shardlens::trace::frameworks {

namespace {

using base::Result;
using nlohmann::json;

constexpr int kDeepest = 8;  // DeepSpeed's own keys lie at most five maps deep

tl::unexpected<base::Error> wrong_file(const std::string& source, std::size_t line,
                                       const std::string& message) {
  const std::string place = line > 0 ? ", line " + std::to_string(line) : "";
  return base::fail(base::ErrorKind::kUsage, source + place + ": " + message);
}

std::string below(const std::string& parent, const std::string& key) {
  return parent.empty() ? key : parent + "." + key;
}

tl::unexpected<base::Error> given_twice(const std::string& source, const std::string& key) {
  return wrong_file(source, 0, "'" + base::shortened(key) + "' is given twice: remove one of them");
}

tl::unexpected<base::Error> too_deep(const std::string& source, const std::string& key) {
  return wrong_file(source, 0, "'" + base::shortened(key) + "' is nested too deeply");
}

void add_item(ConfigEntry& entry, std::string text) {
  entry.text += (entry.items.empty() ? "" : ",") + text;
  entry.items.push_back(std::move(text));
}

// ---- JSON

// Of the comment with which the text begins; 0: it does not.
std::size_t comment_size(std::string_view text) {
  const bool is_block = text.starts_with("/*");
  if (!is_block && !text.starts_with("//") && !text.starts_with('#')) return 0;
  const auto end = is_block ? text.find("*/", 2) : text.find('\n');
  return end == text.npos ? text.size() : end + (is_block ? 2 : 0);
}

// Of the string with which the text begins.
std::size_t string_size(std::string_view text) {
  std::size_t end = 1;
  while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
  return std::min(end + 1, text.size());
}

// A list in a list is no knob's value, and may be of any depth.
std::string json_text(const json& value) {
  if (value.is_structured()) return value.is_array() ? "[…]" : "{…}";
  return value.is_string() ? value.get<std::string>()
                           : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

ConfigEntry json_entry(const std::string& key, const json& value) {
  ConfigEntry entry;
  entry.key = key;
  entry.is_null = value.is_null() || (value.is_object() && value.empty());
  entry.is_list = value.is_array();
  if (entry.is_list) {
    for (const json& item : value) add_item(entry, json_text(item));
  } else {
    entry.text = entry.is_null ? "null" : json_text(value);
  }
  return entry;
}

Result<void> flatten_json(const json& node, const std::string& parent, int depth,
                          ConfigFile& file) {
  if (depth > kDeepest) return too_deep(file.source, parent);
  for (const auto& [name, value] : node.items()) {
    const std::string key = below(parent, name);
    if (value.is_object() && !value.empty()) {
      TRY(flatten_json(value, key, depth + 1, file));
    } else {
      file.entries.push_back(json_entry(key, value));
    }
  }
  return {};
}

// The first key that an object has twice; "" of none. What comes last would win silently.
class RepeatedKey {
 public:
  bool see(json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) seen_.emplace_back();
    if (event == json::parse_event_t::object_end) seen_.pop_back();
    if (event == json::parse_event_t::key && key_.empty() &&
        !seen_.back().insert(value.get<std::string>()).second) {
      key_ = value.get<std::string>();
    }
    return true;
  }
  const std::string& key() const { return key_; }

 private:
  std::vector<std::set<std::string>> seen_;
  std::string key_;
};

// ---- YAML

Result<ConfigEntry> yaml_entry(const std::string& key, const YAML::Node& value,
                               const std::string& source) {
  ConfigEntry entry;
  entry.key = key;
  entry.is_null = value.IsNull() || value.IsMap();
  entry.is_list = value.IsSequence();
  if (entry.is_null) entry.text = "null";
  if (value.IsScalar()) entry.text = value.Scalar();
  for (const auto& item : value) {
    if (!item.IsScalar()) return too_deep(source, key);
    add_item(entry, item.Scalar());
  }
  return entry;
}

Result<void> flatten_yaml(const YAML::Node& node, const std::string& parent, int depth,
                          ConfigFile& file) {
  if (depth > kDeepest) return too_deep(file.source, parent);
  std::set<std::string> seen;
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) {
      return wrong_file(file.source, static_cast<std::size_t>(entry.first.Mark().line + 1),
                        "a key must be a plain word");
    }
    const std::string key = below(parent, entry.first.Scalar());
    if (!seen.insert(key).second) return given_twice(file.source, key);
    if (entry.second.IsMap() && entry.second.size() > 0) {
      TRY(flatten_yaml(entry.second, key, depth + 1, file));
    } else {
      TRY_ASSIGN(file.entries.emplace_back(), yaml_entry(key, entry.second, file.source));
    }
  }
  return {};
}

}  // namespace

const ConfigEntry* ConfigFile::find(std::string_view key) const {
  const auto found = std::ranges::find(entries, key, &ConfigEntry::key);
  return found == entries.end() ? nullptr : &*found;
}

bool ConfigFile::has_section(std::string_view key) const {
  const std::string prefix = std::string(key) + ".";
  return std::ranges::any_of(
      entries, [&](const ConfigEntry& entry) { return entry.key.starts_with(prefix); });
}

std::string plain_json(std::string_view text) {
  std::string plain(text);
  char before = '{';                   // what is neither space nor comment
  std::size_t last_comma = text.npos;  // behind an item, if nothing follows so far
  for (std::size_t at = 0, size = 0; at < text.size(); at += size) {
    const std::string_view rest = text.substr(at);
    const char next = rest.front();
    size = comment_size(rest);
    if (size > 0) {
      const auto begin = plain.begin() + static_cast<std::ptrdiff_t>(at);
      std::replace_if(
          begin, begin + static_cast<std::ptrdiff_t>(size), [](char c) { return c != '\n'; }, ' ');
      continue;
    }
    size = next == '"' ? string_size(rest) : 1;
    if (base::trimmed(rest.substr(0, 1)).empty()) continue;
    const bool is_end = next == '}' || next == ']';
    if (is_end && last_comma != text.npos) plain[last_comma] = ' ';
    const bool follows_item = before != '{' && before != '[' && before != ',';
    last_comma = next == ',' && follows_item ? at : text.npos;
    before = next;
  }
  return plain;
}

Result<ConfigFile> parse_json_config(const std::string& text, const std::string& source) {
  ConfigFile file{source, {}};
  RepeatedKey repeated;
  try {
    const json::parser_callback_t see = [&](int, json::parse_event_t event, json& value) {
      return repeated.see(event, value);
    };
    const json root = json::parse(text, see);
    if (!repeated.key().empty()) return given_twice(source, repeated.key());
    if (!root.is_object()) return wrong_file(source, 0, "a map of keys is expected: {\"key\": …}");
    TRY(flatten_json(root, "", 0, file));
  } catch (const json::parse_error& error) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    const auto line = static_cast<std::size_t>(std::count(text.begin(), end, '\n')) + 1;
    return wrong_file(source, line,
                      "this is not JSON: check the commas, quotes and braces there, and whether "
                      "the file is whole");
  } catch (const json::out_of_range&) {
    return wrong_file(source, 0, "one of its numbers is larger than any number can be");
  }
  return file;
}

Result<ConfigFile> parse_yaml_config(const std::string& text, const std::string& source) {
  ConfigFile file{source, {}};
  try {
    const YAML::Node root = YAML::Load(text);
    if (!root.IsMap()) return wrong_file(source, 0, "lines of `key: value` are expected");
    TRY(flatten_yaml(root, "", 0, file));
  } catch (const YAML::Exception& error) {
    const auto line = error.mark.is_null() ? 0 : static_cast<std::size_t>(error.mark.line + 1);
    return wrong_file(source, line,
                      "this is not YAML (" + base::printable_line(error.msg) +
                          "): write one `key: value` per line");
  }
  return file;
}

}  // namespace shardlens::trace::frameworks
