#include "ui/compare/compare_workspace.h"

#include <algorithm>
#include <array>
#include <string>

#include "ui/kit/widgets.h"

namespace shardlens::ui::compare {

namespace {

struct Tab {
  std::string_view title, explanation;
};
constexpr std::array kTabs{
    Tab{"Runs", "Two to six runs: which is faster, by how much, and what makes it so"},
    Tab{"Sweep", "Many runs of one job: which values are best, beyond noise"}};
constexpr std::size_t kRuns = 0;
constexpr float kTabRow = 30;

}  // namespace

void CompareWorkspace::show(std::string_view title) {
  for (std::size_t i = 0; i < kTabs.size(); ++i) {
    if (kTabs[i].title == title) shown_ = i;
  }
}

std::string_view CompareWorkspace::shown() const { return kTabs[shown_].title; }

bool CompareWorkspace::shows_runs() const { return shown_ == kRuns; }

void CompareWorkspace::draw_tab_row(const kit::Theme& theme, state::Rect row) {
  const state::Palette& p = theme.colors();
  row.take_left(theme.px(8));
  for (std::size_t i = 0; i < kTabs.size(); ++i) {
    const std::string_view title = kTabs[i].title;
    const state::Rect box =
        row.take_left(kit::text_width(theme, kit::Face::kStrong, title), theme.px(20));
    const kit::Hit hit = kit::hit_area(theme, "compare/" + std::string(title), box);
    const bool active = i == shown_;
    kit::text_in(theme, box, kit::Face::kStrong, active || hit.hovered ? p.text : p.text_muted,
                 title);
    if (active) {
      kit::fill({box.x, box.bottom() - theme.px(4), box.w, std::max(2.0f, theme.px(2))},
                kit::color(p.accent), 1);
    }
    if (hit.hovered) kit::tooltip(theme, title, kTabs[i].explanation);
    if (hit.clicked) shown_ = i;
  }
}

void CompareWorkspace::draw(const kit::Theme& theme, const state::Rect& rect,
                            const state::Snapshot& snapshot, bool keys, state::Commands& commands) {
  state::Rect rest = rect;
  draw_tab_row(theme, rest.take_top(theme.px(kTabRow), theme.px(4)));
  if (shown_ == kRuns) return runs_.draw(theme, rest, snapshot, keys, commands);
  sweep_.draw(theme, rest, snapshot, commands);
}

}  // namespace shardlens::ui::compare
