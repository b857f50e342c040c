#include "trace/job/settings/unknown_setting.h"

#include "trace/base/text.h"
#include "trace/base/words/suggestion.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

std::string unknown_setting_text(std::string_view name) {
  const std::string_view nearest = nearest_knob(name);
  const bool is_meant = base::is_near(name.substr(0, 100), nearest);
  return "Unknown setting '" + base::shortened(name) + "'." +
         (is_meant ? " Did you mean '" + std::string(nearest) + "'?" : "") +
         " `shardlens settings` lists all.";
}

}  // namespace shardlens::trace::job
