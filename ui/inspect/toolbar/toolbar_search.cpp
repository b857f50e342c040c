#include "ui/inspect/toolbar/toolbar_search.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/focus_ring.h"
#include "ui/kit/keys.h"
#include "ui/kit/panel.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/timeline/timeline_time_text.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::size_t kRemembered = 32;  // patterns whose answers may still come

constexpr std::size_t kMostListed = 12;
constexpr const char *kNamePrefix = "inspect/found ", *kInstancePrefix = "inspect/instance ";
constexpr float kNameRow = 26, kNameListWidth = 560;

std::string_view table_name(trace::timeline::EventTableKind table) {
  using trace::timeline::EventTableKind;
  constexpr std::array<std::string_view, 8> kNames{"",     "operator",   "kernel", "launch",
                                                   "copy", "allocation", "phase",  "collective"};
  return trace::base::enum_name<EventTableKind::kCollective>(kNames, table);
}

// Above everything else of the workspace, beside the field's keyboard focus.
class NamesWindow {
 public:
  NamesWindow(const kit::Theme& theme, const state::Rect& box) : theme_(theme) {
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.w, box.h});
    ImGui::PushStyleColor(ImGuiCol_WindowBg, kit::color(theme.colors().popup));
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 1.0f);
    ImGui::Begin("##found names", nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoFocusOnAppearing);
    if (theme.probe != nullptr) theme.probe->layer += 5;
  }
  ~NamesWindow() {
    if (theme_.probe != nullptr) theme_.probe->layer -= 5;
    ImGui::End();
    ImGui::PopStyleVar();
    ImGui::PopStyleColor();
  }
  NamesWindow(const NamesWindow&) = delete;
  NamesWindow& operator=(const NamesWindow&) = delete;

 private:
  const kit::Theme& theme_;
};

bool draw_name(const kit::Theme& theme, const state::Rect& row, std::size_t index,
               const trace::timeline::NameHit& hit) {
  const state::Palette& p = theme.colors();
  const kit::Hit mouse = kit::hit_area(theme, kNamePrefix + std::to_string(index), row);
  if (mouse.hovered) kit::fill(row, kit::color(p.hover), theme.px(4));
  state::Rect inner = row.inset(theme.px(6), 0);
  const std::string count =
      present::format_integer(hit.count) + " × · " + present::length_text(hit.total_ns);
  kit::take_text(theme, inner, theme.px(10), kit::Face::kMonoSmall, p.text_secondary, count,
                 kit::Align::kRight);
  const float kind = std::ceil(kit::text_width(theme, kit::Face::kSmall, "collective"));
  kit::note_in(theme, inner.take_right(kind, theme.px(10)), table_name(hit.table),
               kit::Align::kRight);
  kit::text_in(theme, inner, kit::Face::kMono, p.text,
               kit::fitting_name(theme, kit::Face::kMono, hit.name, inner.w));
  return mouse.clicked;
}

// Behind the listed ones, or in place of them; "" where there is nothing to say.
std::string rest_text(const trace::timeline::NameHits& hits, std::size_t listed) {
  if (listed == 0) return hits.is_complete ? "No name matches" : "No name matches so far";
  const std::size_t more = hits.names.size() - listed;
  if (more == 0) return "";
  return "and " + trace::base::counted(more, "more name") + ": type more to see them";
}

constexpr float kInstanceRow = 22, kInstanceTitle = 24;
constexpr std::size_t kInstancesInSight = 12;

std::string title_of(const trace::timeline::NameHits& hits) {
  const auto listed = static_cast<std::int64_t>(hits.instances.size());
  if (listed >= hits.count) return "All, by time";
  return "The first " + present::format_integer(listed) + " of " +
         present::format_integer(hits.count) + ", by time";
}

bool draw_instance(const kit::Theme& theme, const state::Rect& row, std::size_t index,
                   const trace::timeline::HitInstance& instance, std::int64_t origin_ns) {
  const state::Palette& p = theme.colors();
  const kit::Hit mouse = kit::hit_area(theme, kInstancePrefix + std::to_string(index), row);
  if (mouse.hovered) kit::fill(row, kit::color(p.hover), theme.px(4));
  state::Rect rest = row.inset(theme.px(6), 0);
  const trace::timeline::EventPlace& place = instance.place;
  kit::text_in(theme, rest.take_left(theme.px(72)), kit::Face::kSmall, p.text,
               "rank " + std::to_string(place.ref.rank));
  kit::text_in(
      theme, rest.take_left(theme.px(110)), kit::Face::kSmall, p.text,
      instance.step < 0 ? "outside of steps" : "step " + present::format_integer(instance.step));
  const std::string length =
      present::length_text(std::max<std::int64_t>(0, place.end_ns - place.start_ns));
  kit::text_in(theme, rest.take_right(theme.px(90), theme.px(10)), kit::Face::kMonoSmall, p.text,
               length, kit::Align::kRight);
  kit::text_in(theme, rest, kit::Face::kMonoSmall, p.text_muted,
               "at " + present::length_text(place.start_ns - origin_ns), kit::Align::kRight);
  return mouse.clicked;
}

