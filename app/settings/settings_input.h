// A file of settings as commands and the window take it: YAML of ours, a ds_config.json of
// DeepSpeed or a configuration of Accelerate, told apart by content. Any thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/frameworks/read/foreign_settings.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::settings {

struct SettingsInput {
  trace::job::Settings settings;
  // Of a file of another framework, with what it says that has no counterpart.
  std::optional<trace::frameworks::ForeignSettings> foreign;
  std::vector<std::string_view> said;  // knobs whose value stands in the file
};

// `ranks` and errors: see trace::store::read_settings() and parse_foreign_settings().
trace::base::Result<SettingsInput> read_settings_input(
    const std::filesystem::path& file, std::int64_t ranks = trace::job::Settings{}.ranks);

}  // namespace shardlens::app::settings
