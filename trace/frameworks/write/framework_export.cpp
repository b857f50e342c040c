#include "trace/frameworks/write/framework_export.h"

#include <algorithm>
#include <iterator>

namespace shardlens::trace::frameworks {

const ExportFormat* find_export_format(std::string_view name) {
  static constexpr ExportFormat kFormats[] = {
      {"pytorch", "parallel.py", pytorch_code, true},
      {"deepspeed", "ds_config.json", deepspeed_config, false},
      {"accelerate", "accelerate.yaml", accelerate_config, true},
  };
  const auto* const found = std::ranges::find(kFormats, name, &ExportFormat::name);
  return found == std::end(kFormats) ? nullptr : found;
}

}  // namespace shardlens::trace::frameworks
