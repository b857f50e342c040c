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

void RecordingTab::draw_tools(const Look& look, Rect tools, Commands& commands) {
  const Palette& p = look.colors();
  table_buttons(
      look, "recording", tools,
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
  if (const float width = tick_width(look, every); ranks > kMostRecordingRows && width < tools.w) {
    const Rect tick = tools.take_left(width, look.px(20));
    if (draw_tick(look, "recording/all ranks", tick, every, all_ranks_)) run_.table.reset();
  }
  const std::string summary = recorder_text(run_.view->figures.recorder);
  const Rect said =
      tools.take_left(std::min(tools.w, text_width(look, Face::kSmall, summary)), look.px(20));
  text_in(look, said, Face::kSmall, p.text_secondary, summary);
  explain(look, said, "What recording cost",
          "Events are kernels, copies, launches, operators, allocations and collectives. The cost "
          "is the time of callbacks on the job's own threads ÷ its steps, the mean over ranks",
          losses_text(run_.view->figures.recorder));
  std::string notes;
  for (const std::string& banner : run_.view->banners)
    notes += (notes.empty() ? "" : " · ") + banner;
  if (notes.empty()) return;
  Rect mark = tools.take_left(look.px(12), look.px(6));
  shape(Shape::kWarning, mark.center_x(), mark.center_y(), look.px(11), color(p.text_secondary));
  text_in(look, tools, Face::kSmall, p.text, notes);
  explain(look, tools, "About this run", notes);
}

// What it is in grey above where it comes from.
void RecordingTab::draw_sources(const Look& look, const Rect& rect) const {
  const Palette& p = look.colors();
  const auto body = [](const SourceLine& line) {
    return line.ranks.empty() ? line.source : line.source + " (" + line.ranks + ")";
  };
  const float width = rect.w - look.px(8);
  const auto names_of = [&](const SourceLine& line) {
    return line.what.empty() ? 0.0f : std::round(width * 0.42f);
  };
  const auto height_of = [&](const SourceLine& line) {
    const float names = names_of(line);
    return std::max(wrapped_height(look, Face::kSmall, names - look.px(10), line.what),
                    wrapped_height(look, Face::kSmall, width - names, body(line))) +
           look.px(kLineGap);
  };
  const std::string lost = losses_text(run_.view->figures.recorder);
  SourceLine losses{"lost records", lost, ""};
  std::vector<SourceLine> lines = run_.sources;
  if (!lost.empty()) lines.push_back(std::move(losses));
  float content = look.px(kSourcesTitle);
  for (const SourceLine& line : lines) content += height_of(line);
  const Panel panel(look, "recording sources", rect,
                    {.title = {}, .note = {}, .scrolls = true, .plain = true});
  Rect rest{rect.x, panel.body.y, width, content};
  text_in(look, rest.take_top(look.px(kSourcesTitle)), Face::kStrong, p.text,
          "Where each number comes from");
  for (const SourceLine& line : lines) {
    Rect row = rest.take_top(height_of(line));
    if (!line.what.empty()) {
      Rect name = row.take_left(names_of(line));
      name.w -= look.px(10);
      text_wrapped(look, name, Face::kSmall, p.text_muted, line.what);
    }
    text_wrapped(look, row, Face::kSmall, p.text, body(line));
  }
  panel.content_height(content);
}

void RecordingTab::draw(const Look& look, const Rect& rect, const Snapshot& snapshot,
                        Commands& commands) {
  if (!snapshot.run || snapshot.run->figures.ranks.empty()) {
    text_in(look, rect, Face::kBody, look.colors().text_muted, "No rank has reported yet",
            Align::kCenter);
    return;
  }
  if (snapshot.run != run_.view || !run_.table) {
    run_.view = snapshot.run;
    run_.table = recording_table(run_.view, !all_ranks_);
    run_.sources = source_lines(run_.view->figures);
  }
  Rect area = rect;
  if (rect.h > look.px(80)) draw_tools(look, area.take_top(look.px(kToolsHeight)), commands);
  const bool beside = area.w >= look.px(kSourceWidth + kLeastTable) && !run_.sources.empty();
  if (beside) {
    const Rect sources = area.take_right(look.px(kSourceWidth), look.px(24));
    draw_sources(look, sources);
  }
  TableOptions options;
  view_.draw(look, area, run_.table, options);
}

}  // namespace shardlens::ui
