#include "ui/plan/estimate_draw.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/widgets.h"

namespace shardlens::ui {

void draw_estimate_bar(const Theme& theme, const Rect& rect, std::span<const MemoryPart> parts,
                       double axis, float strength) {
  const Palette& p = theme.colors();
  fill(rect, color(p.field), theme.px(2));
  if (axis <= 0) return;
  double sum = 0;
  for (const MemoryPart& part : parts) {
    const auto x_of = [&](double bytes) {
      return std::round(rect.x + static_cast<float>(std::min(bytes / axis, 1.0)) * rect.w);
    };
    const float x0 = x_of(sum), x1 = std::max(x_of(sum + part.bytes), x0 + (sum == 0 ? 2.0f : 0));
    sum += part.bytes;
    const float gap = x1 - x0 >= 4 ? 1.0f : 0.0f;
    fill({x0, rect.y, x1 - x0 - gap, rect.h},
         color(p.memory[static_cast<std::size_t>(part.category)], strength));
  }
  if (sum <= axis * 1.0001) return;
  const float side = rect.h;
  fill({rect.right() - side, rect.y, side, rect.h}, color(p.popup));
  shape(Shape::kRight, rect.right() - side / 2, rect.center_y(), side, color(p.danger));
}

void formula_tooltip(const Theme& theme, std::string_view title, std::span<const FormulaLine> lines,
                     std::string_view note) {
  const TooltipScope scope(theme);
  scope.title(title);
  for (const FormulaLine& line : lines) {
    const Rgb* swatch =
        line.category ? &theme.colors().memory[static_cast<std::size_t>(*line.category)] : nullptr;
    scope.row(swatch, line.what, line.value);
    scope.note(line.formula);
  }
  scope.note(note);
}

}  // namespace shardlens::ui
