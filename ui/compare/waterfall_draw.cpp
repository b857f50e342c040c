#include "ui/compare/waterfall_draw.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/present/compare/comparison_text.h"
#include "ui/state/palette.h"

namespace shardlens::ui::compare {

namespace {

// Rows share the height that there is. The highest leave room around their bars, which are thick
// enough then to be seen from the last row of a hall.
constexpr float kWaterfallRow = 24, kHighestRow = 72, kBarInset = 4, kThickestBar = 44;
constexpr float kMark = 10, kLeastPlot = 0.2f;  // of the width
constexpr float kWithinNoise = 0.45f;           // of the colour's strength

struct WaterfallPlace {
  state::Rect title, plot, figure;
};

// No figure is cut; titles are, where they leave too little to draw in.
struct WaterfallColumns {
  float title = 0, figure = 0;

  WaterfallColumns(const kit::Theme& theme, float width, const present::Waterfall& waterfall) {
    for (const present::WaterfallBar& bar : waterfall.bars) {
      const auto face = bar.is_total ? kit::Face::kStrong : kit::Face::kMedium;
      const float mark = bar.is_total ? 0 : theme.px(kMark + 4);
      title = std::max(title, mark + kit::text_width(theme, face, bar.title));
      figure = std::max(figure, kit::text_width(theme, kit::Face::kMono, bar.text));
    }
    const float gaps = theme.px(16);
    title = std::ceil(std::clamp(width * (1 - kLeastPlot) - figure - gaps, 0.0f, title));
    figure = std::ceil(figure);
  }
};

WaterfallPlace place_of(const kit::Theme& theme, const state::Rect& row,
                        const WaterfallColumns& columns) {
  WaterfallPlace place{.title = {}, .plot = row, .figure = {}};
  place.title = place.plot.take_left(columns.title, theme.px(8));
  place.figure = place.plot.take_right(columns.figure, theme.px(8));
  return place;
}

// Above and below a bar.
float inset_of(const kit::Theme& theme, float row_height) {
  return std::max(theme.px(kBarInset), std::round((row_height - theme.px(kThickestBar)) / 2));
}

float x_of(const WaterfallPlace& place, const present::Waterfall& waterfall, double ns) {
  const double position = std::clamp(waterfall.position(ns), 0.0, 1.0);
  return place.plot.x + static_cast<float>(position) * place.plot.w;
}

void draw_total(const kit::Theme& theme, const WaterfallPlace& place,
                const present::Waterfall& waterfall, const present::WaterfallBar& bar) {
  const state::Palette& p = theme.colors();
  state::Rect box = place.plot.inset(0, inset_of(theme, place.plot.h));
  box.w = x_of(place, waterfall, bar.to_ns) - box.x;
  kit::fill(box, kit::color(p.field_edge), theme.px(2));
  // The bar does not begin at 0.
  if (waterfall.low_ns > 0) {
    const float at = box.x + theme.px(8), slant = theme.px(3);
    for (const float x : {at, at + theme.px(4)}) {
      kit::line(x - slant, box.bottom(), x + slant, box.y, kit::color(p.panel), theme.px(1.5f));
    }
  }
  kit::text_in(theme, place.title, kit::Face::kStrong, p.text, bar.title);
  kit::text_in(theme, place.figure, kit::Face::kMono, p.text, bar.text, kit::Align::kRight);
}

void draw_change(const kit::Theme& theme, const WaterfallPlace& place,
                 const present::Waterfall& waterfall, const present::WaterfallBar& bar) {
  const state::Palette& p = theme.colors();
  const float from = x_of(place, waterfall, bar.from_ns), to = x_of(place, waterfall, bar.to_ns);
  state::Rect box = place.plot.inset(0, inset_of(theme, place.plot.h));
  box.x = std::min(from, to);
  box.w = std::max(theme.px(2), std::abs(to - from));
  const state::Rgb ink = state::piece_edge(p, bar.time_class);
  const bool is_real = bar.beyond_noise != false;
  kit::fill(box, kit::color(ink, is_real ? 1 : kWithinNoise), theme.px(2));
  const state::Rgb words = is_real ? p.text : p.text_muted;
  state::Rect title = place.title;
  const state::Rect mark = title.take_left(theme.px(kMark), theme.px(4));
  if (bar.to_ns != bar.from_ns) {
    kit::shape(bar.to_ns > bar.from_ns ? kit::Shape::kUp : kit::Shape::kDown, mark.center_x(),
               mark.center_y(), theme.px(8), kit::color(words));
  }
  kit::text_in(theme, title, kit::Face::kMedium, words, bar.title);
  kit::text_in(theme, place.figure, kit::Face::kMono, words, bar.text, kit::Align::kRight);
}

}  // namespace

std::size_t waterfall_room(const kit::Theme& theme, float height) {
  // Between the totals at least the largest share, and the rest.
  return static_cast<std::size_t>(std::max(4.0f, std::floor(height / theme.px(kWaterfallRow))));
}

void draw_waterfall(const kit::Theme& theme, const state::Rect& rect,
                    const present::Waterfall& waterfall) {
  const state::Palette& p = theme.colors();
  const auto count = static_cast<float>(std::max<std::size_t>(waterfall.bars.size(), 1));
  const float height = std::min(std::floor(rect.h / count), theme.px(kHighestRow));
  const WaterfallColumns columns(theme, rect.w, waterfall);
  float y = rect.y;
  for (const present::WaterfallBar& bar : waterfall.bars) {
    const state::Rect row{rect.x, y, rect.w, height};
    const WaterfallPlace place = place_of(theme, row, columns);
    bar.is_total ? draw_total(theme, place, waterfall, bar)
                 : draw_change(theme, place, waterfall, bar);
    if (&bar != &waterfall.bars.back()) {  // on to the next one
      const float at = x_of(place, waterfall, bar.to_ns), inset = inset_of(theme, height);
      kit::line(at, row.bottom() - inset, at, row.bottom() + inset, kit::color(p.text_muted));
    }
    if (!bar.is_total && kit::hovers(row)) {
      const kit::TooltipScope scope(theme);
      scope.title(bar.title + "  " + bar.text);
      scope.note(std::string("Against the noise: ") +
                 std::string(present::verdict_text(bar.beyond_noise)));
    }
    y += height;
  }
}

}  // namespace shardlens::ui::compare
