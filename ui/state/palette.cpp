#include "ui/state/palette.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "trace/base/text.h"

namespace shardlens::ui::state {

using trace::base::TimeClass;

namespace {

constexpr Palette kDark{
    .window = rgb(0x0d1116),
    .panel = rgb(0x13181e),
    .panel_edge = rgb(0x232b34),
    .field = rgb(0x1b222b),
    .field_edge = rgb(0x2c3641),
    .hover = rgb(0x222b36),
    .popup = rgb(0x1a212a),
    .grid = rgb(0x1e252d),
    .row_selected = rgb(0x1a2633),
    .text = rgb(0xe9eef4),
    .text_secondary = rgb(0xa9b4c0),
    .text_muted = rgb(0x8b96a3),
    .heading = rgb(0x8f9aa7),
    .accent = rgb(0x6ea8ff),
    .accent_text = rgb(0x86b7ff),
    .primary = rgb(0x2458a6),
    .primary_hover = rgb(0x2c66bd),
    .on_primary = rgb(0xffffff),
    .danger = rgb(0xff8087),
    .danger_field = rgb(0x3a1c21),
    .on_danger = rgb(0xffc9cc),
    .good = rgb(0x6fd08c),
    .compute = rgb(0x2f6fe0),
    .overlapped = rgb(0x5fdcb4),
    .exposed = rgb(0xff8a3d),
    .optimizer = rgb(0xd9b8ff),
    .idle = rgb(0x3a424d),
    .idle_edge = rgb(0x6d7885),
    .copy = rgb(0x9aa7b5),
    .phase_fill = rgb(0x263657),
    .phase_edge = rgb(0x5b7cc4),
    .phase_optimizer_fill = rgb(0x43315f),
    .phase_optimizer_edge = rgb(0x9a78c9),
    .changed = rgb(0xffc94d),
    .memory = {rgb(0xf0f5e9), rgb(0xa29881), rgb(0xc3e5fc), rgb(0x7b6357), rgb(0x7495ac),
               rgb(0xd9caac), rgb(0xb2bec0), rgb(0x636474)},
};

constexpr Palette kLight{
    .window = rgb(0xeef1f4),
    .panel = rgb(0xffffff),
    .panel_edge = rgb(0xd5dbe2),
    .field = rgb(0xf3f5f8),
    .field_edge = rgb(0xcdd5dd),
    .hover = rgb(0xe7ecf2),
    .popup = rgb(0xffffff),
    .grid = rgb(0xe9edf1),
    .row_selected = rgb(0xe5eefb),
    .text = rgb(0x12181f),
    .text_secondary = rgb(0x404b57),
    .text_muted = rgb(0x56616e),
    .heading = rgb(0x525d6a),
    .accent = rgb(0x1c62d1),
    .accent_text = rgb(0x174fae),
    .primary = rgb(0x1f5fc4),
    .primary_hover = rgb(0x194fa6),
    .on_primary = rgb(0xffffff),
    .danger = rgb(0xb3202c),
    .danger_field = rgb(0xfbe4e5),
    .on_danger = rgb(0x8c1620),
    .good = rgb(0x17703a),
    .compute = rgb(0x1f5fd0),
    .overlapped = rgb(0x1fa088),
    .exposed = rgb(0xd95f0e),
    .optimizer = rgb(0x3f1a70),
    .idle = rgb(0xc8d0d8),
    .idle_edge = rgb(0x7d8894),
    .copy = rgb(0x67727e),
    .phase_fill = rgb(0xdbe6f8),
    .phase_edge = rgb(0x4a78c4),
    .phase_optimizer_fill = rgb(0xe6dcf3),
    .phase_optimizer_edge = rgb(0x7b59a8),
    .changed = rgb(0x8a6100),
    .memory = {rgb(0x0e153c), rgb(0x573813), rgb(0x957549), rgb(0x25584c), rgb(0x679b8b),
               rgb(0x574a79), rgb(0x1c0201), rgb(0x9a8bbf)},
};

double linear(std::uint8_t channel) {
  const double c = channel / 255.0;
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}

}  // namespace

const Palette& palette(ThemeKind kind) { return kind == ThemeKind::kDark ? kDark : kLight; }

Rgb tone_color(const Palette& p, Tone tone) {
  switch (tone) {
    case Tone::kText:
      return p.text;
    case Tone::kSecondary:
      return p.text_secondary;
    case Tone::kMuted:
      return p.text_muted;
    case Tone::kDanger:
      return p.danger;
  }
  return p.text;
}

Rgb time_color(const Palette& p, TimeClass time_class) {
  switch (time_class) {
    case TimeClass::kData:
    case TimeClass::kEvaluation:
    case TimeClass::kOtherPhase:
      return p.idle;
    case TimeClass::kHost:
      return mix(p.panel, p.phase_edge, 0.5);
    case TimeClass::kForward:
    case TimeClass::kBackward:
      return p.phase_fill;
    case TimeClass::kOptimizerPhase:
      return p.phase_optimizer_fill;
    case TimeClass::kCompute:
      return p.compute;
    case TimeClass::kOptimizer:
      return p.optimizer;
    case TimeClass::kOverlapped:
      return p.overlapped;
    case TimeClass::kExposed:
    case TimeClass::kWaiting:
      return p.exposed;
    case TimeClass::kCopy:
      return p.copy;
    case TimeClass::kIdle:
      return p.idle;
  }
  return p.idle;
}

Rgb piece_edge(const Palette& p, TimeClass piece_class) {
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
      return time_color(p, piece_class);
  }
}

bool is_quiet(TimeClass piece_class) { return piece_class >= TimeClass::kData; }

Rgb shade_by_name(const Palette& p, Rgb fill, std::size_t name_hash) {
  switch (name_hash % 4) {
    case 0:
      return fill;
    case 1:
      return mix(fill, p.text, 0.14);
    case 2:
      return mix(fill, p.panel, 0.12);
    default:
      return mix(fill, p.text, 0.07);
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

double relative_luminance(Rgb c) {
  return 0.2126 * linear(c.r) + 0.7152 * linear(c.g) + 0.0722 * linear(c.b);
}

double contrast_ratio(Rgb a, Rgb b) {
  const double la = relative_luminance(a), lb = relative_luminance(b);
  return (std::max(la, lb) + 0.05) / (std::min(la, lb) + 0.05);
}

Rgb text_on(Rgb background) {
  constexpr Rgb kInk = rgb(0x0b0f14), kPaper = rgb(0xffffff);
  return contrast_ratio(kInk, background) > contrast_ratio(kPaper, background) ? kInk : kPaper;
}

Rgb mix(Rgb under, Rgb over, double amount) {
  const auto blend = [amount](std::uint8_t a, std::uint8_t b) {
    return static_cast<std::uint8_t>(std::lround(a + (b - a) * amount));
  };
  return {blend(under.r, over.r), blend(under.g, over.g), blend(under.b, over.b)};
}

}  // namespace shardlens::ui::state
