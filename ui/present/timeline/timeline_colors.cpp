#include "ui/present/timeline/timeline_colors.h"

#include <array>

#include "trace/base/text.h"

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
  constexpr std::array<std::string_view, 14> kNames{"compute",
                                                    "optimizer",
                                                    "overlapped communication",
                                                    "exposed communication",
                                                    "copy",
                                                    "idle",
                                                    "exposed communication",
                                                    "host",
                                                    "data phase",
                                                    "forward phase",
                                                    "backward phase",
                                                    "optimizer phase",
                                                    "evaluation phase",
                                                    "other phase"};
  return trace::base::enum_name<TimeClass::kOtherPhase>(kNames, piece_class);
}

}  // namespace shardlens::ui::present
