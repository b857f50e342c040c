#include "ui/present/timeline/timeline_colors.h"

namespace shardlens::ui::present {

using trace::base::TimeClass;

state::Rgb piece_edge(const state::Palette& p, TimeClass piece_class) {
  switch (piece_class) {
    case TimeClass::kForward:
    case TimeClass::kBackward:
    case TimeClass::kHost:
      return p.phase_edge;
    case TimeClass::kOptimizerPhase:
      return p.phase_optimizer_edge;
    case TimeClass::kIdle:
    case TimeClass::kData:
    case TimeClass::kEvaluation:
    case TimeClass::kOtherPhase:
      return p.idle_edge;
    default:
      return state::time_color(p, piece_class);
  }
}

bool is_quiet(TimeClass piece_class) { return piece_class >= TimeClass::kData; }

state::Rgb shade_by_name(const state::Palette& p, state::Rgb fill, std::size_t name_hash) {
  switch (name_hash % 4) {
    case 0:
      return fill;
    case 1:
      return state::mix(fill, p.text, 0.14);
    case 2:
      return state::mix(fill, p.panel, 0.12);
    default:
      return state::mix(fill, p.text, 0.07);
  }
}

std::string_view class_name(TimeClass piece_class) {
  switch (piece_class) {
    case TimeClass::kCompute:
      return "compute";
    case TimeClass::kOptimizer:
      return "optimizer";
    case TimeClass::kOverlapped:
      return "overlapped communication";
    case TimeClass::kExposed:
    case TimeClass::kWaiting:
      return "exposed communication";
    case TimeClass::kCopy:
      return "copy";
    case TimeClass::kIdle:
      return "idle";
    case TimeClass::kHost:
      return "host";
    case TimeClass::kData:
      return "data phase";
    case TimeClass::kForward:
      return "forward phase";
    case TimeClass::kBackward:
      return "backward phase";
    case TimeClass::kOptimizerPhase:
      return "optimizer phase";
    case TimeClass::kEvaluation:
      return "evaluation phase";
    case TimeClass::kOtherPhase:
      return "other phase";
  }
  return "";
}

}  // namespace shardlens::ui::present
