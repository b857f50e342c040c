#include "app/settings/settings_input.h"

#include "trace/store/run/settings_file.h"

namespace shardlens::app::settings {

using trace::base::Result;

Result<SettingsInput> read_settings_input(const std::filesystem::path& file, std::int64_t ranks) {
  TRY_ASSIGN(const std::string text, trace::store::read_settings_text(file));
  return parse_settings_input(text, file.string(), ranks);
}

Result<SettingsInput> parse_settings_input(const std::string& text, const std::string& source_name,
                                           std::int64_t ranks) {
  SettingsInput input;
  TRY_ASSIGN(input.foreign, trace::frameworks::parse_foreign_settings(text, source_name, ranks));
  if (input.foreign) {
    input.settings = input.foreign->settings;
  } else {
    TRY_ASSIGN(input.settings, trace::store::parse_settings(text, source_name));
  }
  return input;
}

}  // namespace shardlens::app::settings
