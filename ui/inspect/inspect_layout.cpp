#include "ui/inspect/inspect_layout.h"

#include <algorithm>
#include <cmath>

namespace shardlens::ui::inspect {

namespace {

// Lengths of scale 1.
constexpr float kInspectGap = 8;
constexpr float kMinimapHeight = 64, kLowMinimapHeight = 44, kToolbarHeight = 36;
constexpr float kDetailsWidth = 336, kNarrowDetailsWidth = 264;
constexpr float kLeastBoard = 150, kLeastTabs = 112;
// Below these there is no room for the minimap, for the tabs, for details beside the timeline.
constexpr float kHeightForMinimap = 330, kHeightForTabs = 400, kWidthForDetails = 720;

}  // namespace

InspectLayout inspect_layout(const state::Rect& area, float scale, float tabs_share) {
  const auto px = [scale](float length) { return std::round(length * scale); };
  const float width = area.w / scale, height = area.h / scale;
  InspectLayout out;
  state::Rect rest = area;
  if (height >= kHeightForMinimap) {
    out.minimap =
        rest.take_top(px(height < 560 ? kLowMinimapHeight : kMinimapHeight), px(kInspectGap));
  }
  out.toolbar = rest.take_top(px(kToolbarHeight), px(kInspectGap));
  if (height >= kHeightForTabs) {
    const float share = std::clamp(tabs_share, kLeastTabsShare, kMostTabsShare);
    const float most = rest.h - px(kLeastBoard) - px(kInspectGap);
    const float wanted =
        std::clamp(std::round(rest.h * share), std::min(px(kLeastTabs), most), most);
    out.tabs = rest.take_bottom(wanted);
    out.splitter = rest.take_bottom(px(kInspectGap));
  }
  if (width >= kWidthForDetails) {
    const float details = width < 1100 ? kNarrowDetailsWidth : kDetailsWidth;
    out.details = rest.take_right(px(details), px(kInspectGap));
  }
  out.timeline = rest;
  return out;
}

float tabs_share_at(const InspectLayout& layout, float y) {
  const float top = layout.timeline.y, height = layout.tabs.bottom() - top;
  if (height <= 0) return kLeastTabsShare;
  const float share = (layout.tabs.bottom() - y - layout.splitter.h / 2) / height;
  return std::clamp(share, kLeastTabsShare, kMostTabsShare);
}

}  // namespace shardlens::ui::inspect
