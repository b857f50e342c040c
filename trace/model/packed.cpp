#include "trace/model/packed.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <variant>

#include "trace/model/untold.h"

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

std::string packed_sources(std::string_view sources) {
  if (!sources.starts_with(kImportedFrom)) return std::string(sources);
  std::string packed = std::string(kImportedFrom) + "a trace";
  for (const std::string_view mark : {kNoKernels, kCutOff, kStepsOfOptimizer, kOneStep}) {
    if (sources.find(mark) != sources.npos) packed += mark;
  }
  return packed;
}

std::string_view untold_trace_name(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  constexpr std::size_t kDigitsOfTime = 13;  // ms; newer versions write ns
  const auto digits_from = [&](std::size_t at) {
    return std::min(text.find_first_not_of(kDigits, at), text.size()) - at;
  };
  const auto may_be_of_host = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  };
  for (auto at = text.find('_'); at != text.npos; at = text.find('_', at + 1)) {
    const std::size_t dot = at + 1 + digits_from(at + 1);
    if (dot == at + 1 || dot == text.size() || text[dot] != '.') continue;
    const std::size_t end = dot + 1 + digits_from(dot + 1);
    if (end - dot <= kDigitsOfTime) continue;
    std::size_t begin = at;
    while (begin > 0 && may_be_of_host(text[begin - 1])) --begin;
    return text.substr(begin, end - begin);
  }
  return {};
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
