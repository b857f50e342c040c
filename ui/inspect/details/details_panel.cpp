#include "ui/inspect/details/details_panel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kFieldRow = 24, kParameterRow = 18, kDetailsTitle = 40, kLinkRow = 38;
constexpr std::size_t kMostParameters = 200;
// Before the picture of a collective on every rank, which says more than the fields that follow it.
constexpr std::size_t kFieldsBeforeCalls = 8;

bool is_figure_text(std::string_view text) {
  return !text.empty() && ((text.front() >= '0' && text.front() <= '9') || text.front() == '-' ||
                           text.starts_with("−") || text.starts_with("±") || text.starts_with("<"));
}

float label_column(const kit::Theme& theme, const state::Rect& area,
                   const trace::timeline::EventDetails& details) {
  float widest = 0;
  for (const trace::timeline::DetailField& field : details.fields) {
    widest = std::max(widest, kit::text_width(theme, kit::Face::kBody, field.label));
  }
  return std::min(std::ceil(widest) + theme.px(16), area.w * 0.48f);
}

kit::Face face_of(const trace::timeline::DetailField& field) {
  return is_figure_text(field.value) ? kit::Face::kMono : kit::Face::kBody;
}

// A second line for a value that needs one; a name that fills more is cut, and told by its tooltip.
float field_height(const kit::Theme& theme, float width,
                   const trace::timeline::DetailField& field) {
  const kit::Face face = face_of(field);
  if (kit::text_width(theme, face, field.value) <= width) return theme.px(kFieldRow);
  const float line = kit::wrapped_height(theme, face, width, "x");
  const float wanted = kit::wrapped_height(theme, face, width, field.value);
  return theme.px(kFieldRow) + (wanted <= 2.5f * line ? line : 0);
}

float fields_height(const kit::Theme& theme, const state::Rect& area,
                    const trace::timeline::EventDetails& details) {
  const float values = area.w - label_column(theme, area, details);
  float height = 0;
  for (const auto& field : details.fields) height += field_height(theme, values, field);
  return height;
}

// Takes their room from `rest`.
void draw_fields(const kit::Theme& theme, state::Rect& rest,
                 const trace::timeline::EventDetails& details, std::size_t first, std::size_t end) {
  const state::Palette& p = theme.colors();
  const float labels = label_column(theme, rest, details);
  for (std::size_t i = first; i < std::min(end, details.fields.size()); ++i) {
    const trace::timeline::DetailField& field = details.fields[i];
    const state::Rect row = rest.take_top(field_height(theme, rest.w - labels, field));
    state::Rect value = row;
    const state::Rect label = value.take_left(labels, 0);
    kit::text_in(theme, {label.x, label.y, label.w - theme.px(8), theme.px(kFieldRow)},
                 kit::Face::kBody, p.text_secondary, field.label);
    if (row.h > theme.px(kFieldRow)) {
      value.y += theme.px(3);
      kit::text_wrapped(theme, value, face_of(field), p.text, field.value);
    } else {
      kit::text_in(theme, value, face_of(field), p.text, field.value);
    }
    kit::explain(theme, row, field.label, field.value, field.note);
  }
}

float parameters_height(const kit::Theme& theme, const trace::timeline::EventDetails& details) {
  if (details.parameters.empty()) return 0;
  const std::size_t lines = std::min(details.parameters.size(), kMostParameters) +
                            (details.parameters.size() > kMostParameters ? 1 : 0);
  return theme.px(30) + theme.px(kParameterRow) * static_cast<float>(lines) + theme.px(8);
}

