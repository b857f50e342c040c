#include "ui/inspect/memory/memory_flame_draw.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "ui/inspect/memory/memory_text.h"
#include "ui/kit/paint.h"
#include "ui/kit/timeline_quads.h"
#include "ui/present/axis.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"
#include "ui/present/timeline/timeline_time_text.h"
#include "ui/state/palette.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::MemoryFlame;

constexpr double kRoomAbove = 1.08;

// Neighbours of one category are told apart by shade.
state::Rgb band_color(const state::Palette& p, const trace::timeline::StepAllocation& allocation) {
  const std::uint64_t mixed = (allocation.address >> 6) * 0x9e37'79b9'7f4a'7c15ULL;
  return state::shade_by_name(p, state::memory_color(p, allocation.category), mixed >> 61);
}

class FlameDrawer {
 public:
  explicit FlameDrawer(const FlameCanvas& canvas)
      : c_(canvas), p_(canvas.theme.colors()), flame_(*canvas.memory.flame) {}

  void draw_bands() {
    each_band([&](const MemoryFlame::Band& band, const trace::timeline::StepAllocation& one) {
      const ImU32 ink = kit::color(band_color(p_, one));
      each_part(band, one, [&](const state::Rect& part) { quads_.add(part, ink); });
    });
    draw_small();
    quads_.flush();
  }

  void outline_band(int index, ImU32 ink) const {
    const MemoryFlame::Band& band = flame_.bands[static_cast<std::size_t>(index)];
    const auto& one = c_.memory.allocations->all[band.allocation];
    state::Rect last;
    each_part(band, one, [&](state::Rect part) {
      part.h = std::max(part.h, 2.0f);
      kit::line(part.x, part.y, part.right(), part.y, ink);
      kit::line(part.x, part.bottom(), part.right(), part.bottom(), ink);
      if (last.empty()) kit::line(part.x, part.y, part.x, part.bottom(), ink);
      // Where it moves down.
      if (!last.empty() && last.y != part.y) {
        kit::line(part.x, last.y, part.x, part.y, ink);
        kit::line(part.x, last.bottom(), part.x, part.bottom(), ink);
      }
      last = part;
    });
    if (!last.empty()) kit::line(last.right(), last.y, last.right(), last.bottom(), ink);
  }

  void label_bands() const {
    each_band([&](const MemoryFlame::Band& band, const trace::timeline::StepAllocation& one) {
      state::Rect widest;
      each_part(band, one, [&](const state::Rect& part) {
        if (part.w > widest.w) widest = part;
      });
      if (widest.h < c_.theme.px(13) || widest.w < c_.theme.px(60)) return;
      kit::text_in(c_.theme, widest.inset(c_.theme.px(5), 0), kit::Face::kSmall,
                   state::text_on(band_color(p_, one)),
                   allocation_title(c_.memory, one) + "  " + present::bytes_text(one.bytes));
    });
  }

 private:
  float row(double bytes) const { return std::round(c_.y(bytes)); }

  // Calls visit(band, allocation) for those in sight.
  template <typename Visit>
  void each_band(const Visit& visit) const {
    for (const MemoryFlame::Band& band : flame_.bands) {
      const auto& one = c_.memory.allocations->all[band.allocation];
      if (one.end_ns > c_.window.start_ns() && one.start_ns < c_.window.end_ns()) visit(band, one);
    }
  }

  // Calls visit(area) for each stretch of the band that is as wide as a pixel.
  template <typename Visit>
  void each_part(const MemoryFlame::Band& band, const trace::timeline::StepAllocation& one,
                 const Visit& visit) const {
    const auto points = flame_.points_of(band);
    const auto first =
        std::ranges::upper_bound(points, c_.window.start_ns(), {}, &MemoryFlame::Point::time_ns);
    auto at = static_cast<std::size_t>(first - points.begin());
    at -= at > 0 ? 1 : 0;
    float left = std::max(c_.plot.x, std::floor(c_.x(points[at].time_ns)));
    for (; at < points.size() && points[at].time_ns < c_.window.end_ns(); ++at) {
      const bool is_last = at + 1 == points.size();
      const std::int64_t until = is_last ? one.end_ns : points[at + 1].time_ns;
      float right = std::min(c_.plot.right(), std::floor(c_.x(until)));
      // What is shorter than a pixel is still seen.
      if (is_last && points.size() == 1) right = std::max(right, left + 1);
      if (right <= left) continue;
      const auto bottom = static_cast<double>(points[at].offset);
      const float high = row(bottom + static_cast<double>(one.bytes));
      visit(state::Rect{left, high, right - left, row(bottom) - high});
      left = right;
    }
  }

  void draw_small() {
    const state::Rgb ground = state::mix(p_.panel, p_.text_muted, 0.45);
    float left = c_.plot.x;
    for (std::size_t i = 0; i < flame_.small.size(); ++i) {
      const auto& small = flame_.small[i];
      const std::int64_t until =
          i + 1 < flame_.small.size() ? flame_.small[i + 1].time_ns : c_.memory.allocations->end_ns;
      if (until <= c_.window.start_ns()) continue;
      if (small.time_ns >= c_.window.end_ns()) break;
      left = std::max(left, std::floor(c_.x(small.time_ns)));
      const float right = std::min(c_.plot.right(), std::floor(c_.x(until)));
      if (right <= left) continue;
      const auto bottom = static_cast<double>(small.offset);
      quads_.add(left, row(bottom + static_cast<double>(small.bytes)), right, row(bottom),
                 kit::color(ground));
      left = right;
    }
  }

