#include "trace/timeline/phase_class.h"

namespace shardlens::trace {

PieceClass phase_class(Phase phase) {
  switch (phase) {
    case Phase::kData:
      return PieceClass::kData;
    case Phase::kForward:
      return PieceClass::kForward;
    case Phase::kBackward:
      return PieceClass::kBackward;
    case Phase::kOptimizer:
      return PieceClass::kOptimizerPhase;
    case Phase::kEvaluation:
      return PieceClass::kEvaluation;
    case Phase::kCheckpoint:
    case Phase::kOther:
      return PieceClass::kOtherPhase;
  }
  return PieceClass::kOtherPhase;
}

PieceClass phase_class_of_name(std::string_view name) {
  for (int i = 0; i < kPhaseCount; ++i) {
    if (to_string(static_cast<Phase>(i)) == name) return phase_class(static_cast<Phase>(i));
  }
  return PieceClass::kOtherPhase;
}

}  // namespace shardlens::trace
