#include "trace/job/settings/knob_text.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace shardlens::trace::job {

namespace {

// Of a path; a slash at its end does not count.
std::string last_part(std::string_view path) {
  while (path.size() > 1 && path.back() == '/') path.remove_suffix(1);
  return std::string(path.substr(path.find_last_of('/') + 1));
}

}  // namespace

bool names_a_path(const Knob& knob) {
  constexpr std::array<std::string_view, 6> kPaths{"model",           "tokenizer", "data",
                                                   "evaluation_data", "resume",    "token_cache"};
  return std::ranges::find(kPaths, knob.name) != kPaths.end();
}

std::string short_value_text(const Settings& settings, const Knob& knob) {
  const std::string value = value_text(settings, knob);
  return names_a_path(knob) ? last_part(value) : value;
}

}  // namespace shardlens::trace::job
