#include "ui/window/help_overlay.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "ui/kit/overlay.h"
#include "ui/kit/widgets.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {

namespace {

constexpr std::array<KeyHint, 25> kHints{
    KeyHint{"Ctrl+Enter", "Start, or queue while a run goes on"},
    KeyHint{"Ctrl+K", "Every command and setting"},
    KeyHint{"Ctrl+1", "Tune"},
    KeyHint{"Ctrl+2", "Inspect"},
    KeyHint{"Ctrl+3", "Compare"},
    KeyHint{"Ctrl+4", "Learn"},
    KeyHint{"Space", "Follow live; play or pause a replay"},
    KeyHint{"← →", "Previous and next step"},
    KeyHint{"Scroll, W S", "Zoom the timeline"},
    KeyHint{"Drag, A D", "Pan the timeline"},
    KeyHint{"Shift+scroll", "More ranks"},
    KeyHint{"F", "Fit the whole step"},
    KeyHint{"M", "Measure: drag over the timeline"},
    KeyHint{"Click", "Details; a rank's name folds it"},
    KeyHint{"Esc", "Close a menu or card, end a measure"},
    KeyHint{"Tab", "From control to control; arrows, Enter"},
    KeyHint{"Shift+F10", "Menu of a run that has the keyboard"},
    KeyHint{"Double-click", "On a run: replay it"},
    KeyHint{"P", "Plan: what every strategy would need"},
    KeyHint{"Ctrl+B", "Fold or unfold the settings"},
    KeyHint{"Ctrl+T", "Dark or light"},
    KeyHint{"Ctrl + / −", "Larger or smaller"},
    KeyHint{"Ctrl+0", "Normal size"},
    KeyHint{"F11", "Present mode"},
    KeyHint{"?", "These keys"},
};

constexpr std::array<KeyHint, 27> kInspectHints{
    KeyHint{"Ctrl+F", "Find names; Enter: next, Shift+Enter: back"},
    KeyHint{"Ctrl+K", "Every command and setting"},
    KeyHint{"Ctrl+1 2 3 4", "Tune, Inspect, Compare, Learn"},
    KeyHint{"Tab, Shift+F10", "From control to control; a row's menu"},
    KeyHint{"Scroll, W S", "Zoom at the mouse"},
    KeyHint{"Drag, A D", "Pan"},
    KeyHint{"Shift+scroll", "More rows"},
    KeyHint{"F", "Fit the whole run"},
    KeyHint{"Shift+drag", "Select a range, also on the axis"},
    KeyHint{"M", "Measure between borders of events"},
    KeyHint{"Click", "Details of an event; a name folds rows"},
    KeyHint{"Double-click", "Zoom to an event or a step"},
    KeyHint{"← →", "Previous and next event, or step"},
    KeyHint{"↑ ↓", "Rows"},
    KeyHint{"Enter", "Zoom to what is picked or selected"},
    KeyHint{"Esc", "Clear search, measure, event, selection"},
    KeyHint{"B", "Set or remove a bookmark"},
    KeyHint{"[ ]", "Previous and next bookmark"},
    KeyHint{"Ctrl+Tab", "Next tab of the tables"},
    KeyHint{"Ctrl+Enter", "Start, or queue; in the SQL editor: ask"},
    KeyHint{"Space", "Follow live; play or pause a replay"},
    KeyHint{"P", "Plan: what every strategy would need"},
    KeyHint{"Ctrl+T", "Dark or light"},
    KeyHint{"Ctrl + / −", "Larger or smaller"},
    KeyHint{"Ctrl+0", "Normal size"},
    KeyHint{"F11", "Present mode"},
    KeyHint{"?", "These keys"},
};

constexpr std::array<KeyHint, 16> kCompareHints{
    KeyHint{"Ctrl+Enter", "Start, or queue while a run goes on"},
    KeyHint{"Ctrl+K", "Every command and setting"},
    KeyHint{"Ctrl+1 2 3 4", "Tune, Inspect, Compare, Learn"},
    KeyHint{"← →", "Previous and next step of all runs"},
    KeyHint{"Scroll, W S", "Zoom the timelines"},
    KeyHint{"Drag, A D", "Pan the timelines"},
    KeyHint{"F", "Fit the whole step"},
    KeyHint{"M", "Measure: drag over a timeline"},
    KeyHint{"Esc", "Close a menu or card, end a measure"},
    KeyHint{"Tab", "From control to control; arrows, Enter"},
    KeyHint{"P", "Plan: what every strategy would need"},
    KeyHint{"Ctrl+T", "Dark or light"},
    KeyHint{"Ctrl + / −", "Larger or smaller"},
    KeyHint{"Ctrl+0", "Normal size"},
    KeyHint{"F11", "Present mode"},
    KeyHint{"?", "These keys"},
};

constexpr KeyHint kPages{"PageDown/Up", "Next and previous page of the lesson"};
constexpr KeyHint kPresenterPages{"PageDown/Up", "pages"};

constexpr std::array<KeyHint, 8> kPresenterHints{
    KeyHint{"Space", "follow, pause"},
    KeyHint{"← →", "steps"},
    KeyHint{"W S", "zoom"},
    KeyHint{"A D", "pan"},
    KeyHint{"F", "fit"},
    KeyHint{"M", "measure"},
    KeyHint{"Ctrl+K", "commands"},
    KeyHint{"F11", "leave"},
};

float draw_key_cap(const kit::Theme& theme, const state::Rect& row, std::string_view keys) {
  const state::Palette& p = theme.colors();
  const float width = kit::text_width(theme, kit::Face::kMonoSmall, keys) + theme.px(12);
  const state::Rect cap{row.x, row.center_y() - theme.px(10), width, theme.px(20)};
  kit::fill(cap, kit::color(p.field), theme.px(4));
  kit::outline(cap, kit::color(p.field_edge), theme.px(4));
  kit::text_in(theme, cap, kit::Face::kMonoSmall, p.text, keys, kit::Align::kCenter);
  return width;
}

}  // namespace

