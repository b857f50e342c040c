#include "ui/inspect/tabs/step_tab.h"

#include <algorithm>

#include "ui/inspect/tabs/step_table.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui {

namespace {

std::string steps_summary(const RunView& run) {
  const trace::RunSummary& s = run.figures.summary;
  std::string text = format_integer(static_cast<std::int64_t>(run.figures.steps.size())) +
                     (run.figures.steps.size() == 1 ? " step" : " steps");
  if (s.steps_measured == 0) return text;
  text += " · median " + format_duration(s.step_ns.median).text();
  if (s.step_ns.p99 > 0) text += " · p99 " + format_duration(s.step_ns.p99).text();
  return text;
}

}  // namespace

void StepTab::draw_tools(const Theme& theme, Rect tools, const RunView& run, Commands& commands) {
  table_buttons(
      theme, "steps", tools, export_file_name(run.figures.info.folder, "steps", "csv"),
      [this] { return view_.csv(); }, commands);
  text_in(theme, tools, Face::kSmall, theme.colors().text_muted, steps_summary(run));
  explain(theme, tools, "Steps",
          "Median and p99 over the measured steps of the mean over ranks. A click on a row selects "
          "the step and shows it in the timeline");
}

std::optional<trace::TimeRange> StepTab::draw(const Theme& theme, const Rect& rect,
                                              const Snapshot& snapshot, Commands& commands) {
  if (!snapshot.run || snapshot.run->figures.steps.empty()) {
    text_in(theme, rect, Face::kBody, theme.colors().text_muted, "No step has been recorded",
            Align::kCenter);
    return std::nullopt;
  }
  if (snapshot.run != run_.view || !run_.table) {
    run_.view = snapshot.run;
    run_.table = step_table(run_.view);
  }
  Rect area = rect;
  if (rect.h > theme.px(110))
    draw_tools(theme, area.take_top(theme.px(kToolsHeight)), *run_.view, commands);
  const auto& steps = run_.view->figures.steps;
  TableOptions options;
  const auto selected = std::ranges::find(steps, run_.picked, &trace::StepFigures::index);
  if (run_.picked >= 0 && selected != steps.end()) {
    options.selected = static_cast<std::size_t>(selected - steps.begin());
  }
  const TableEvents events = view_.draw(theme, area, run_.table, options);
  if (!events.clicked) return std::nullopt;
  const trace::StepFigures& step = steps[*events.clicked];
  run_.picked = step.index;
  const trace::TimeRange range{step.start_ns, step.end_ns, {}};
  commands.push_back(SelectRange{range});
  return range;
}

}  // namespace shardlens::ui
