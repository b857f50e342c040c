#include "ui/inspect/memory/memory_tab.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "ui/inspect/draw/timeline_mouse.h"
#include "ui/inspect/memory/memory_flame_draw.h"
#include "ui/inspect/memory/memory_text.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/memory_stack.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::StepAllocation;
using trace::timeline::StepMemory;

constexpr float kSideWidth = 430, kLeastPicture = 420;

constexpr std::string_view kMemoryDefinition =
    "Each band is one allocation, from the request until its memory could be given out again; a "
    "band moves down when one below it is freed. Colours say what the memory is for, neighbours "
    "differ in shade. What is smaller than a pixel is one grey band on top. Wheel zooms, dragging "
    "moves, a double click zooms to a band's life";

const StepMemory::Recorded* recorded_of(const StepMemory& memory) {
  const auto found = std::ranges::find(memory.recorded, memory.rank, &StepMemory::Recorded::rank);
  return found == memory.recorded.end() ? nullptr : &*found;
}

// A drop-down of "rank 0", "rank 1", …; the number that was picked.
std::optional<std::int64_t> choose_number(const kit::Theme& theme, std::string_view name,
                                          state::Rect box, std::string_view word,
                                          std::int64_t number,
                                          const std::vector<std::int64_t>& numbers) {
  if (numbers.empty()) return std::nullopt;
  const auto text_of = [&](std::int64_t each) {
    return std::string(word) + " " + std::to_string(each);
  };
  std::vector<std::string> texts;
  for (const std::int64_t each : numbers) texts.push_back(text_of(each));
  const std::vector<std::string_view> choices(texts.begin(), texts.end());
  std::string value = text_of(number);
  box = box.inset(0, (box.h - theme.px(26)) / 2);
  if (!kit::choice_field(theme, name, box, value, choices, false)) return std::nullopt;
  return *std::ranges::find(numbers, value, text_of);
}

}  // namespace

// ---- what is shown

void MemoryTab::ask(state::Commands& commands) {
  if (run_.asked == wanted_) return;
  run_.asked = wanted_;
  commands.push_back(state::ShowMemory{wanted_});
}

void MemoryTab::take(const std::shared_ptr<const StepMemory>& memory) {
  if (memory == run_.memory) return;
  const bool same_step = run_.memory && run_.memory->allocations && memory->allocations &&
                         run_.memory->rank == memory->rank && run_.memory->step == memory->step;
  run_.memory = memory;
  run_.table = run_.memory->allocations ? memory_table(run_.memory) : nullptr;
  if (same_step || !run_.memory->allocations) return;
  run_.picked = -1;
  run_.window.set_extent(run_.memory->allocations->start_ns, run_.memory->allocations->end_ns);
  run_.window.fit();
}

std::optional<std::size_t> MemoryTab::picked_row() const {
  const auto& alive = run_.memory->peak.alive;
  const auto found = std::ranges::find(alive, static_cast<std::uint32_t>(run_.picked));
  if (run_.picked < 0 || found == alive.end()) return std::nullopt;
  return static_cast<std::size_t>(found - alive.begin());
}

// ---- tools

void MemoryTab::draw_choices(const kit::Theme& theme, state::Rect& tools) {
  if (run_.memory->rank < 0) return;  // no rank has a record
  std::vector<std::int64_t> ranks, steps;
  for (const auto& each : run_.memory->recorded) ranks.push_back(each.rank);
  if (const auto* recorded = recorded_of(*run_.memory)) steps = recorded->steps;
  const state::Rect rank_box = tools.take_left(theme.px(96), theme.px(8));
  const state::Rect step_box = tools.take_left(theme.px(112), theme.px(14));
  if (const auto rank =
          choose_number(theme, "memory/rank", rank_box, "rank", run_.memory->rank, ranks)) {
    wanted_.rank = static_cast<int>(*rank);
  }
  if (const auto step =
          choose_number(theme, "memory/step", step_box, "step", run_.memory->step, steps)) {
    wanted_.step = *step;
  }
}

