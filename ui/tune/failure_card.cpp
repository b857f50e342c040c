#include <algorithm>
#include <string>

#include "ui/kit/widgets.h"
#include "ui/present/job_text.h"
#include "ui/tune/panels.h"

namespace shardlens::ui::tune {

namespace {

constexpr std::size_t kLogLines = 6;
constexpr float kLogLineHeight = 17;

std::vector<const trace::model::LogLine*> last_lines(const state::RunView& run,
                                                     std::size_t most = kLogLines) {
  std::vector<const trace::model::LogLine*> lines;
  const std::size_t first = run.log.size() > most ? run.log.size() - most : 0;
  for (std::size_t i = first; i < run.log.size(); ++i) lines.push_back(&run.log[i]);
  return lines;
}

std::string whole_text(const state::RunView& run) {
  std::string text = run.figures.info.reason + "\n" + run.diagnosis + "\n";
  for (const trace::model::LogLine& entry : run.log) {
    text += "rank " + std::to_string(entry.rank) + ": " + entry.text + "\n";
  }
  return text;
}

}  // namespace

float failure_card_height(const kit::Theme& theme, const state::Snapshot& snapshot,
                          float available) {
  if (!snapshot.run || snapshot.run->figures.info.status != trace::model::RunStatus::kFailed)
    return 0;
  const state::RunView& run = *snapshot.run;
  float height = theme.px(28 + 22 + 16 + 14);
  if (!run.diagnosis.empty()) height += theme.px(22);
  height += theme.px(kLogLineHeight) * static_cast<float>(last_lines(run).size()) + theme.px(8);
  return std::min(height, available);
}

bool draw_failure_card(const kit::Theme& theme, const state::Rect& rect,
                       const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::RunView& run = *snapshot.run;
  kit::bordered(rect, kit::color(p.panel), kit::color(p.danger), theme.px(6));
  state::Rect rest = rect.inset(theme.px(14), theme.px(8));
  state::Rect head = rest.take_top(theme.px(28));
  const state::Rect copy =
      head.take_right(kit::button_width(theme, "Copy"), theme.px(8)).inset(0, theme.px(1));
  if (kit::button(theme, "failure/copy", copy, kit::ButtonKind::kQuiet, "Copy")) {
    commands.push_back(state::CopyText{whole_text(run)});
  }
  const state::Rect hide =
      head.take_right(kit::button_width(theme, "Hide"), theme.px(8)).inset(0, theme.px(1));
  const bool hidden = kit::button(theme, "failure/hide", hide, kit::ButtonKind::kQuiet, "Hide");
  const state::Rect mark = head.take_left(theme.px(12), theme.px(8));
  kit::shape(kit::Shape::kCross, mark, theme.px(12), kit::color(p.danger));
  kit::text_in(theme, head, kit::Face::kStrong, p.text,
               "The run failed after " + present::steps_text(run.figures.summary.steps_executed));
  const auto two_lines = [&](state::Rgb ink, const std::string& text, float gap) {
    const state::Rect box{rest.x, rest.y, rest.w, theme.px(40)};
    rest.take_top(kit::text_wrapped(theme, box, kit::Face::kBody, ink, text), gap);
  };
  two_lines(p.danger, run.figures.info.reason, theme.px(6));
  two_lines(p.text_secondary, run.diagnosis, theme.px(8));
  const auto fitting = static_cast<std::size_t>(rest.h / theme.px(kLogLineHeight));
  for (const trace::model::LogLine* entry : last_lines(run, fitting)) {
    state::Rect row = rest.take_top(theme.px(kLogLineHeight));
    kit::text_in(theme, row.take_left(theme.px(56)), kit::Face::kMonoSmall, p.text_muted,
                 "rank " + std::to_string(entry->rank));
    kit::text_in(theme, row, kit::Face::kMonoSmall, p.text_secondary, entry->text);
  }
  return hidden;
}

}  // namespace shardlens::ui::tune
