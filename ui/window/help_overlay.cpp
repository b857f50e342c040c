#include "ui/window/help_overlay.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::window {

namespace {

constexpr KeyHint kTuneHints[]{
    {"Ctrl+Enter", "Start, or queue while a run goes on"},
    {"Ctrl+K", "Every command and setting"},
    {"Ctrl+1", "Tune"},
    {"Ctrl+2", "Inspect"},
    {"Ctrl+3", "Compare"},
    {"Ctrl+4", "Learn"},
    {"Space", "Follow live; play or pause a replay"},
    {"← →", "Previous and next step"},
    {"Scroll, W S", "Zoom the timeline"},
    {"Drag, A D", "Pan the timeline"},
    {"Shift+scroll", "More ranks"},
    {"F", "Fit the whole step"},
    {"M", "Measure: drag over the timeline"},
    {"Click", "Details; a rank's name folds it"},
    {"Esc", "Close a menu or card, end a measure"},
    {"Tab", "From control to control; arrows, Enter"},
    {"Shift+F10", "Menu of a run that has the keyboard"},
    {"Double-click", "On a run: replay it"},
    {"P", "Plan: what every strategy would need"},
    {"Ctrl+B", "Fold or unfold the settings"},
};

constexpr KeyHint kInspectHints[]{
    {"Ctrl+F", "Find names; Enter: next, Shift+Enter: back"},
    {"Ctrl+K", "Every command and setting"},
    {"Ctrl+1 2 3 4", "Tune, Inspect, Compare, Learn"},
    {"Tab, Shift+F10", "From control to control; a row's menu"},
    {"Scroll, W S", "Zoom at the mouse"},
    {"Drag, A D", "Pan"},
    {"Shift+scroll", "More rows"},
    {"F", "Fit the whole run"},
    {"Shift+drag", "Select a range, also on the axis"},
    {"M", "Measure between borders of events"},
    {"Click", "Details of an event; a name folds rows"},
    {"Double-click", "Zoom to an event or a step"},
    {"← →", "Previous and next event, or step"},
    {"↑ ↓", "Rows"},
    {"Enter", "Zoom to what is picked or selected"},
    {"Esc", "Clear search, measure, event, selection"},
    {"B", "Set or remove a bookmark"},
    {"[ ]", "Previous and next bookmark"},
    {"Ctrl+Tab", "Next tab of the tables"},
    {"Ctrl+Enter", "Start, or queue; in the SQL editor: ask"},
    {"Space", "Follow live; play or pause a replay"},
    {"P", "Plan: what every strategy would need"},
};

constexpr KeyHint kCompareHints[]{
    {"Ctrl+Enter", "Start, or queue while a run goes on"},
    {"Ctrl+K", "Every command and setting"},
    {"Ctrl+1 2 3 4", "Tune, Inspect, Compare, Learn"},
    {"← →", "Previous and next step of all runs"},
    {"Scroll, W S", "Zoom the timelines"},
    {"Drag, A D", "Pan the timelines"},
    {"F", "Fit the whole step"},
    {"M", "Measure: drag over a timeline"},
    {"Esc", "Close a menu or card, end a measure"},
    {"Tab", "From control to control; arrows, Enter"},
    {"P", "Plan: what every strategy would need"},
};

// Behind those of each workspace.
constexpr KeyHint kWindowHints[]{
    {"Ctrl+T", "Dark or light"}, {"Ctrl + / −", "Larger or smaller"},
    {"Ctrl+0", "Normal size"},   {"F11", "Present mode"},
    {"?", "These keys"},
};

constexpr KeyHint kPages{"PageDown/Up", "Next and previous page of the lesson"};
constexpr KeyHint kPresenterPages{"PageDown/Up", "pages"};

constexpr KeyHint kPresenterHints[]{
    {"Space", "follow, pause"},
    {"← →", "steps"},
    {"W S", "zoom"},
    {"A D", "pan"},
    {"F", "fit"},
    {"M", "measure"},
    {"Ctrl+K", "commands"},
    {"F11", "leave"},
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
  std::span<const KeyHint> own = kTuneHints;
  if (workspace == state::kInspectWorkspace) own = kInspectHints;
  if (workspace == state::kCompareWorkspace) own = kCompareHints;
  std::vector<KeyHint> hints(own.begin(), own.end());
  hints.insert(hints.end(), std::begin(kWindowHints), std::end(kWindowHints));
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
  std::vector<KeyHint> hints(std::begin(kPresenterHints), std::end(kPresenterHints));
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