void MemoryTab::draw_tools(const kit::Theme& theme, state::Rect tools,
                           const state::InspectView& view, const state::Rect& picture,
                           state::Commands& commands) {
  if (run_.table && table::tool_button(theme, "memory/png", tools, "Save PNG")) {
    commands.push_back(
        state::SavePicture{table::export_file_name(view.run_folder, "memory", "png"), picture});
  }
  if (run_.table) {
    table::table_buttons(
        theme, "memory", tools, table::export_file_name(view.run_folder, "memory_at_peak", "csv"),
        [this] { return view_.csv(); }, commands);
    if (table::tool_button(theme, "memory/step_in_timeline", tools, "Show the step")) {
      run_.wanted_view = {trace::timeline::TimeRange{run_.memory->allocations->start_ns,
                                                     run_.memory->allocations->end_ns,
                                                     {run_.memory->rank}}};
    }
  }
  draw_choices(theme, tools);
  if (!run_.memory->allocations) return;
  constexpr std::string_view kLabel = "Only what changes";
  state::Rect toggle = tools.take_left(
      theme.px(26) + kit::text_width(theme, kit::Face::kSmall, kLabel), theme.px(16));
  const state::Rect box = toggle.take_left(theme.px(16), theme.px(8));
  const float side = theme.px(16);
  kit::checkbox(theme, "memory/changes", {box.x, std::round(box.center_y() - side / 2), side, side},
                wanted_.hides_constant);
  kit::text_in(theme, toggle, kit::Face::kSmall, theme.colors().text_secondary, kLabel);
  kit::explain(
      theme, toggle, std::string(kLabel),
      "Leaves out what was there before the step and is there after it: parameters, optimizer "
      "state");
  kit::text_in(theme, tools, kit::Face::kSmall, theme.colors().text_secondary,
               memory_summary(*run_.memory));
  kit::explain(theme, tools, "The memory of one step", kMemoryDefinition,
               peak_sources(*run_.memory));
}

void MemoryTab::draw_none(const kit::Theme& theme, const state::Rect& rect,
                          const std::optional<RecordedRun>& run) {
  const state::Palette& p = theme.colors();
  const NoMemoryRecord none = no_memory_record(*run_.memory, run);
  state::Rect area = rect;
  area.y += std::max(0.0f, rect.h / 2 - theme.px(44));
  kit::text_in(theme, area.take_top(theme.px(24)), kit::Face::kStrong, p.text, none.title,
               kit::Align::kCenter);
  const float body = kit::wrapped_height(theme, kit::Face::kBody, area.w, none.body);
  kit::empty_note(theme, area.take_top(std::max(theme.px(24), body), theme.px(8)), none.body);
  if (none.nearest_step < 0) return;
  const std::string label = "Show step " + present::format_integer(none.nearest_step);
  const float width = kit::button_width(theme, label);
  if (kit::button(theme, "memory/nearest",
                  {area.center_x() - width / 2, area.y, width, theme.px(30)},
                  kit::ButtonKind::kQuiet, label)) {
    wanted_.step = none.nearest_step;
  }
}

// ---- the picture

void MemoryTab::use_mouse(const FlameCanvas& canvas, const trace::timeline::FlameHit& hit) {
  const state::Rect area{canvas.plot.x, canvas.plot.y, canvas.plot.w,
                         canvas.axis.bottom() - canvas.plot.y};
  const kit::Hit mouse = kit::mouse_area(canvas.theme, "memory/plot", area);
  if (mouse.hovered) turn_wheel(area, run_.window);
  if (mouse.pressed) run_.moved = false;
  if (mouse.held) {
    const ImVec2 way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    const bool first = !run_.moved && std::abs(way.x) >= kit::kDragBegins;
    run_.moved = run_.moved || first;
    const float delta = first ? way.x : ImGui::GetIO().MouseDelta.x;
    if (run_.moved) run_.window.pan(-static_cast<double>(delta / area.w));
  }
  const auto& flame = *run_.memory->flame;
  const int under =
      hit.band < 0 ? -1
                   : static_cast<int>(flame.bands[static_cast<std::size_t>(hit.band)].allocation);
  if (!mouse.clicked || run_.moved) return;
  if (mouse.double_clicked) {
    if (under < 0) return run_.window.fit();
    const StepAllocation& one = run_.memory->allocations->all[static_cast<std::size_t>(under)];
    run_.window.show(one.start_ns, one.end_ns, kAround);
  } else {
    run_.picked = under;
  }
}

