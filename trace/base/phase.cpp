#include "trace/base/phase.h"

namespace shardlens::trace::base {

std::string_view to_string(Phase phase) {
  switch (phase) {
    case Phase::kData:
      return "data";
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kEvaluation:
      return "evaluation";
    case Phase::kCheckpoint:
      return "checkpoint";
    case Phase::kOther:
      return "other";
  }
  return "unknown";
}

}  // namespace shardlens::trace::base
