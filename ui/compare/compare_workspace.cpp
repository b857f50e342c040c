#include "ui/compare/compare_workspace.h"

#include <algorithm>
#include <string>

#include "ui/compare/compare_tab.h"
#include "ui/compare/runs_tab.h"
#include "ui/kit/widgets.h"
#include "ui/sweep/sweep_panel.h"

namespace shardlens::ui::compare {

namespace {

// A sweep of many runs of one job.
class SweepTab : public CompareTab {
 public:
  std::string_view title() const override { return "Sweep"; }
  std::string_view explanation() const override {
    return "Many runs of one job: which values are best, beyond noise";
  }
  void draw(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot, bool,
            state::Commands& commands) override {
    panel_.draw(theme, rect, snapshot, commands);
  }

 private:
  sweep::SweepPanel panel_;
};

constexpr float kTabRow = 30;

}  // namespace

CompareWorkspace::CompareWorkspace() {
  tabs_.push_back(std::make_unique<RunsTab>());
  tabs_.push_back(std::make_unique<SweepTab>());
}

void CompareWorkspace::show(std::string_view title) {
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    if (tabs_[i]->title() == title) shown_ = i;
  }
}

void CompareWorkspace::draw_tab_row(const kit::Theme& theme, state::Rect row) {
  const state::Palette& p = theme.colors();
  row.take_left(theme.px(8));
  for (std::size_t i = 0; i < tabs_.size(); ++i) {
    const std::string_view title = tabs_[i]->title();
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
    if (hit.hovered) kit::tooltip(theme, title, tabs_[i]->explanation());
    if (hit.clicked) shown_ = i;
  }
}

void CompareWorkspace::draw(const kit::Theme& theme, const state::Rect& rect,
                            const state::Snapshot& snapshot, bool keys, state::Commands& commands) {
  state::Rect rest = rect;
  draw_tab_row(theme, rest.take_top(theme.px(kTabRow), theme.px(4)));
  tabs_[shown_]->draw(theme, rest, snapshot, keys, commands);
}

}  // namespace shardlens::ui::compare
