// A configuration file of another framework, JSON or YAML, as flat keys: "zero_optimization.stage"
// is "3". Plain values, any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"

namespace shardlens::trace::frameworks {

struct ConfigEntry {
  std::string key;   // the keys on the way to it, joined by "."
  std::string text;  // of a list its items, comma-separated; "null" of nothing
  std::vector<std::string> items;
  bool is_list = false;
  bool is_null = false;  // nothing, or a map without keys
};

struct ConfigFile {
  std::string source;  // its name in messages
  std::vector<ConfigEntry> entries;

  const ConfigEntry* find(std::string_view key) const;  // nullptr: not there
  bool has_section(std::string_view key) const;         // a map of that name
};

// What DeepSpeed reads as JSON (by hjson) without what JSON has not: comments, with # too, and a
// comma behind the last item. They become spaces, so that lines and columns stay.
std::string plain_json(std::string_view text);

// Errors (kUsage) name `source`, the line or the key, and what to do: no JSON or YAML, a key given
// twice, maps nested too deeply, anything but a map at the top.
base::Result<ConfigFile> parse_json_config(const std::string& text, const std::string& source);
base::Result<ConfigFile> parse_yaml_config(const std::string& text, const std::string& source);

}  // namespace shardlens::trace::frameworks
