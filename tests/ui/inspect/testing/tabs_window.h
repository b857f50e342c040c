// The tabs in a window without a display.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/inspect/testing/sample_tables.h"
#include "ui/inspect/tabs/inspect_tabs.h"

namespace shardlens::ui::inspect {

struct TabsWindow {
  explicit TabsWindow(state::Snapshot given, InspectTab tab = InspectTab::kKernels,
                      int width = 1600, int height = 360, float scale = 1)
      : snapshot(std::move(given)),
        panel(width, height, scale, state::ThemeKind::kDark,
              [this](const kit::Theme& theme, const state::Rect& rect, state::Commands& c) {
                const TabWish wish = tabs.draw(theme, rect, snapshot, c);
                if (!wish.view.empty()) view = wish.view;
                if (wish.step) step = wish.step;
              }) {
    tabs.show(tab);
    panel.frames(3);
  }
  state::Snapshot snapshot;
  InspectTabs tabs;
  std::vector<trace::timeline::TimeRange> view;
  std::optional<std::int64_t> step;
  HeadlessPanel panel;
};

}  // namespace shardlens::ui::inspect
