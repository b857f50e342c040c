#include "app/session/files/settings_drop.h"

#include <system_error>
#include <utility>

#include "trace/frameworks/read/foreign_settings.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::session {

namespace {

std::string notice_of(const std::filesystem::path& file,
                      const trace::frameworks::ForeignSettings& foreign) {
  std::string text = file.filename().string() + ": the settings are taken over";
  const char* separator = ", but not ";
  for (const auto& each : foreign.ignored) {
    text += separator + each.key;
    separator = ", ";
  }
  return text + (foreign.ignored.empty() && foreign.remarks.empty()
                     ? ""
                     : "; `shardlens settings` says why and what differs");
}

}  // namespace

std::optional<trace::base::Result<DroppedSettings>> read_dropped_settings(
    const std::filesystem::path& file, const trace::job::Settings& next) {
  using Dropped = trace::base::Result<DroppedSettings>;
  const auto suffix = file.extension();
  const bool is_yaml = suffix == ".yaml" || suffix == ".yml";
  std::error_code error;
  if (!is_yaml && suffix != ".json") return std::nullopt;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  const auto text = trace::store::read_settings_text(file);
  if (!text) {  // too large to be settings; a trace may be
    return is_yaml ? std::optional<Dropped>(tl::make_unexpected(text.error())) : std::nullopt;
  }
  const std::string name = file.filename().string();
  auto foreign = trace::frameworks::parse_foreign_settings(*text, name, next.ranks);
  if (!foreign) return Dropped(tl::make_unexpected(foreign.error()));
  if (*foreign) {
    return Dropped({trace::frameworks::changed_by(**foreign, next), notice_of(file, **foreign)});
  }
  if (!is_yaml) return std::nullopt;
  auto ours = trace::store::parse_settings(*text, name);
  if (!ours) return Dropped(tl::make_unexpected(ours.error()));
  return Dropped({std::move(*ours), name + ": the settings are taken over"});
}

}  // namespace shardlens::app::session
