#include "app/settings/settings_input.h"

#include <utility>

#include "trace/store/run/settings_file.h"

namespace shardlens::app::settings {

using trace::base::Result;

Result<SettingsInput> read_settings_input(const std::filesystem::path& file, std::int64_t ranks) {
  TRY_ASSIGN(const std::string text, trace::store::read_settings_text(file));
  SettingsInput input;
  TRY_ASSIGN(input.foreign, trace::frameworks::parse_foreign_settings(text, file.string(), ranks));
  if (input.foreign) {
    input.settings = input.foreign->settings;
    input.said = input.foreign->said;
  } else {
    TRY_ASSIGN(auto own, trace::store::parse_said_settings(text, file.string()));
    input.settings = std::move(own.settings);
    input.said = std::move(own.said);
  }
  return input;
}

}  // namespace shardlens::app::settings
