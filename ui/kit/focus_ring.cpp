#include "ui/kit/focus_ring.h"

#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ui/kit/draw_probe.h"
#include "ui/kit/keys.h"
#include "ui/kit/paint.h"

namespace shardlens::ui::kit {

namespace {

float gap(float a_start, float a_end, float b_start, float b_end) {
  return std::max({0.0f, b_start - a_end, a_start - b_end});
}

// Fields of text keep what they use themselves.
bool edits_text() { return ImGui::GetIO().WantTextInput; }

// Null: no pop-up is open.
const ImGuiWindow* top_popup() {
  const auto& popups = ImGui::GetCurrentContext()->OpenPopupStack;
  return popups.empty() ? nullptr : popups.back().Window;
}

}  // namespace

// The window lies below; of others the one that was drawn last is on top, but for overlays, which
// may have no controls, and pop-ups.
const ImGuiWindow* FocusRing::top_of(const std::vector<Control>& controls,
                                     const ImGuiWindow* overlay) {
  if (const ImGuiWindow* popup = top_popup()) return popup;
  if (overlay != nullptr || controls.empty()) return overlay;
  const ImGuiWindow* below = controls.front().root;
  const auto above = std::find_if(controls.rbegin(), controls.rend(),
                                  [&](const Control& control) { return control.root != below; });
  return above == controls.rend() ? below : above->root;
}

std::vector<const FocusRing::Control*> FocusRing::reachable() const {
  std::vector<const Control*> found;
  const ImGuiWindow* top = top_of(before_, overlay_before_);
  for (const Control& control : before_) {
    if (control.root == top) found.push_back(&control);
  }
  return found;
}

const FocusRing::Control* FocusRing::find_current(
    const std::vector<const Control*>& controls) const {
  for (const std::string* name : {&name_, &below_}) {
    const auto at = std::ranges::find(controls, *name, [](const Control* c) { return c->name; });
    if (at != controls.end()) return *at;
  }
  return nullptr;
}

void FocusRing::enter(const Control& control) {
  const auto before = std::ranges::find(before_, name_, &Control::name);
  if (before != before_.end() && before->root != control.root) below_ = name_;
  left_ = name_;
  name_ = control.name;
  visible_ = now_.entered = true;
}

// Which closes: the keyboard goes back to what opened it.
void FocusRing::leave_popup() {
  const auto own = std::ranges::find(before_, name_, &Control::name);
  if (edits_text() || own == before_.end() || own->root != top_popup()) return;
  name_ = std::exchange(below_, {});
}

const state::Rect* FocusRing::rect() const {
  if (!visible_) return nullptr;
  for (const auto* controls : {&controls_, &before_}) {
    const auto own = std::ranges::find(*controls, name_, &Control::name);
    if (own != controls->end()) return &own->rect;
  }
  return nullptr;
}

bool FocusRing::enter_overlay() {
  overlay_ = ImGui::GetCurrentWindow()->RootWindow;
  return ++overlays_ >= overlays_before_;
}

void FocusRing::step(int direction) {
  const auto controls = reachable();
  if (controls.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(controls.size());
  std::ptrdiff_t next = direction > 0 ? 0 : count - 1;
  if (const Control* current = find_current(controls)) {
    next = std::ranges::find(controls, current) - controls.begin();
    // Where Esc or the mouse let go of it, it comes back.
    if (visible_ || edits_text()) next = (next + direction + count) % count;
  }
  enter(*controls[static_cast<std::size_t>(next)]);
}

void FocusRing::move(Way way) {
  const auto controls = reachable();
  const Control* current = find_current(controls);
  if (current == nullptr) return step(1);
  const state::Rect from = current->rect;
  const Control* best = nullptr;
  float nearest = 0;
  for (const Control* control : controls) {
    const state::Rect& to = control->rect;
    const float across = to.center_x() - from.center_x(), down = to.center_y() - from.center_y();
    const bool sideways = way == Way::kLeft || way == Way::kRight;
    const float ahead =
        sideways ? (way == Way::kRight ? across : -across) : (way == Way::kDown ? down : -down);
    const float along = sideways ? gap(from.x, from.right(), to.x, to.right())
                                 : gap(from.y, from.bottom(), to.y, to.bottom());
    const float beside = sideways ? gap(from.y, from.bottom(), to.y, to.bottom())
                                  : gap(from.x, from.right(), to.x, to.right());
    if (control == current || ahead < 1 || (along == 0 && beside > 0)) continue;
    const float distance = along + 3 * beside + 0.1f * std::abs(sideways ? down : across);
    if (best != nullptr && distance >= nearest) continue;
    best = control;
    nearest = distance;
  }
  if (best != nullptr) enter(*best);
}

void FocusRing::begin_frame(bool keys) {
  before_ = std::exchange(controls_, {});
  const bool opened_menu = std::exchange(now_, {}).asks_menu && top_popup() != nullptr;
  took_key_ = false;
  overlays_before_ = std::exchange(overlays_, 0);
  overlay_before_ = std::exchange(overlay_, nullptr);
  left_.clear();
  const ImGuiIO& io = ImGui::GetIO();
  for (const bool down : io.MouseDown) {
    if (down) visible_ = false;
  }
  if (!keys || io.KeyCtrl || io.KeyAlt) return;
  if (key_pressed(Key::kTab)) {
    took_key_ = true;
    return step(io.KeyShift ? -1 : 1);
  }
  if (!visible_) return;
  if (opened_menu) return step(1);
  if (key_pressed(Key::kEscape, false)) {
    if (top_popup() != nullptr) return leave_popup();
    visible_ = false;
    took_key_ = !edits_text();
    return;
  }
  if (edits_text()) return;
  // What lies under a card or a pop-up keeps the ring, but no key.
  const auto controls = reachable();
  const auto own = std::ranges::find(controls, name_, [](const Control* c) { return c->name; });
  const bool is_reachable = own != controls.end();
  now_.activated = is_reachable && enter_pressed();
  now_.asks_menu = is_reachable && (key_pressed(Key::kMenu, false) ||
                                    (io.KeyShift && key_pressed(Key::kF10, false)));
  took_key_ = now_.activated || now_.asks_menu;
  for (const auto& [key, way] : {std::pair{Key::kLeft, Way::kLeft},
                                 {Key::kRight, Way::kRight},
                                 {Key::kUp, Way::kUp},
                                 {Key::kDown, Way::kDown}}) {
    if (!key_pressed(key)) continue;
    took_key_ = true;
    if (!is_reachable || !(*own)->slides || way == Way::kUp || way == Way::kDown) return move(way);
    now_.slid = way == Way::kLeft ? -1 : 1;
    return;
  }
}

FocusRing::Visit FocusRing::visit(std::string_view name, const state::Rect& rect, bool slides) {
  ImGuiWindow* window = ImGui::GetCurrentWindow();
  controls_.push_back({std::string(name), rect, window->RootWindow, slides});
  if (!is_on(name)) return {.left = !left_.empty() && name == left_};
  const ImRect& seen = window->InnerClipRect;
  const bool hidden = rect.y < seen.Min.y || rect.bottom() > seen.Max.y;
  if (now_.entered && hidden && window->ScrollMax.y > 0) {
    ImGui::SetScrollFromPosY(window, rect.center_y() - window->Pos.y, 0.5f);
  }
  return now_;
}

void FocusRing::end_frame(const Theme& theme) {
  if (!visible_) return;
  const auto at = std::ranges::find(controls_, name_, &Control::name);
  if (at == controls_.end() || at->root != top_of(controls_, overlay_)) return;
  const float width = std::max(2.0f, theme.px(2));
  const state::Rect ring = at->rect.inset(-width, -width);
  ImGui::GetForegroundDrawList()->AddRect({ring.x, ring.y}, {ring.right(), ring.bottom()},
                                          color(theme.colors().accent), theme.px(6), 0, width);
}

}  // namespace shardlens::ui::kit
