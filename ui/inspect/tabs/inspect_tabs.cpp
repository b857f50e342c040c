#include "ui/inspect/tabs/inspect_tabs.h"

#include <imgui.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>
#include <utility>

#include "ui/inspect/tabs/statistics_table.h"
#include "ui/kit/keys.h"
#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"

namespace shardlens::ui::inspect {

namespace {

// Tabs that only a run with such rows has.
using trace::timeline::RowKind;
constexpr std::array<std::pair<InspectTab, RowKind>, 6> kNeededRows{
    {{InspectTab::kKernels, RowKind::kKernels},
     {InspectTab::kOperators, RowKind::kOperators},
     {InspectTab::kCollectives, RowKind::kCommunication},
     {InspectTab::kStragglers, RowKind::kCommunication},
     {InspectTab::kCopies, RowKind::kCopies},
     {InspectTab::kLaunches, RowKind::kLaunches}}};

std::optional<trace::timeline::StatisticsTable> statistics_of(InspectTab tab) {
  if (tab > InspectTab::kLaunches) return std::nullopt;
  return static_cast<trace::timeline::StatisticsTable>(tab);
}

std::optional<RecordedRun> recorded_run(const state::Snapshot& snapshot) {
  if (!snapshot.run) return std::nullopt;
  const trace::model::RunInfo& info = snapshot.run->figures.info;
  if (!trace::model::has_settings(info) || !info.command.empty()) return std::nullopt;
  RecordedRun run{.record = info.settings.record,
                  .record_allocations = info.settings.record_allocations,
                  .is_live = snapshot.run->is_live};
  if (snapshot.inspect && snapshot.inspect->rows && !snapshot.inspect->rows->steps.empty()) {
    run.first_step = snapshot.inspect->rows->steps.front().step;
    run.last_step = snapshot.inspect->rows->steps.back().step;
  }
  return run;
}

}  // namespace

std::vector<InspectTab> InspectTabs::tabs_of(const state::Snapshot& snapshot) const {
  std::vector<InspectTab> tabs;
  for (std::size_t i = 0; i < state::kInspectTabTitles.size(); ++i) {
    const auto tab = static_cast<InspectTab>(i);
    const auto needs = std::ranges::find(kNeededRows, tab, &std::pair<InspectTab, RowKind>::first);
    const auto rows = snapshot.inspect ? snapshot.inspect->rows : nullptr;
    if (needs == kNeededRows.end() || !rows || rows->has(needs->second)) tabs.push_back(tab);
  }
  return tabs;
}

void InspectTabs::follow_run(const state::Snapshot& snapshot) {
  std::string run;
  if (snapshot.inspect) {
    run = snapshot.inspect->run_folder;
  } else if (snapshot.run) {
    run = snapshot.run->figures.info.folder;
  }
  const bool is_first = run_.empty();  // a step of it may be asked for already
  if (run == std::exchange(run_, run) || is_first) return;
  for (StatisticsTab& tab : statistics_) tab.forget_run();
  steps_.forget_run();
  memory_.forget_run();
  stragglers_.forget_run();
  sql_.forget_run();
  recording_.forget_run();
  log_.forget_run();
}

void InspectTabs::remember(std::string& title) {
  if (!restored_) show(state::tab_of_title(title));
  title = tab_title(tab_);
}

void InspectTabs::draw_note(const kit::Theme& theme, const state::Rect& room,
                            const state::InspectView& view) const {
  const bool of_range = shown_ <= InspectTab::kLaunches || shown_ == InspectTab::kStragglers;
  if (!of_range) return;
  for (const std::string& note : range_notes(view, statistics_of(shown_))) {
    if (kit::label_in(theme, room, kit::Face::kSmall, theme.colors().text_muted, note,
                      kit::Align::kRight) > 0) {
      kit::explain(theme, room, "What the figures are of", range_definition(view));
      return;
    }
  }
}

void InspectTabs::draw_tab_choice(const kit::Theme& theme, const state::Rect& bar,
                                  const std::vector<InspectTab>& tabs) {
  std::vector<std::string_view> titles;
  for (const InspectTab tab : tabs) titles.push_back(tab_title(tab));
  std::string value(tab_title(shown_));
  const state::Rect box{bar.x, bar.y + theme.px(5), std::min(bar.w, theme.px(180)),
                        bar.h - theme.px(10)};
  if (!kit::choice_field(theme, "inspect/tabs", box, value, titles, false)) return;
  for (const InspectTab tab : tabs) {
    if (tab_title(tab) == value) tab_ = shown_ = tab;
  }
}

void InspectTabs::draw_bar(const kit::Theme& theme, state::Rect bar,
                           const state::Snapshot& snapshot, const std::vector<InspectTab>& tabs) {
  float needed = 0;
  for (const InspectTab tab : tabs) {
    needed += kit::text_width(theme, kit::Face::kStrong, tab_title(tab)) + theme.px(20);
  }
  if (needed > bar.w) return draw_tab_choice(theme, bar, tabs);
  for (const InspectTab tab : tabs) {
    const std::string title(tab_title(tab));
    const float width = kit::text_width(theme, kit::Face::kStrong, title);
    const state::Rect box = bar.take_left(width, theme.px(20));
    if (kit::draw_tab(theme, "inspect/" + title, box, title, tab == shown_)) tab_ = shown_ = tab;
  }
  if (snapshot.inspect) draw_note(theme, bar, *snapshot.inspect);
}

TabWish InspectTabs::draw_tab(const kit::Theme& theme, const state::Rect& rect,
                              const state::Snapshot& snapshot, state::Commands& commands) {
  TabWish wish;
  const state::InspectView* view = snapshot.inspect.get();
  if (shown_ == InspectTab::kLog) {
    log_.draw(theme, rect, snapshot, commands);
  } else if (shown_ == InspectTab::kRecording) {
    recording_.draw(theme, rect, snapshot, commands);
  } else if (shown_ == InspectTab::kSteps) {
    wish.step = steps_.draw(theme, rect, snapshot, commands);
    if (wish.step) memory_.choose_step(*wish.step);
  } else if (view == nullptr) {
    kit::empty_note(theme, rect, "The run is being opened…");
  } else if (const auto table = statistics_of(shown_)) {
    statistics_[static_cast<std::size_t>(*table)].draw(theme, rect, *view, commands);
  } else if (shown_ == InspectTab::kMemory) {
    wish.view = memory_.draw(theme, rect, *view, recorded_run(snapshot), commands);
  } else if (shown_ == InspectTab::kStragglers) {
    wish.view = stragglers_.draw(theme, rect, *view, commands);
  } else {
    wish.view = sql_.draw(theme, rect, *view, commands);
  }
  return wish;
}

TabWish InspectTabs::draw(const kit::Theme& theme, const state::Rect& rect,
                          const state::Snapshot& snapshot, state::Commands& commands) {
  follow_run(snapshot);
  const std::vector<InspectTab> tabs = tabs_of(snapshot);
  const auto chosen = std::ranges::find(tabs, tab_);
  const auto at = chosen == tabs.end() ? 0 : static_cast<std::size_t>(chosen - tabs.begin());
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl && !io.WantTextInput && kit::key_pressed(kit::Key::kTab, false)) {
    tab_ = shown_ = tabs[(at + (io.KeyShift ? tabs.size() - 1 : 1)) % tabs.size()];
  } else {
    shown_ = tabs[at];
  }
  kit::panel_surface(theme, rect);
  state::Rect rest = rect.inset(theme.px(kit::kPanelPadding), 0);
  draw_bar(theme, rest.take_top(kit::panel_header_height(theme)), snapshot, tabs);
  rest.h -= theme.px(6);
  return rest.h > theme.px(24) ? draw_tab(theme, rest, snapshot, commands) : TabWish{};
}

}  // namespace shardlens::ui::inspect