void draw_parameters(const kit::Theme& theme, const state::Rect& area,
                     const trace::timeline::EventDetails& details) {
  if (details.parameters.empty()) return;
  const state::Palette& p = theme.colors();
  state::Rect rest = area;
  const std::size_t count = details.parameters.size();
  kit::text_in(theme, rest.take_top(theme.px(30)), kit::Face::kStrong, p.text,
               count == 1 ? "1 parameter" : std::to_string(count) + " parameters");
  for (std::size_t i = 0; i < std::min(count, kMostParameters); ++i) {
    const state::Rect row = rest.take_top(theme.px(kParameterRow));
    kit::text_in(theme, row, kit::Face::kMonoSmall, p.text_secondary, details.parameters[i]);
    kit::explain(theme, row, "Parameter", details.parameters[i]);
  }
  if (count > kMostParameters) {
    kit::note_in(theme, rest.take_top(theme.px(kParameterRow)),
                 "and " + std::to_string(count - kMostParameters) + " more");
  }
}

// Behind the links to other events.
std::vector<std::string_view> own_links(const trace::timeline::EventDetails& details) {
  if (details.name.empty()) return {"Copy", "Save PNG"};
  return {"All instances", "Copy", "Save PNG"};
}

// How buttons of equal height are broken into rows; calls place(index, box) and returns the height.
template <typename Place>
float flow_links(const kit::Theme& theme, const state::Rect& area,
                 const trace::timeline::EventDetails& details, const Place& place) {
  float x = area.x, y = area.y;
  const float height = theme.px(28), gap = theme.px(8);
  const auto own = own_links(details);
  for (std::size_t i = 0; i < details.links.size() + own.size(); ++i) {
    const std::string_view label = i < details.links.size()
                                       ? std::string_view(details.links[i].label)
                                       : own[i - details.links.size()];
    const float width = std::min(kit::button_width(theme, label), area.w);
    if (x > area.x && x + width > area.right()) {
      x = area.x;
      y += height + gap;
    }
    place(i, state::Rect{x, y, width, height});
    x += width + gap;
  }
  return y + height - area.y;
}

std::string details_text(const trace::timeline::EventDetails& details) {
  std::string text = details.title;
  if (!details.subtitle.empty()) text += " · " + details.subtitle;
  text += "\n";
  for (const trace::timeline::DetailField& field : details.fields) {
    text += field.label + "\t" + field.value + "\n";
  }
  for (const std::string& parameter : details.parameters) text += "Parameter\t" + parameter + "\n";
  return text;
}

void draw_links(const kit::Theme& theme, const state::Rect& area,
                const trace::timeline::EventDetails& details, const state::SavePicture& picture,
                state::Commands& commands) {
  flow_links(theme, area, details, [&](std::size_t i, const state::Rect& box) {
    if (i >= details.links.size()) {
      const std::string_view label = own_links(details)[i - details.links.size()];
      if (!kit::button(theme, "details/" + std::string(label), box, kit::ButtonKind::kQuiet, label))
        return;
      if (label == "Save PNG") return commands.push_back(picture);
      if (label == "Copy") return commands.push_back(state::CopyText{details_text(details)});
      return commands.push_back(
          state::FindNames{{.text = details.name, .is_plain = true, .ignores_case = false}});
    }
    const trace::timeline::DetailLink& link = details.links[i];
    if (kit::button(theme, "details/" + link.label, box, kit::ButtonKind::kQuiet, link.label))
      commands.push_back(state::GoToEvent{link.target});
  });
}

// Title left, subtitle right or, where both do not fit beside each other, below it.
float draw_details_head(const kit::Theme& theme, const state::Rect& area,
                        const trace::timeline::EventDetails& details, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  state::Rect first = area;
  first.h = theme.px(kDetailsTitle);
  const float side = theme.px(20);
  const state::Rect close = first.take_right(side, theme.px(8));
  if (kit::icon_button(theme, "details/close", close.inset(0, (close.h - side) / 2),
                       kit::Shape::kCross))
    commands.push_back(state::DropEvent{});
  const float title = kit::text_width(theme, kit::Face::kStrong, details.title);
  const float subtitle = kit::text_width(theme, kit::Face::kSmall, details.subtitle);
  const bool beside = title + subtitle + theme.px(16) <= first.w;
  if (beside) kit::note_in(theme, first, details.subtitle, kit::Align::kRight);
  kit::text_in(theme, first, kit::Face::kStrong, p.text, details.title);
  kit::explain(theme, first, details.title, details.subtitle);
  if (beside || details.subtitle.empty()) return first.h;
  const state::Rect second{area.x, first.bottom() - theme.px(8), area.w, theme.px(20)};
  kit::note_in(theme, second, details.subtitle);
  return second.bottom() - area.y + theme.px(4);
}

