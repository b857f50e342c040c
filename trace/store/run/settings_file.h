// Settings as flat YAML. Any thread.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::store {

// Values start at their defaults. A nested map (`simulate_link: {latency_us: 50, gbit_per_s: 1}`)
// is read as its "key=value,…" text. Errors (kUsage) name file, line and the nearest key.
base::Result<job::Settings> read_settings(const std::filesystem::path& file);
// The file's text, unread; errors (kUsage, kIo) say why it cannot be one of settings.
base::Result<std::string> read_settings_text(const std::filesystem::path& file);
base::Result<job::Settings> parse_settings(const std::string& yaml, const std::string& source_name);
struct SaidSettings {
  job::Settings settings;
  std::vector<std::string_view> said;  // knobs that the file names
};
base::Result<SaidSettings> parse_said_settings(const std::string& yaml,
                                               const std::string& source_name);
// A list of flat maps, `- {bucket_cap_mb: 1, ranks: 2}`: of each the keys and values, in order, as
// set_value() takes them. Errors as above; values are checked.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;
base::Result<std::vector<SettingTexts>> read_setting_lists(const std::filesystem::path& file);
base::Result<std::vector<SettingTexts>> parse_setting_lists(const std::string& yaml,
                                                            const std::string& source_name);
// Only what differs from the defaults, with each knob's explanation as a comment.
std::string settings_to_yaml(const job::Settings& settings);

}  // namespace shardlens::trace::store