float instances_height(const kit::Theme& theme, const trace::timeline::NameHits& hits) {
  if (hits.instances.empty()) return 0;
  const std::size_t rows = std::min(hits.instances.size(), kInstancesInSight);
  return theme.px(kInstanceTitle) + theme.px(kInstanceRow) * static_cast<float>(rows);
}

std::optional<std::size_t> draw_instances(const kit::Theme& theme, const state::Rect& rect,
                                          const trace::timeline::NameHits& hits,
                                          std::int64_t origin_ns) {
  state::Rect list = rect;
  kit::note_in(theme, list.take_top(theme.px(kInstanceTitle)).inset(theme.px(6), 0),
               title_of(hits));
  const kit::Panel panel(theme, "found instances", list, {.scrolls = true, .plain = true});
  const float height = theme.px(kInstanceRow);
  const float content = height * static_cast<float>(hits.instances.size());
  const float bar = content > list.h + 1 ? theme.px(8) : 0;
  std::optional<std::size_t> clicked;
  const auto [first, last] = kit::rows_to_draw(list, panel.body.y, height, hits.instances.size());
  for (std::size_t i = first; i < last; ++i) {
    const state::Rect row{list.x, panel.body.y + height * static_cast<float>(i), list.w - bar,
                          height};
    if (draw_instance(theme, row, i, hits.instances[i], origin_ns)) clicked = i;
  }
  panel.content_height(content);
  return clicked;
}

// The keyboard went from the field to one of them.
bool found_names_have_focus(const kit::Theme& theme) {
  if (theme.focus == nullptr || !theme.focus->is_visible()) return false;
  const std::string& name = theme.focus->name();
  return name.starts_with(kNamePrefix) || name.starts_with(kInstancePrefix);
}

struct FoundNames {
  bool hovered = false;
  std::optional<std::size_t> chosen;    // into NameHits::names
  std::optional<std::size_t> instance;  // into NameHits::instances
};

// Below the field: the names that were found, with their counts, and of one name every event; or
// why none can be. `origin_ns`: the start of the run.
FoundNames draw_found_names(const kit::Theme& theme, const state::Rect& field,
                            const trace::timeline::NameHits& hits, std::int64_t origin_ns) {
  const state::Palette& p = theme.colors();
  const std::size_t rows = hits.problem.empty() ? std::min(hits.names.size(), kMostListed) : 0;
  const float room = ImGui::GetIO().DisplaySize.x - field.x - theme.px(8);
  const float width = std::min(theme.px(kNameListWidth), room);
  const std::string rest_of_names = hits.problem.empty() ? rest_text(hits, rows) : "";
  const std::size_t lines = rows + (rest_of_names.empty() ? 0 : 1);
  float height = theme.px(12) + theme.px(kNameRow) * static_cast<float>(lines);
  if (!hits.problem.empty()) {
    height = theme.px(16) +
             kit::wrapped_height(theme, kit::Face::kSmall, width - theme.px(20), hits.problem);
  }
  const float instances = instances_height(theme, hits);
  const state::Rect box{field.x, field.bottom() + theme.px(4), width, height + instances};
  const NamesWindow window(theme, box);
  FoundNames found;
  found.hovered = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem |
                                         ImGuiHoveredFlags_ChildWindows);
  state::Rect rest = box.inset(theme.px(6), theme.px(6));
  if (!hits.problem.empty()) {
    kit::text_wrapped(theme, rest.inset(theme.px(4), 0), kit::Face::kSmall, p.danger, hits.problem);
  }
  for (std::size_t i = 0; i < rows; ++i) {
    if (draw_name(theme, rest.take_top(theme.px(kNameRow)), i, hits.names[i])) found.chosen = i;
  }
  if (!rest_of_names.empty()) {
    kit::note_in(theme, rest.take_top(theme.px(kNameRow)).inset(theme.px(6), 0), rest_of_names);
  }
  if (instances > 0) found.instance = draw_instances(theme, rest, hits, origin_ns);
  return found;
}

}  // namespace

void SearchField::clear() {
  text_.clear();
  is_plain_ = false;
  sent_.clear();
  hits_.reset();
}

bool SearchField::is_answered(const state::InspectView& view) const {
  return view.hits && !sent_.empty() && view.hits->pattern == sent_.back();
}

