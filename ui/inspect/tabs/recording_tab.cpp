#include "ui/inspect/tabs/recording_tab.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/base/text.h"
#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

constexpr float kSourceWidth = 380, kLeastTable = 420;  // beside each other
constexpr float kSourcesTitle = 28, kLineGap = 5;

}  // namespace

void RecordingTab::update(const std::shared_ptr<const state::RunView>& view) {
  if (view == run_.view && run_.table) return;
  run_.view = view;
  run_.table = recording_table(run_.view, !all_ranks_);
  run_.sources = source_lines(run_.view->figures);
}

void RecordingTab::draw_tools(const kit::Theme& theme, state::Rect tools,
                              state::Commands& commands) {
  const state::Palette& p = theme.colors();
  table::table_buttons(
      theme, "recording", tools,
      table::export_file_name(run_.view->figures.info.folder, "recording", "csv"),
      // Of all ranks: what is folded is so for the screen alone.
      [this] {
        if (all_ranks_ || run_.table->pinned.empty()) return view_.csv();
        const auto all = recording_table(run_.view, false);
        return present::csv_of(*all, present::table_order(*all, {}, {}));
      },
      commands);
  const std::size_t ranks = run_.view->figures.ranks.size();
  const std::string every =
      "All " + present::format_integer(static_cast<std::int64_t>(ranks)) + " ranks";
  if (const float width = kit::tick_width(theme, every);
      ranks > kMostRecordingRows && width < tools.w) {
    const state::Rect tick = tools.take_left(width, theme.px(20));
    if (kit::draw_tick(theme, "recording/all ranks", tick, every, all_ranks_)) run_.table.reset();
  }
  const std::string summary = present::recorder_text(run_.view->figures.recorder);
  const state::Rect said = tools.take_left(
      std::min(tools.w, kit::text_width(theme, kit::Face::kSmall, summary)), theme.px(20));
  kit::text_in(theme, said, kit::Face::kSmall, p.text_secondary, summary);
  kit::explain(theme, said, "What recording cost",
               present::recorder_definition(run_.view->figures.recorder),
               losses_text(run_.view->figures.recorder));
  const auto notes = trace::base::joined(run_.view->banners, " · ");
  if (notes.empty()) return;
  state::Rect mark = tools.take_left(theme.px(12), theme.px(6));
  kit::shape(kit::Shape::kWarning, mark, theme.px(11), kit::color(p.text_secondary));
  kit::text_in(theme, tools, kit::Face::kSmall, p.text, notes);
  kit::explain(theme, tools, "About this run", notes);
}

// What it is in grey above where it comes from.
void RecordingTab::draw_sources(const kit::Theme& theme, const state::Rect& rect) const {
  const state::Palette& p = theme.colors();
  const auto body = [](const SourceLine& line) {
    return line.ranks.empty() ? line.source : line.source + " (" + line.ranks + ")";
  };
  const float width = rect.w - theme.px(8);
  const auto names_of = [&](const SourceLine& line) {
    return line.what.empty() ? 0.0f : std::round(width * 0.42f);
  };
  const auto height_of = [&](const SourceLine& line) {
    const float names = names_of(line);
    return std::max(kit::wrapped_height(theme, kit::Face::kSmall, names - theme.px(10), line.what),
                    kit::wrapped_height(theme, kit::Face::kSmall, width - names, body(line))) +
           theme.px(kLineGap);
  };
  const std::string lost = losses_text(run_.view->figures.recorder);
  SourceLine losses{"lost records", lost, ""};
  std::vector<SourceLine> lines = run_.sources;
  if (!lost.empty()) lines.push_back(std::move(losses));
  float content = theme.px(kSourcesTitle);
  for (const SourceLine& line : lines) content += height_of(line);
  const kit::Panel panel(theme, "recording sources", rect, {.scrolls = true, .plain = true});
  state::Rect rest{rect.x, panel.body.y, width, content};
  kit::text_in(theme, rest.take_top(theme.px(kSourcesTitle)), kit::Face::kStrong, p.text,
               "Where each number comes from");
  for (const SourceLine& line : lines) {
    state::Rect row = rest.take_top(height_of(line));
    if (!line.what.empty()) {
      state::Rect name = row.take_left(names_of(line));
      name.w -= theme.px(10);
      kit::text_wrapped(theme, name, kit::Face::kSmall, p.text_muted, line.what);
    }
    kit::text_wrapped(theme, row, kit::Face::kSmall, p.text, body(line));
  }
  panel.content_height(content);
}

void RecordingTab::draw(const kit::Theme& theme, const state::Rect& rect,
                        const state::Snapshot& snapshot, state::Commands& commands) {
  if (!snapshot.run || snapshot.run->figures.ranks.empty()) {
    kit::empty_note(theme, rect, "No rank has reported yet");
    return;
  }
  update(snapshot.run);
  state::Rect area = rect;
  if (rect.h > theme.px(80)) {
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), commands);
    update(snapshot.run);  // others may be folded now
  }
  const bool beside = area.w >= theme.px(kSourceWidth + kLeastTable) && !run_.sources.empty();
  if (beside) {
    const state::Rect sources = area.take_right(theme.px(kSourceWidth), theme.px(24));
    draw_sources(theme, sources);
  }
  view_.draw(theme, area, run_.table, {});
}

}  // namespace shardlens::ui::inspect
