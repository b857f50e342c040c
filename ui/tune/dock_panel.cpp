#include "ui/tune/dock_panel.h"

#include <algorithm>
#include <string>

#include "trace/base/number_text.h"
#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/learn/learning_panel.h"
#include "ui/log/log_panel.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

std::string tab_label(DockPanel::Tab tab, const state::Snapshot& snapshot) {
  switch (tab) {
    case DockPanel::Tab::kRuns:
      return "Runs";
    case DockPanel::Tab::kPredictions:
      return "Predictions";
    case DockPanel::Tab::kMemory:
      return "Memory";
    case DockPanel::Tab::kLearning:
      return "Learning";
    case DockPanel::Tab::kAdvice:
      return advice_title(snapshot);
    case DockPanel::Tab::kLog:
      break;
  }
  if (!snapshot.run) return "Log";
  const auto& log = snapshot.run->log;
  using Level = trace::model::LogLine::Level;
  const auto errors = std::ranges::count(log, Level::kError, &trace::model::LogLine::level);
  return errors == 0 ? "Log" : "Log · " + trace::base::counted(errors, "error");
}

}  // namespace

bool DockPanel::draw_tabs(const kit::Theme& theme, state::Rect header, const Input& input,
                          const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Rect toggle = header.take_right(theme.px(24), theme.px(8));
  const bool toggled =
      kit::icon_button(theme, "dock/toggle", toggle.inset(0, (toggle.h - theme.px(24)) / 2),
                       input.folded ? kit::Shape::kUp : kit::Shape::kDown);
  bool opened = false;
  for (const Tab tab :
       {Tab::kRuns, Tab::kPredictions, Tab::kAdvice, Tab::kLearning, Tab::kMemory, Tab::kLog}) {
    if (!input.offers(tab)) continue;
    const std::string label = tab_label(tab, snapshot);
    const state::Rect box =
        header.take_left(kit::text_width(theme, kit::Face::kStrong, label), theme.px(20));
    if (kit::draw_tab(theme, "dock/" + label.substr(0, label.find(' ')), box, label,
                      tab == tab_ && !input.folded)) {
      tab_ = tab;
      opened = input.folded;
    }
  }
  if (!input.folded && tab_ == Tab::kRuns) ledger_.draw_tools(theme, header, snapshot, commands);
  return toggled || opened;
}

bool DockPanel::draw(const kit::Theme& theme, const state::Rect& rect, const Input& input,
                     const state::Snapshot& snapshot, AdvicePanel& advice,
                     state::Commands& commands) {
  if (!input.offers(tab_)) tab_ = Tab::kRuns;
  kit::panel_surface(theme, rect);
  state::Rect rest = rect.inset(theme.px(kit::kPanelPadding), 0);
  const bool toggled =
      draw_tabs(theme, rest.take_top(kit::panel_header_height(theme)), input, snapshot, commands);
  if (input.folded) return toggled;
  rest.h -= theme.px(6);
  ImGui::SetCursorScreenPos({rest.x, rest.y});
  switch (tab_) {
    case Tab::kRuns:
      ledger_.draw(theme, rest, snapshot, commands);
      break;
    case Tab::kPredictions:
      predictions_.draw(theme, rest, snapshot, commands);
      break;
    case Tab::kLog:
      log::draw_log(theme, rest, snapshot);
      break;
    case Tab::kAdvice:
      advice.draw_wide(theme, rest, snapshot, commands);
      break;
    case Tab::kMemory:
      draw_memory_wide(theme, rest, snapshot);
      break;
    case Tab::kLearning:
      learn::draw_learning_wide(theme, rest, snapshot, commands);
      break;
  }
  return toggled;
}

}  // namespace shardlens::ui::tune
