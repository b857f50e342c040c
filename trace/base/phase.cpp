#include "trace/base/phase.h"

#include "trace/base/text.h"

namespace shardlens::trace::base {

std::string_view to_string(Phase phase) {
  static constexpr std::array<std::string_view, 7> kNames{
      "data", "forward", "backward", "optimizer", "evaluation", "checkpoint", "other"};
  return base::enum_name<Phase::kOther>(kNames, phase);
}

}  // namespace shardlens::trace::base