std::vector<KeyHint> key_hints(std::string_view workspace, bool learns) {
  std::span<const KeyHint> own = kHints;
  if (workspace == state::kInspectWorkspace) own = kInspectHints;
  if (workspace == state::kCompareWorkspace) own = kCompareHints;
  std::vector<KeyHint> hints(own.begin(), own.end());
  if (learns) hints.insert(hints.begin(), kPages);
  return hints;
}

bool draw_help_overlay(const kit::Theme& theme, const state::Rect& window,
                       std::span<const KeyHint> hints) {
  const state::Palette& p = theme.colors();
  const std::size_t rows = (hints.size() + 1) / 2;
  const float width = std::min(theme.px(860), window.w - theme.px(24));
  const float line_height =
      std::min(theme.px(30), std::floor((window.h - theme.px(76)) / static_cast<float>(rows)));
  const float height = theme.px(60) + line_height * static_cast<float>(rows);
  const state::Rect box{window.center_x() - width / 2, window.center_y() - height / 2, width,
                        height};
  const kit::Overlay overlay(theme, "##help", window, box);
  state::Rect rest = box.inset(theme.px(20), theme.px(14));
  kit::text_in(theme, rest.take_top(theme.px(34)), kit::Face::kTitle, p.text, "Keys");
  for (std::size_t i = 0; i < hints.size(); ++i) {
    const float column = i < rows ? 0 : rest.w / 2 + theme.px(8);
    state::Rect row{rest.x + column, rest.y + line_height * static_cast<float>(i % rows),
                    rest.w / 2 - theme.px(8), line_height};
    draw_key_cap(theme, row, hints[i].keys);
    row.take_left(theme.px(112));
    kit::text_in(theme, row, kit::Face::kBody, p.text_secondary, hints[i].what);
  }
  return overlay.wants_to_close();
}

void draw_key_line(const kit::Theme& theme, const state::Rect& rect, bool learns) {
  state::Rect rest = rect;
  std::vector<KeyHint> hints(kPresenterHints.begin(), kPresenterHints.end());
  if (learns) hints.insert(hints.begin(), kPresenterPages);
  for (const KeyHint& hint : hints) {
    const float cap = kit::text_width(theme, kit::Face::kMonoSmall, hint.keys) + theme.px(12);
    const float label = kit::text_width(theme, kit::Face::kSmall, hint.what);
    if (cap + theme.px(6) + label > rest.w) return;
    draw_key_cap(theme, rest, hint.keys);
    rest.take_left(cap, theme.px(6));
    kit::text_in(theme, rest.take_left(label, theme.px(20)), kit::Face::kSmall,
                 theme.colors().text_secondary, hint.what);
  }
}

}  // namespace shardlens::ui::window
