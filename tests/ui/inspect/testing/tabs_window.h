// The tabs in a window without a display.
#pragma once

#include <optional>
#include <utility>

#include "tests/ui/inspect/testing/headless_panel.h"
#include "tests/ui/inspect/testing/sample_tables.h"
#include "ui/inspect/tabs/inspect_tabs.h"

namespace shardlens::ui {

struct TabsWindow {
  explicit TabsWindow(Snapshot given, InspectTab tab = InspectTab::kKernels, int width = 1600,
                      int height = 360, float scale = 1, ThemeKind kind = ThemeKind::kDark)
      : snapshot(std::move(given)),
        panel(width, height, scale, kind,
              [this](const Theme& theme, const Rect& rect, Commands& c) {
                tabs.draw(theme, rect, snapshot, c);
                if (const auto wanted = tabs.take_wanted_view()) view = wanted;
              }) {
    tabs.show(tab);
    panel.frames(3);
  }
  Snapshot snapshot;
  InspectTabs tabs;
  std::optional<trace::TimeRange> view;
  HeadlessPanel panel;
};

}  // namespace shardlens::ui
