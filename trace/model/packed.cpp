#include "trace/model/packed.h"

#include <algorithm>
#include <cstddef>
#include <variant>

namespace shardlens::trace::model {

std::string packed_path(std::string_view path) {
  if (!path.starts_with('/')) return std::string(path);
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const auto folders = std::ranges::count(path, '/');
  // "/home/name" and "/root/x" tell a person or say nothing.
  constexpr std::ptrdiff_t kPersonalFolders = 2;
  if (folders <= kPersonalFolders) return std::string(kLeftOut);
  return std::string(kLeftOut) + std::string(path.substr(path.rfind('/')));
}

job::Settings packed_settings(job::Settings settings) {
  for (const job::Knob& knob : job::knobs()) {
    const auto* text = std::get_if<std::string job::Settings::*>(&knob.member);
    if (text != nullptr) settings.** text = packed_path(settings.**text);
  }
  return settings;
}

bool may_be_one(std::string_view a, std::string_view b) {
  return (a.starts_with(kLeftOut) || b.starts_with(kLeftOut)) && packed_path(a) == packed_path(b);
}

}  // namespace shardlens::trace::model
