#include "app/settings/settings_input.h"

#include "trace/store/run/settings_file.h"

namespace shardlens::app::settings {

using trace::base::Result;

Result<SettingsInput> read_settings_input(const std::filesystem::path& file, std::int64_t ranks) {
  TRY_ASSIGN(const std::string text, trace::store::read_settings_text(file));
  SettingsInput input;
  TRY_ASSIGN(input.foreign, trace::frameworks::parse_foreign_settings(text, file.string(), ranks));
  if (input.foreign) {
    input.settings = input.foreign->settings;
  } else {
    TRY_ASSIGN(input.settings, trace::store::parse_settings(text, file.string()));
  }
  return input;
}

}  // namespace shardlens::app::settings
