#include "ui/plan/estimate_draw.h"

#include <algorithm>
#include <cmath>

#include "ui/kit/widgets.h"

namespace shardlens::ui::plan {

void draw_estimate_bar(const kit::Theme& theme, const state::Rect& rect,
                       std::span<const present::MemoryPart> parts, double axis, float strength) {
  const state::Palette& p = theme.colors();
  kit::fill(rect, kit::color(p.field), theme.px(2));
  if (axis <= 0) return;
  double sum = 0;
  for (const present::MemoryPart& part : parts) {
    const auto x_of = [&](double bytes) {
      return std::round(rect.x + static_cast<float>(std::min(bytes / axis, 1.0)) * rect.w);
    };
    const float x0 = x_of(sum), x1 = std::max(x_of(sum + part.bytes), x0 + (sum == 0 ? 2.0f : 0));
    sum += part.bytes;
    const float gap = x1 - x0 >= 4 ? 1.0f : 0.0f;
    kit::fill({x0, rect.y, x1 - x0 - gap, rect.h},
              kit::color(state::memory_color(p, part.category), strength));
  }
  if (sum <= axis * 1.0001) return;
  const float side = rect.h;
  kit::fill({rect.right() - side, rect.y, side, rect.h}, kit::color(p.popup));
  kit::shape(kit::Shape::kRight, rect.right() - side / 2, rect.center_y(), side,
             kit::color(p.danger));
}

void formula_tooltip(const kit::Theme& theme, std::string_view title,
                     std::span<const present::FormulaLine> lines, std::string_view note) {
  const kit::TooltipScope scope(theme);
  scope.title(title);
  for (const present::FormulaLine& line : lines) {
    const state::Rgb* swatch =
        line.category ? &state::memory_color(theme.colors(), *line.category) : nullptr;
    scope.row(swatch, line.what, line.value);
    scope.note(line.formula);
  }
  scope.note(note);
}

}  // namespace shardlens::ui::plan