void MemoryTab::explain_hit(const kit::Theme& theme, const trace::timeline::FlameHit& hit) const {
  const trace::timeline::MemoryFlame& flame = *run_.memory->flame;
  if (hit.band < 0 && hit.small < 0) return;
  const kit::TooltipScope scope(theme);
  if (hit.small >= 0) {
    const auto& small = flame.small[static_cast<std::size_t>(hit.small)];
    scope.title(small_text(small.count, small.bytes));
    scope.note("Each below " + present::bytes_text(flame.least_bytes) +
               ", or one of too many: less than a pixel here");
    return;
  }
  const auto& band = flame.bands[static_cast<std::size_t>(hit.band)];
  const StepAllocation& one = run_.memory->allocations->all[band.allocation];
  const state::Rgb swatch = state::memory_color(theme.colors(), one.category);
  scope.title(allocation_title(*run_.memory, one));
  scope.row(&swatch, present::memory_name(one.category), present::bytes_text(one.bytes));
  scope.row("Allocated", allocated_text(*run_.memory, one));
  scope.row("Freed", freed_text(*run_.memory, one));
  scope.row("Share of the peak", present::format_percent(static_cast<double>(one.bytes) /
                                                         static_cast<double>(std::max<std::int64_t>(
                                                             1, run_.memory->peak.bytes)))
                                     .text());
}

void MemoryTab::draw_picture(const kit::Theme& theme, const state::Rect& rect) {
  const FlameCanvas canvas = flame_canvas(theme, rect, *run_.memory, run_.window);
  if (canvas.plot.w < theme.px(80) || canvas.plot.h < theme.px(40)) return;
  trace::timeline::FlameHit hit;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (kit::hovers(canvas.plot) && canvas.plot.contains(mouse.x, mouse.y)) {
    hit = trace::timeline::find_in_flame(*run_.memory->allocations, *run_.memory->flame,
                                         canvas.time_at(mouse.x), canvas.bytes_at(mouse.y));
  }
  draw_flame(canvas, run_.picked, hit);
  use_mouse(canvas, hit);
  if (!run_.moved || !ImGui::IsMouseDown(ImGuiMouseButton_Left)) explain_hit(theme, hit);
}

void MemoryTab::draw_side(const kit::Theme& theme, state::Rect rect) {
  const state::Palette& p = theme.colors();
  kit::fill({rect.x, rect.y, 1, rect.h}, kit::color(p.panel_edge));
  rect = rect.inset(theme.px(14), 0);
  kit::text_in(theme, rect.take_top(theme.px(22)), kit::Face::kStrong, p.text,
               "At the step's peak: " + present::bytes_text(run_.memory->peak.bytes));
  const auto categories = std::ranges::count_if(run_.memory->peak.composition,
                                                [](std::int64_t bytes) { return bytes > 0; });
  const float legend = theme.px(16) + theme.px(19) * static_cast<float>(categories);
  draw_peak_composition(theme, rect.take_top(legend, theme.px(8)), *run_.memory);
  if (rect.h < theme.px(70)) return;
  const table::TableEvents events =
      view_.draw(theme, rect, run_.table, {.selected = picked_row(), .empty = "Nothing was alive"});
  if (events.clicked) run_.picked = static_cast<int>(run_.memory->peak.alive[*events.clicked]);
}

std::vector<trace::timeline::TimeRange> MemoryTab::draw(const kit::Theme& theme,
                                                        const state::Rect& rect,
                                                        const state::InspectView& view,
                                                        const std::optional<RecordedRun>& run,
                                                        state::Commands& commands) {
  ask(commands);
  if (view.memory) take(view.memory);
  if (!run_.memory) {
    kit::empty_note(theme, rect,
                    view.problem.empty() ? "Reading the step's allocations…" : view.problem);
    return {};
  }
  state::Rect area = rect;
  if (rect.h > theme.px(110)) {
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), view, rect, commands);
  }
  if (!run_.memory->allocations) {
    draw_none(theme, area, run);
  } else {
    if (area.w > theme.px(kSideWidth + kLeastPicture)) {
      draw_side(theme, area.take_right(theme.px(kSideWidth), theme.px(12)));
    }
    draw_picture(theme, area);
  }
  ask(commands);  // another one may have been chosen
  return std::exchange(run_.wanted_view, {});
}

}  // namespace shardlens::ui::inspect
