// What can be pressed, picked, dragged and hovered. Interface thread, inside a frame.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "ui/kit/paint.h"

namespace shardlens::ui::kit {

// What moves a timeline or a chart under the mouse: a notch of the wheel makes it as many times as
// long; a shorter way with the button down, in pixels, is a click.
inline constexpr double kWheelZoom = 1.25;
inline constexpr float kDragBegins = 3;
inline constexpr float kSliderKeyStep = 0.02f;  // of its length

struct Hit {
  bool hovered = false;
  bool clicked = false;  // released inside
  bool pressed = false;  // went down in this frame
  bool held = false;
  bool double_clicked = false;  // released the second time; clicked, too
  bool right_clicked = false;
  bool entered = false;  // by the focus, in this frame: it is to be in sight
};

// A control: reacts to the mouse, and to Enter once Tab or arrows have reached it. `name` is unique
// within the window.
Hit hit_area(const Theme& theme, std::string_view name, const state::Rect& rect);
// A plot, a handle: reacts to where the mouse is, and means nothing without it.
Hit mouse_area(const Theme& theme, std::string_view name, const state::Rect& rect);

// Before an input field of ImGui, in its ID scope; `text` is what it is to show. What was typed
// cannot be undone once the text was changed by others: Dear ImGui 1.86 would undo it in whatever
// text is there by then, and write behind its end.
void forget_undo(const char* label, const std::string& text);

// Around an input field of ImGui: `name` and `rect` as of a control. Takes the keyboard when the
// focus comes; once it goes, the text so far is in `text`, and true is returned.
class FieldFocus {
 public:
  FieldFocus(const Theme& theme, std::string_view name, const state::Rect& rect);
  bool gave_up(const char* label, std::string* text);  // as forget_undo(), which it calls
  void after() const;                                  // behind it

 private:
  const Theme& theme_;
  std::string_view name_;
  bool left_ = false;
};

// Around an input field of ImGui that is drawn without a frame: one line in the fixed-width face,
// over all of `box`.
class BareField {
 public:
  BareField(const Theme& theme, const state::Rect& box);
  ~BareField();
  BareField(const BareField&) = delete;
  BareField& operator=(const BareField&) = delete;
};

// Words that are pressed like a button; brighter under the mouse.
bool link(const Theme& theme, std::string_view name, const state::Rect& rect, state::Rgb ink,
          std::string_view words);

enum class ButtonKind : std::uint8_t { kPrimary, kQuiet, kDanger, kGhost };
bool button(const Theme& theme, std::string_view name, const state::Rect& rect, ButtonKind kind,
            std::string_view label, bool enabled = true);
// One that is pressed even where it is not enabled, as it looks: what answers it says why not.
bool answering_button(const Theme& theme, std::string_view name, const state::Rect& rect,
                      ButtonKind kind, std::string_view label, bool enabled);
bool icon_button(const Theme& theme, std::string_view name, const state::Rect& rect, Shape icon,
                 bool enabled = true);
float button_width(const Theme& theme, std::string_view label,
                   ButtonKind kind = ButtonKind::kQuiet);
// As wide as its label; takes its room, and a gap, from the right of `row`.
bool button_at_right(const Theme& theme, std::string_view name, state::Rect& row, ButtonKind kind,
                     std::string_view label, bool enabled = true);

// The box of a checkbox, wherever its label stands.
void tick_box(const Theme& theme, const state::Rect& box, bool is_ticked, bool is_hovered,
              bool is_changed = false);
// Each returns true when the user changed the value in this frame.
bool checkbox(const Theme& theme, std::string_view name, const state::Rect& rect, bool& value,
              bool changed = false);
// `value` is one of `choices`, or anything else where `open`: then the pop-up has an input field.
bool choice_field(const Theme& theme, std::string_view name, const state::Rect& rect,
                  std::string& value, std::span<const std::string_view> choices, bool open,
                  bool changed = false);
// Reports on Enter and when the focus leaves; `unit` stands grey behind the number.
bool input_field(const Theme& theme, std::string_view name, const state::Rect& rect,
                 std::string& value, std::string_view unit, bool changed = false);
// `position` in 0..1; true while it is dragged to another one.
bool slider(const Theme& theme, std::string_view name, const state::Rect& rect, float& position,
            bool changed = false);

// A titled explanation beside the mouse: `title` strong, `body` wrapped, `source` grey.
void tooltip(const Theme& theme, std::string_view title, std::string_view body,
             std::string_view source = {});
// The same for an area that cannot be clicked.
void explain(const Theme& theme, const state::Rect& rect, std::string_view title,
             std::string_view body, std::string_view source = {});
bool hovers(const state::Rect& rect);  // the current window is under the mouse, and so is `rect`

// For tooltips with rows of their own.
class TooltipScope {
 public:
  explicit TooltipScope(const Theme& theme);
  ~TooltipScope();
  TooltipScope(const TooltipScope&) = delete;
  TooltipScope& operator=(const TooltipScope&) = delete;
  void title(std::string_view text) const;
  // A name and a figure at the right; with a coloured square before them.
  void row(std::string_view name, std::string_view value) const { row(nullptr, name, value); }
  void row(const state::Rgb* swatch, std::string_view name, std::string_view value) const;
  void note(std::string_view text) const;  // grey, wrapped

 private:
  const Theme& theme_;
};

}  // namespace shardlens::ui::kit