void draw_nothing_picked(const kit::Theme& theme, const state::Rect& rect) {
  constexpr std::array<std::array<std::string_view, 2>, 8> kKeys{
      {{"Click", "details of an event"},
       {"Shift+drag", "figures of a range"},
       {"Scroll, W S", "zoom at the mouse"},
       {"Drag, A D", "pan"},
       {"F", "fit the whole run"},
       {"Ctrl+F", "find by name"},
       {"Enter", "zoom to what is picked"},
       {"Esc", "drop what is picked"}}};
  const state::Palette& p = theme.colors();
  const kit::Panel panel(theme, "details", rect, {.title = "Details"});
  state::Rect rest = panel.body;
  kit::take_wrapped(theme, rest, theme.px(12), kit::Face::kBody, p.text_secondary,
                    "Click an event in the timeline: everything recorded about it is shown here");
  for (const auto& [key, meaning] : kKeys) {
    state::Rect row = rest.take_top(theme.px(kFieldRow));
    if (row.h < theme.px(kFieldRow)) return;
    kit::text_in(theme, row.take_left(theme.px(96)), kit::Face::kMono, p.text, key);
    kit::text_in(theme, row, kit::Face::kBody, p.text_muted, meaning);
  }
}

}  // namespace

void draw_details_panel(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands) {
  const auto details = snapshot.inspect ? snapshot.inspect->details : nullptr;
  if (!details) return draw_nothing_picked(theme, rect);
  kit::panel_surface(theme, rect);
  state::Rect area = rect.inset(theme.px(kit::kPanelPadding), 0);
  const float head = draw_details_head(theme, area, *details, commands);
  area.take_top(head);
  area.h -= theme.px(kit::kPanelPadding);
  const state::Rect column{area.x, area.y, area.w - theme.px(6), area.h};  // beside a scroll bar
  const float calls = calls_height(theme, *details);
  const float gap = calls > 0 ? theme.px(8) : 0;
  const std::size_t leading = calls > 0 ? kFieldsBeforeCalls : details->fields.size();
  const float links = flow_links(theme, column, *details, [](std::size_t, const state::Rect&) {});
  const float foot = std::max(theme.px(kLinkRow), links + theme.px(10));
  // Where they would take most of the room, the buttons are scrolled to.
  const bool foot_scrolls = foot > 0.4f * area.h;
  const float content = fields_height(theme, column, *details) + 2 * gap + calls +
                        parameters_height(theme, *details) + (foot_scrolls ? foot : 0);
  const float room = area.h - (foot_scrolls ? 0 : foot);
  const state::Rect body = area.take_top(std::max(0.0f, std::min(content, room)));
  const state::SavePicture picture{
      table::export_file_name(snapshot.inspect->run_folder, "details_" + details->title, "png"),
      rect};
  const auto draw_foot = [&](const state::Rect& box) {
    draw_links(theme, {box.x, box.y + theme.px(10), box.w, box.h}, *details, picture, commands);
  };
  {
    const kit::Panel panel(theme, "details fields", {body.x, body.y, body.w + theme.px(8), body.h},
                           {.scrolls = true, .plain = true});
    state::Rect rest{column.x, panel.body.y, column.w, content};
    draw_fields(theme, rest, *details, 0, leading);
    rest.take_top(gap);
    draw_calls(theme, rest.take_top(calls, gap), *details, commands);
    draw_fields(theme, rest, *details, leading, details->fields.size());
    draw_parameters(theme, rest.take_top(parameters_height(theme, *details)), *details);
    if (foot_scrolls) draw_foot(rest);
    panel.content_height(content);
  }
  if (!foot_scrolls) draw_foot({column.x, area.y, column.w, area.h});
}

}  // namespace shardlens::ui::inspect