  const FlameCanvas& c_;
  const state::Palette& p_;
  const MemoryFlame& flame_;
  kit::QuadBatch quads_;
};

void draw_size_axis(const FlameCanvas& c) {
  const present::SizeUnit unit = present::size_unit(c.top_bytes);
  const double step = present::nice_binary_step(
      c.top_bytes / unit.bytes, std::max(2, static_cast<int>(c.plot.h / c.theme.px(44))));
  for (double tick = 0; tick * unit.bytes <= c.top_bytes; tick += step) {
    kit::tick_left(c.theme, c.plot, c.y(tick * unit.bytes),
                   tick == 0 ? "0 " + std::string(unit.name) : present::format_plain(tick));
  }
}

void draw_time_axis(const FlameCanvas& c) {
  const state::Palette& p = c.theme.colors();
  const int most = std::max(2, static_cast<int>(c.axis.w / c.theme.px(96)));
  const present::AxisPlan plan = present::plan_axis(c.window.start_ns(), c.window.end_ns(),
                                                    c.memory.allocations->start_ns, most);
  float free_from = c.axis.x;
  for (const present::AxisTick& tick : plan.ticks) {
    const float x = std::round(c.x(tick.time_ns));
    if (x < c.plot.x || x > c.plot.right()) continue;
    kit::line(x, c.plot.bottom(), x, c.plot.bottom() + c.theme.px(3), kit::color(p.idle_edge));
    kit::axis_label(c.theme, c.axis, x, tick.label, free_from);
  }
}

void draw_phases(const FlameCanvas& c) {
  const state::Palette& p = c.theme.colors();
  for (const auto& phase : c.memory.phases) {
    const float left = std::max(c.plot.x, std::floor(c.x(phase.start_ns)));
    const float right = std::min(c.plot.right(), std::floor(c.x(phase.end_ns)));
    if (right - left < 1) continue;
    const state::Rgb ground = state::time_color(p, phase.piece_class);
    const state::Rect box{left, c.phases.y, std::max(1.0f, right - left - 1), c.phases.h};
    kit::fill(box, kit::color(ground));
    kit::fill({box.x, box.y, box.w, std::max(1.0f, c.theme.px(1.5f))},
              kit::color(state::piece_edge(p, phase.piece_class)));
    kit::label_in(c.theme, box.inset(c.theme.px(4), 0), kit::Face::kSmall, state::text_on(ground),
                  trace::base::to_string(phase.phase));
  }
}

void draw_peak_mark(const FlameCanvas& c) {
  const state::Palette& p = c.theme.colors();
  const auto& peak = c.memory.peak;
  const float x = std::round(c.x(peak.time_ns));
  if (x < c.plot.x || x >= c.plot.right()) return;
  const double shown = static_cast<double>(peak.bytes - c.memory.flame->constant_bytes);
  kit::dashed_line(c.theme, x, c.plot.y, x, c.plot.bottom(), kit::color(p.text, 0.85f));
  const float y = std::round(c.y(shown));
  kit::shape(kit::Shape::kDot, x, y, c.theme.px(8), kit::color(p.text));
  const std::string label = "Step's peak " + present::bytes_text(peak.bytes);
  const float width = kit::text_width(c.theme, kit::Face::kStrong, label) + c.theme.px(12);
  const bool left_of_it = x + width + c.theme.px(6) > c.plot.right();
  const state::Rect box{left_of_it ? x - width - c.theme.px(6) : x + c.theme.px(6), c.plot.y, width,
                        c.theme.px(20)};
  kit::fill(box, kit::color(p.popup, 0.92f), c.theme.px(4));
  kit::text_in(c.theme, box, kit::Face::kStrong, p.text, label, kit::Align::kCenter);
}

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

FlameCanvas flame_canvas(const kit::Theme& theme, state::Rect rect,
                         const trace::timeline::StepMemory& memory, const TimeWindow& window) {
  FlameCanvas canvas{theme, memory, window, {}, {}, {}};
  canvas.axis = rect.take_bottom(theme.px(18));
  canvas.phases = rect.take_bottom(theme.px(16), theme.px(3));
  for (state::Rect* part : {&rect, &canvas.axis, &canvas.phases}) part->take_left(theme.px(54));
  canvas.plot = rect;
  canvas.axis.y = canvas.phases.bottom();
  canvas.top_bytes = std::max(1.0, static_cast<double>(memory.flame->highest_bytes) * kRoomAbove);
  return canvas;
}

void draw_flame(const FlameCanvas& canvas, int picked, const trace::timeline::FlameHit& hit) {
  const state::Palette& p = canvas.theme.colors();
  draw_size_axis(canvas);
  FlameDrawer drawer(canvas);
  {
    const kit::Clip clip(canvas.plot);
    drawer.draw_bands();
    drawer.label_bands();
    const auto& bands = canvas.memory.flame->bands;
    for (std::size_t i = 0; picked >= 0 && i < bands.size(); ++i) {
      if (bands[i].allocation == static_cast<std::uint32_t>(picked)) {
        drawer.outline_band(static_cast<int>(i), kit::color(p.accent));
      }
    }
    if (hit.band >= 0) drawer.outline_band(hit.band, kit::color(p.text));
    draw_peak_mark(canvas);
  }
  draw_phases(canvas);
  draw_time_axis(canvas);
}

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
