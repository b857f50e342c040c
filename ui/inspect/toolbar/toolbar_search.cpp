#include "ui/inspect/toolbar/toolbar_search.h"

#include <imgui_stdlib.h>

#include <algorithm>
#include <cmath>

#include "ui/inspect/toolbar/toolbar_names.h"
#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::size_t kRemembered = 32;  // patterns whose answers may still come

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
  if (std::find(sent_.begin(), sent_.end(), hits_->pattern) != sent_.end()) return;
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
    commands.push_back(state::ClearFind{});
    return;
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
  if (theme.probe != nullptr) theme.probe->targets.push_back({"inspect/search", rect});
  const bool bad = is_answered(view) && !view.hits->problem.empty();
  kit::fill(rect, kit::color(kit::hovers(rect) ? p.hover : p.field), theme.px(6));
  kit::outline(rect, kit::color(bad ? p.danger : active_ ? p.accent : p.field_edge), theme.px(6));
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
