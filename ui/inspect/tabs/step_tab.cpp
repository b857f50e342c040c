#include "ui/inspect/tabs/step_tab.h"

#include <algorithm>

#include "trace/base/number_text.h"
#include "ui/inspect/tabs/step_table.h"
#include "ui/kit/paint.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::inspect {

namespace {

std::string steps_summary(const state::RunView& run) {
  const trace::analysis::RunSummary& s = run.figures.summary;
  const auto count = static_cast<std::int64_t>(run.figures.steps.size());
  std::string text = trace::base::counted(count, "step");
  if (s.steps_measured == 0) return text;
  text += " · ";
  if (s.steps_measured < count) text += present::format_integer(s.steps_measured) + " measured: ";
  text += "median " + present::format_duration(s.step_ns.median).text();
  if (s.step_ns.p99 > 0) text += " · p99 " + present::format_duration(s.step_ns.p99).text();
  return text;
}

}  // namespace

void StepTab::draw_tools(const kit::Theme& theme, state::Rect tools, const state::RunView& run,
                         state::Commands& commands) {
  table::table_buttons(
      theme, "steps", tools, table::export_file_name(run.figures.info.folder, "steps", "csv"),
      [this] { return view_.csv(); }, commands);
  kit::note_in(theme, tools, steps_summary(run));
  kit::explain(
      theme, tools, "Steps",
      "Median and p99 over the measured steps of the mean over ranks: steps that all ranks have "
      "told, without those that are skipped as warm-up, which are grey. A click on a row selects "
      "the step and shows it in the timeline");
}

std::optional<std::int64_t> StepTab::draw(const kit::Theme& theme, const state::Rect& rect,
                                          const state::Snapshot& snapshot,
                                          state::Commands& commands) {
  if (!snapshot.run || snapshot.run->figures.steps.empty()) {
    kit::empty_note(theme, rect, "No step has been recorded");
    return std::nullopt;
  }
  if (snapshot.run != run_.view || !run_.table) {
    run_.view = snapshot.run;
    run_.table = step_table(run_.view);
  }
  state::Rect area = rect;
  if (rect.h > theme.px(110))
    draw_tools(theme, area.take_top(theme.px(table::kToolsHeight)), *run_.view, commands);
  const auto& steps = run_.view->figures.steps;
  table::TableOptions options;
  const auto selected = std::ranges::find(steps, run_.picked, &trace::analysis::StepFigures::index);
  if (run_.picked >= 0 && selected != steps.end()) {
    options.selected = static_cast<std::size_t>(selected - steps.begin());
  }
  const table::TableEvents events = view_.draw(theme, area, run_.table, options);
  if (!events.clicked) return std::nullopt;
  run_.picked = steps[*events.clicked].index;
  return run_.picked;
}

}  // namespace shardlens::ui::inspect
