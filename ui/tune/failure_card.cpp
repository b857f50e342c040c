#include "ui/tune/failure_card.h"

#include <algorithm>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"

namespace shardlens::ui {

namespace {

constexpr std::size_t kLogLines = 6;
constexpr float kLogLineHeight = 17;

std::vector<const trace::LogLine*> last_lines(const RunView& run, std::size_t most = kLogLines) {
  std::vector<const trace::LogLine*> lines;
  const std::size_t first = run.log.size() > most ? run.log.size() - most : 0;
  for (std::size_t i = first; i < run.log.size(); ++i) lines.push_back(&run.log[i]);
  return lines;
}

std::string whole_text(const RunView& run) {
  std::string text = run.figures.info.reason + "\n" + run.diagnosis + "\n";
  for (const trace::LogLine& entry : run.log) {
    text += "rank " + std::to_string(entry.rank) + ": " + entry.text + "\n";
  }
  return text;
}

}  // namespace

float failure_card_height(const Theme& theme, const Snapshot& snapshot, float available) {
  if (!snapshot.run || snapshot.run->figures.info.status != trace::RunStatus::kFailed) return 0;
  const RunView& run = *snapshot.run;
  float height = theme.px(28 + 22 + 16 + 14);
  if (!run.diagnosis.empty()) height += theme.px(22);
  height += theme.px(kLogLineHeight) * static_cast<float>(last_lines(run).size()) + theme.px(8);
  return std::min(height, available);
}

bool draw_failure_card(const Theme& theme, const Rect& rect, const Snapshot& snapshot,
                       Commands& commands) {
  const Palette& p = theme.colors();
  const RunView& run = *snapshot.run;
  fill(rect, color(p.panel), theme.px(6));
  outline(rect, color(p.danger), theme.px(6));
  Rect rest = rect.inset(theme.px(14), theme.px(8));
  Rect head = rest.take_top(theme.px(28));
  const Rect copy = head.take_right(button_width(theme, "Copy"), theme.px(8)).inset(0, theme.px(1));
  if (button(theme, "failure/copy", copy, ButtonKind::kQuiet, "Copy")) {
    commands.push_back(CopyText{whole_text(run)});
  }
  const Rect hide = head.take_right(button_width(theme, "Hide"), theme.px(8)).inset(0, theme.px(1));
  const bool hidden = button(theme, "failure/hide", hide, ButtonKind::kQuiet, "Hide");
  const Rect mark = head.take_left(theme.px(12), theme.px(8));
  shape(Shape::kCross, mark.center_x(), mark.center_y(), theme.px(12), color(p.danger));
  text_in(theme, head, Face::kStrong, p.text,
          "The run failed after " + steps_text(run.figures.summary.steps_executed));
  const Rect two_lines{rest.x, rest.y, rest.w, theme.px(40)};
  rest.take_top(text_wrapped(theme, two_lines, Face::kBody, p.danger, run.figures.info.reason),
                theme.px(6));
  const Rect next{rest.x, rest.y, rest.w, theme.px(40)};
  rest.take_top(text_wrapped(theme, next, Face::kBody, p.text_secondary, run.diagnosis),
                theme.px(8));
  const auto fitting = static_cast<std::size_t>(rest.h / theme.px(kLogLineHeight));
  for (const trace::LogLine* entry : last_lines(run, fitting)) {
    Rect row = rest.take_top(theme.px(kLogLineHeight));
    text_in(theme, row.take_left(theme.px(56)), Face::kMonoSmall, p.text_muted,
            "rank " + std::to_string(entry->rank));
    text_in(theme, row, Face::kMonoSmall, p.text_secondary, entry->text);
  }
  return hidden;
}

}  // namespace shardlens::ui
