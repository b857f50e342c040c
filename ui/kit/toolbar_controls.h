// Small controls of toolbars and headers. Interface thread, inside a frame.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ui/kit/paint.h"
#include "ui/kit/popup.h"

namespace shardlens::ui::kit {

struct Segment {
  std::string_view label, explanation;
};

// Choices side by side, one of them chosen; true when the user chose another one.
float segments_width(const Theme& theme, std::span<const Segment> segments);
bool draw_segments(const Theme& theme, std::string_view name, const state::Rect& rect,
                   std::span<const Segment> segments, int& chosen);

// A box to tick with its label behind it.
float tick_width(const Theme& theme, std::string_view label);
bool draw_tick(const Theme& theme, std::string_view name, const state::Rect& rect,
               std::string_view label, bool& value);

// One of a header's tabs, as wide as its label; true when it was clicked.
bool draw_tab(const Theme& theme, std::string_view name, const state::Rect& box,
              std::string_view label, bool active);

// A button that opens a menu below it; true when it was clicked.
float menu_button_width(const Theme& theme, std::string_view label);
bool draw_menu_button(const Theme& theme, std::string_view name, const state::Rect& rect,
                      std::string_view label, std::string_view explanation);

// A pop-up below `anchor`, opened with ImGui::OpenPopup(id); draw into `area` while it is open.
class MenuScope {
 public:
  MenuScope(const Theme& theme, const char* id, const state::Rect& anchor, float width,
            float height);
  bool is_open() const { return popup_->is_open(); }
  state::Rect area;

 private:
  std::optional<PopupScope> popup_;
};

}  // namespace shardlens::ui::kit
