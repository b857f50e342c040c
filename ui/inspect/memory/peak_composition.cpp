#include "ui/inspect/memory/peak_composition.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "ui/kit/paint.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kLegendRow = 19;

void draw_legend_row(const kit::Theme& theme, state::Rect row,
                     const trace::timeline::StepMemory& memory, int category, bool with_share) {
  const state::Palette& p = theme.colors();
  const auto bytes =
      static_cast<double>(memory.peak.composition[static_cast<std::size_t>(category)]);
  kit::fill(kit::take_swatch(theme, row, 10, 8), kit::color(p.memory[category]), theme.px(2));
  if (with_share) {
    kit::text_in(theme, row.take_right(theme.px(52)), kit::Face::kMonoSmall, p.text_muted,
                 present::format_percent(bytes / static_cast<double>(memory.peak.bytes)).text(),
                 kit::Align::kRight);
  }
  const float used = kit::label_in(theme, row, kit::Face::kMonoSmall, p.text,
                                   present::format_bytes(bytes).text(), kit::Align::kRight);
  row.w -= used + theme.px(8);
  kit::text_in(theme, row, kit::Face::kSmall, p.text_secondary,
               present::memory_name(static_cast<trace::model::MemoryCategory>(category)));
}

}  // namespace

void draw_peak_composition(const kit::Theme& theme, const state::Rect& rect,
                           const trace::timeline::StepMemory& memory) {
  const state::Palette& p = theme.colors();
  state::Rect rest = rect;
  const double total = std::max<double>(1, static_cast<double>(memory.peak.bytes));
  state::Rect bar = rest.take_top(theme.px(10), theme.px(6));
  std::vector<int> categories;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto bytes = static_cast<double>(memory.peak.composition[static_cast<std::size_t>(i)]);
    if (bytes == 0) continue;
    categories.push_back(i);
    kit::fill(bar.take_left(std::round(rect.w * static_cast<float>(bytes / total))),
              kit::color(p.memory[i]));
  }
  // A low panel has room for two columns rather than for half of the rows.
  const float row_height = theme.px(kLegendRow);
  const auto fitting = static_cast<std::size_t>(std::max(1.0f, std::floor(rest.h / row_height)));
  const bool is_low = fitting < categories.size();
  const std::size_t rows = is_low ? (categories.size() + 1) / 2 : categories.size();
  const float width = is_low ? (rest.w - theme.px(18)) / 2 : rest.w;
  for (std::size_t at = 0; at < categories.size() && at % rows < fitting; ++at) {
    const float x = rest.x + (at < rows ? 0 : rest.w - width);
    const float y = rest.y + row_height * static_cast<float>(at % rows);
    draw_legend_row(theme, {x, y, width, row_height}, memory, categories[at], !is_low);
  }
}

}  // namespace shardlens::ui::inspect