// A table may ask for a name as well: then that is what the field says.
void SearchField::follow(const state::InspectView& view) {
  if (view.hits == hits_) return;
  const bool was_shown = hits_ != nullptr;
  hits_ = view.hits;
  if (active_) return;
  if (!hits_) {
    if (was_shown) clear();
    return;
  }
  if (std::ranges::find(sent_, hits_->pattern) != sent_.end()) return;
  text_ = hits_->pattern.text;
  is_plain_ = hits_->pattern.is_plain;
  sent_ = {hits_->pattern};
}

void SearchField::list(const trace::timeline::NamePattern& name) {
  text_ = name.text;
  is_plain_ = name.is_plain;
  sent_.push_back(name);
  list_open_ = focus_ = true;
}

void SearchField::send(state::Commands& commands) {
  list_open_ = !text_.empty();
  if (text_.empty()) {
    sent_.clear();
    return commands.push_back(state::FindNames{});
  }
  sent_.push_back({.text = text_, .is_plain = is_plain_});
  if (sent_.size() > kRemembered) sent_.pop_front();
  commands.push_back(state::FindNames{sent_.back()});
}

void SearchField::drop(state::Commands& commands) {
  text_.clear();
  is_plain_ = false;
  send(commands);
}

std::string SearchField::count_text(const state::InspectView& view) const {
  if (text_.empty()) return "";
  if (!is_answered(view)) return "…";
  if (!view.hits->problem.empty()) return "not valid";
  const std::string count = present::format_integer(view.hits->count);
  return count + (view.hits->is_complete ? "" : "+") + (view.hits->count == 1 ? " hit" : " hits");
}

void SearchField::edit(const kit::Theme& theme, const state::Rect& box, std::int64_t from_ns,
                       state::Commands& commands) {
  const kit::BareField bare(theme, box);
  if (focus_) ImGui::SetKeyboardFocusHere();
  focus_ = false;
  const bool was_active = active_;
  kit::FieldFocus focus(theme, "inspect/search", box);
  focus.gave_up("##search", &text_);
  const bool edited = ImGui::InputTextWithHint("##search", "Search names  Ctrl+F", &text_);
  focus.after();
  active_ = ImGui::IsItemActive();
  if (was_active && kit::key_pressed(kit::Key::kEscape, false)) return drop(commands);
  if (edited) {
    is_plain_ = false;
    send(commands);
  }
  if (!was_active || !kit::enter_pressed() || text_.empty()) return;
  commands.push_back(state::GoToHit{ImGui::GetIO().KeyShift ? -1 : 1, from_ns});
  focus_ = true;
  list_open_ = false;
}

void SearchField::draw_list(const kit::Theme& theme, const state::Rect& field,
                            const state::InspectView& view, std::int64_t from_ns,
                            state::Commands& commands) {
  const bool is_used = active_ || list_hovered_ || found_names_have_focus(theme);
  const bool wanted = list_open_ && !text_.empty() && is_answered(view) && is_used;
  list_hovered_ = false;
  if (!wanted) return;
  const FoundNames found = draw_found_names(theme, field, *view.hits, view.rows->start_ns);
  list_hovered_ = found.hovered;
  if (found.instance) {
    commands.push_back(state::GoToEvent{view.hits->instances[*found.instance].place});
    return;
  }
  if (!found.chosen) return;
  text_ = view.hits->names[*found.chosen].name;
  is_plain_ = true;
  send(commands);
  commands.push_back(state::GoToHit{1, from_ns});
  list_open_ = false;
}

void SearchField::draw(const kit::Theme& theme, const state::Rect& rect,
                       const state::InspectView& view, std::int64_t from_ns,
                       state::Commands& commands) {
  follow(view);
  const state::Palette& p = theme.colors();
  const bool bad = is_answered(view) && !view.hits->problem.empty();
  const state::Rgb edge = bad ? p.danger : active_ ? p.accent : p.field_edge;
  kit::bordered(rect, kit::color(kit::hovers(rect) ? p.hover : p.field), kit::color(edge),
                theme.px(6));
  state::Rect inner = rect.inset(theme.px(10), 0);
  if (is_set()) {
    const state::Rect cross = inner.take_right(theme.px(16), theme.px(6));
    if (kit::icon_button(theme, "inspect/search/clear", cross, kit::Shape::kCross)) drop(commands);
    kit::explain(theme, cross, "Clear the search", "", "Esc");
  }
  const std::string count = count_text(view);
  const float width = std::ceil(kit::text_width(theme, kit::Face::kSmall, count));
  if (width > 0 && width < inner.w * 0.5f) {
    kit::text_in(theme, inner.take_right(width, theme.px(8)), kit::Face::kSmall,
                 bad ? p.danger : p.text_muted, count, kit::Align::kRight);
  }
  edit(theme, inner, from_ns, commands);
  draw_list(theme, rect, view, from_ns, commands);
}

}  // namespace shardlens::ui::inspect
