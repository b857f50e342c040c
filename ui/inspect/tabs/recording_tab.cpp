#include "ui/inspect/tabs/recording_tab.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/job_text.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui {

namespace {

constexpr float kSourceWidth = 380, kLeastTable = 420;  // beside each other
constexpr float kSourcesTitle = 28, kLineGap = 5;

}  // namespace

void RecordingTab::draw_tools(const Theme& theme, Rect tools, Commands& commands) {
  const Palette& p = theme.colors();
  table_buttons(
      theme, "recording", tools,
      export_file_name(run_.view->figures.info.folder, "recording", "csv"),
      // Of all ranks: what is folded is so for the screen alone.
      [this] {
        if (all_ranks_ || run_.table->pinned.empty()) return view_.csv();
        const auto all = recording_table(run_.view, false);
        return csv_of(*all, table_order(*all, {}, {}));
      },
      commands);
  const std::size_t ranks = run_.view->figures.ranks.size();
  const std::string every = "All " + format_integer(static_cast<std::int64_t>(ranks)) + " ranks";
  if (const float width = tick_width(theme, every); ranks > kMostRecordingRows && width < tools.w) {
    const Rect tick = tools.take_left(width, theme.px(20));
    if (draw_tick(theme, "recording/all ranks", tick, every, all_ranks_)) run_.table.reset();
  }
  const std::string summary = recorder_text(run_.view->figures.recorder);
  const Rect said =
      tools.take_left(std::min(tools.w, text_width(theme, Face::kSmall, summary)), theme.px(20));
  text_in(theme, said, Face::kSmall, p.text_secondary, summary);
  explain(theme, said, "What recording cost",
          "Events are kernels, copies, launches, operators, allocations and collectives. The cost "
          "is the time of callbacks on the job's own threads ÷ its steps, the mean over ranks",
          losses_text(run_.view->figures.recorder));
  std::string notes;
  for (const std::string& banner : run_.view->banners)
    notes += (notes.empty() ? "" : " · ") + banner;
  if (notes.empty()) return;
  Rect mark = tools.take_left(theme.px(12), theme.px(6));
  shape(Shape::kWarning, mark.center_x(), mark.center_y(), theme.px(11), color(p.text_secondary));
  text_in(theme, tools, Face::kSmall, p.text, notes);
  explain(theme, tools, "About this run", notes);
}

// What it is in grey above where it comes from.
void RecordingTab::draw_sources(const Theme& theme, const Rect& rect) const {
  const Palette& p = theme.colors();
  const auto body = [](const SourceLine& line) {
    return line.ranks.empty() ? line.source : line.source + " (" + line.ranks + ")";
  };
  const float width = rect.w - theme.px(8);
  const auto names_of = [&](const SourceLine& line) {
    return line.what.empty() ? 0.0f : std::round(width * 0.42f);
  };
  const auto height_of = [&](const SourceLine& line) {
    const float names = names_of(line);
    return std::max(wrapped_height(theme, Face::kSmall, names - theme.px(10), line.what),
                    wrapped_height(theme, Face::kSmall, width - names, body(line))) +
           theme.px(kLineGap);
  };
  const std::string lost = losses_text(run_.view->figures.recorder);
  SourceLine losses{"lost records", lost, ""};
  std::vector<SourceLine> lines = run_.sources;
  if (!lost.empty()) lines.push_back(std::move(losses));
  float content = theme.px(kSourcesTitle);
  for (const SourceLine& line : lines) content += height_of(line);
  const Panel panel(theme, "recording sources", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  Rect rest{rect.x, panel.body.y, width, content};
  text_in(theme, rest.take_top(theme.px(kSourcesTitle)), Face::kStrong, p.text,
          "Where each number comes from");
  for (const SourceLine& line : lines) {
    Rect row = rest.take_top(height_of(line));
    if (!line.what.empty()) {
      Rect name = row.take_left(names_of(line));
      name.w -= theme.px(10);
      text_wrapped(theme, name, Face::kSmall, p.text_muted, line.what);
    }
    text_wrapped(theme, row, Face::kSmall, p.text, body(line));
  }
  panel.content_height(content);
}

void RecordingTab::draw(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                        Commands& commands) {
  if (!snapshot.run || snapshot.run->figures.ranks.empty()) {
    text_in(theme, rect, Face::kBody, theme.colors().text_muted, "No rank has reported yet",
            Align::kCenter);
    return;
  }
  if (snapshot.run != run_.view || !run_.table) {
    run_.view = snapshot.run;
    run_.table = recording_table(run_.view, !all_ranks_);
    run_.sources = source_lines(run_.view->figures);
  }
  Rect area = rect;
  if (rect.h > theme.px(80)) draw_tools(theme, area.take_top(theme.px(kToolsHeight)), commands);
  const bool beside = area.w >= theme.px(kSourceWidth + kLeastTable) && !run_.sources.empty();
  if (beside) {
    const Rect sources = area.take_right(theme.px(kSourceWidth), theme.px(24));
    draw_sources(theme, sources);
  }
  TableOptions options;
  view_.draw(theme, area, run_.table, options);
}

}  // namespace shardlens::ui
