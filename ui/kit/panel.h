// The frame around every panel: surface, title, note at the right, and a clipped, optionally
// scrolling body with its own draw list. Interface thread, inside a frame.
#pragma once

#include <string_view>

#include "ui/kit/paint.h"

namespace shardlens::ui::kit {

struct PanelOptions {
  std::string_view title{};
  std::string_view note{};  // right of the title, grey; left out where there is no room
  bool scrolls = false;     // vertically, by wheel and bar
  bool wheel = true;        // false: by the bar alone, as the wheel does something else
  bool plain = false;       // no surface and no title: the area itself
};

class Panel {
 public:
  Panel(const Theme& theme, const char* id, const state::Rect& rect, const PanelOptions& options);
  ~Panel();
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;

  state::Rect header;  // what is left of the title's row, for legends and tabs
  state::Rect body;    // in screen coordinates; scrolled where the panel scrolls
  // Tells a scrolling panel how high its content is.
  void content_height(float height) const;

 private:
  state::Rect child_;
};

// Which of `count` rows of one height, the first one at `top`, are to be drawn: those in sight of
// `area`, and one more on either side, since the keyboard goes to what is drawn, and then scrolls.
struct RowSpan {
  std::size_t first = 0, last = 0;  // not `last` itself
};
RowSpan rows_to_draw(const state::Rect& area, float top, float row_height, std::size_t count);

float panel_header_height(const Theme& theme);
// What a Panel draws below all else, for those who lay out the rest themselves.
void panel_surface(const Theme& theme, const state::Rect& rect);
inline constexpr float kPanelPadding = 12;

}  // namespace shardlens::ui::kit
