#include "ui/compare/runs_tab.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "ui/compare/loss_curves.h"
#include "ui/compare/run_chips.h"
#include "ui/compare/waterfall_draw.h"
#include "ui/kit/keys.h"
#include "ui/kit/panel.h"
#include "ui/kit/toolbar_controls.h"
#include "ui/kit/widgets.h"
#include "ui/present/compare/comparison_text.h"
#include "ui/table/table_tools.h"

namespace shardlens::ui::compare {

namespace {

constexpr float kLowSentence = 28;  // a row that has no room for a title's letters

constexpr float kMostForSettings = 0.4f, kFewestForSettings = 120, kLeastForName = 0.3f;

// At the row's end, where there is room: what `sentence` leaves, if that is more. They are cut
// before it has to be small.
void draw_settings(const kit::Theme& theme, state::Rect& row, const std::string& text,
                   const std::string& sentence) {
  const float wanted = kit::text_width(theme, kit::Face::kBody, text);
  const float fewest = std::min(wanted, theme.px(kFewestForSettings));
  const auto left_by = [&](kit::Face face) {
    return row.w - kit::text_width(theme, face, sentence) - theme.px(24);
  };
  float most = std::max(row.w * kMostForSettings, left_by(kit::Face::kTitle));
  if (const float left = left_by(kit::Face::kStrong); left >= fewest) most = std::min(most, left);
  const float width = std::min(wanted, std::round(most));
  if (width < fewest) return;
  const state::Rect box = row.take_right(width + theme.px(8), theme.px(12));
  kit::text_in(theme, box, kit::Face::kBody, theme.colors().text_secondary, text);
  kit::explain(theme, box, "What it was told otherwise", text);
}

// A name is cut before its sentence is.
std::string named_sentence(const kit::Theme& theme, float width, const std::string& name,
                           const std::string& sentence) {
  const float wanted = kit::text_width(theme, kit::Face::kStrong, ": " + sentence) +
                       theme.px(kFewestForSettings + 24);
  const float left = std::max(width * kLeastForName, width - wanted);
  return kit::fitting_name(theme, kit::Face::kStrong, name, left) + ": " + sentence;
}

struct SentenceRow {
  state::Rect box;
  std::string text;
};

bool fits_as_title(const kit::Theme& theme, const SentenceRow& row) {
  return row.box.h >= theme.px(kLowSentence) &&
         kit::text_width(theme, kit::Face::kTitle, row.text) <= row.box.w;
}

// In letters in which all of it can be read, on two lines if need be.
void draw_sentence(const kit::Theme& theme, const SentenceRow& row, bool as_title) {
  const state::Rgb ink = theme.colors().text;
  const auto& [box, text] = row;
  if (as_title) {
    kit::text_in(theme, box, kit::Face::kTitle, ink, text);
    return;
  }
  const float height = kit::wrapped_height(theme, kit::Face::kSmall, box.w, text);
  if (height > box.h || kit::text_width(theme, kit::Face::kStrong, text) <= box.w) {
    kit::text_in(theme, box, kit::Face::kStrong, ink, text);
    return;
  }
  const state::Rect lines{box.x, std::round(box.center_y() - height / 2), box.w, height};
  kit::text_wrapped(theme, lines, kit::Face::kSmall, ink, text);
}

bool is_unreadable(const state::ComparedRun& run) { return !run.problem.empty(); }

// Without the folder in which its files lie, which the tooltip names.
std::string unreadable_text(const state::ComparedRun& run) {
  std::string problem = run.problem;
  const std::string folder = run.folder + '/';
  if (const auto at = problem.find(folder); at != problem.npos) problem.erase(at, folder.size());
  return "cannot be read: " + problem;
}

present::ComparisonSentence sentence_of(const state::ComparisonView& view, std::size_t run) {
  if (const auto& difference = view.differences[run - 1]) {
    return present::comparison_sentence(difference->comparison, difference->explanation);
  }
  const state::ComparedRun &base = view.runs[0], &own = view.runs[run];
  if (is_unreadable(own)) return {unreadable_text(own), ""};
  if (is_unreadable(base)) return {"not compared: " + run_letter(0) + " cannot be read", ""};
  return {"being read…", ""};
}

// In place of what the difference would show.
void draw_no_difference(const kit::Theme& theme, const state::Rect& area,
                        const state::ComparisonView& view, std::size_t run) {
  const bool has_none = is_unreadable(view.runs[0]) || is_unreadable(view.runs[run]);
  kit::empty_note(theme, area, has_none ? "There is nothing to compare" : "Reading the runs…");
}

// Where the figure goes that the sentence is about, step time or tokens/s; none where nothing can
// be said.
present::Trend trend_of(const trace::analysis::RunDifference* difference) {
  const bool is_sure = difference != nullptr && difference->comparison.beyond_noise == true;
  if (!is_sure || !difference->comparison.relative) return present::Trend::kNone;
  return *difference->comparison.relative > 0 ? present::Trend::kUp : present::Trend::kDown;
}

// The ledger's baseline and the run on screen, where they are two.
std::vector<std::string> suggested_runs(const state::Snapshot& snapshot) {
  std::vector<std::string> folders;
  if (!snapshot.ledger) return folders;
  for (const state::LedgerRow& row : snapshot.ledger->rows) {
    if (row.is_baseline) folders.insert(folders.begin(), row.folder);
    if (row.is_shown && !row.is_baseline) folders.push_back(row.folder);
  }
  return folders;
}

void draw_empty(const kit::Theme& theme, const state::Rect& rect, const state::Snapshot& snapshot,
                state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const bool has_one = snapshot.comparison && snapshot.comparison->runs.size() == 1;
  state::Rect lines{rect.x, rect.center_y() - theme.px(60), rect.w, theme.px(120)};
  kit::text_in(theme, lines.take_top(theme.px(30)), kit::Face::kTitle, p.text,
               has_one ? "Add a second run" : "Choose two to six runs", kit::Align::kCenter);
  kit::empty_note(
      theme, lines.take_top(theme.px(26)),
      has_one ? "It is compared with the one above: choose it there, or in the ledger of Tune"
              : "Above, or in the ledger of Tune: Ctrl+click selects several, then "
                "press Compare");
  const auto suggested = suggested_runs(snapshot);
  if (has_one || suggested.size() < trace::analysis::kFewestCompared) return;
  const std::string label = "Compare the run on screen with the baseline";
  lines.take_top(theme.px(10));
  const float width = kit::button_width(theme, label, kit::ButtonKind::kPrimary);
  state::Rect button = lines.take_top(theme.px(30));
  button = {std::round(button.center_x() - width / 2), button.y, width, button.h};
  if (kit::button(theme, "compare/suggested", button, kit::ButtonKind::kPrimary, label)) {
    commands.push_back(state::CompareRuns{.folders = suggested});
  }
}

}  // namespace

void RunsTab::find_chosen(const state::ComparisonView& view) {
  const auto found =
      std::ranges::find(view.runs, chosen_folder_, &state::ComparedRun::folder) - view.runs.begin();
  const auto last = view.runs.size() - 1;
  if (static_cast<std::size_t>(found) <= last) chosen_ = static_cast<std::size_t>(found);
  chosen_ = std::clamp<std::size_t>(chosen_, 1, last);
  chosen_folder_ = view.runs[chosen_].folder;
}

auto RunsTab::chosen_difference(const state::ComparisonView& view) const -> Difference {
  return view.differences[chosen_ - 1];
}

void RunsTab::draw_sentences(const kit::Theme& theme, const CompareLayout& layout,
                             const state::ComparisonView& view) {
  const state::Palette& p = theme.colors();
  state::Rect rest = layout.sentences;
  const bool several = view.differences.size() > 1;
  std::vector<SentenceRow> rows;
  for (std::size_t i = 1; i < view.runs.size(); ++i) {
    state::Rect row = rest.take_top(layout.sentence_height);
    if (several) {
      const kit::Hit hit = kit::hit_area(theme, "compare/choose/" + view.runs[i].folder, row);
      if (hit.clicked) {
        chosen_ = i;
        chosen_folder_ = view.runs[i].folder;
        timelines_.bring_into_view(i);
      }
      if (hit.hovered || i == chosen_) {
        kit::fill(row, kit::color(i == chosen_ ? p.row_selected : p.hover), theme.px(5));
      }
    }
    row.take_left(theme.px(6));
    draw_run_letter(theme, row.take_left(theme.px(20), theme.px(8)), i);
    const state::Rect mark = row.take_left(theme.px(14), theme.px(6));
    const present::Trend trend = trend_of(view.differences[i - 1].get());
    if (trend != present::Trend::kNone) {
      kit::shape(trend == present::Trend::kUp ? kit::Shape::kUp : kit::Shape::kDown,
                 mark.center_x(), mark.center_y(), theme.px(11), kit::color(p.text));
    }
    const auto sentence = sentence_of(view, i);
    const std::string text = named_sentence(theme, row.w, view.runs[i].name, sentence.text);
    if (const auto& difference = view.differences[i - 1]) {
      draw_settings(theme, row, present::settings_text(difference->comparison), text);
    }
    kit::explain(theme, row, view.runs[i].name + ": " + sentence.text,
                 sentence.caveat.empty() ? view.runs[i].problem : sentence.caveat);
    rows.push_back({row, text});
  }
  // None is more of a title than the others.
  const bool as_titles =
      std::ranges::all_of(rows, [&](const SentenceRow& row) { return fits_as_title(theme, row); });
  for (const SentenceRow& row : rows) draw_sentence(theme, row, as_titles);
  if (layout.caveat.empty()) return;
  state::Rect caveat = layout.caveat;
  caveat.take_left(theme.px(54));
  const std::string text = sentence_of(view, chosen_).caveat;
  kit::text_in(theme, caveat, kit::Face::kSmall, p.text_muted, text);
  kit::explain(theme, caveat, "Is it real?", text);
}

void RunsTab::draw_waterfall_panel(const kit::Theme& theme, const state::Rect& rect,
                                   const state::ComparisonView& view) {
  static constexpr std::array<kit::Segment, 2> kSegments{
      kit::Segment{"Parts", "What the ranks did: parts sum to the difference of step time"},
      kit::Segment{"Phases", "In which phase they were: phases sum to it, too"}};
  state::Rect header;
  const auto difference = chosen_difference(view);
  {
    const std::string title = run_letter(0) + " → " + run_letter(chosen_);
    const kit::Panel panel(theme, "compare waterfall", rect, {.title = title});
    header = panel.header;
    if (!difference) return draw_no_difference(theme, panel.body, view, chosen_);
    if (!present::why_not_comparable(difference->comparison).empty()) {
      return kit::empty_note(theme, panel.body, "The runs are not comparable");
    }
    const bool of_parts = waterfall_of_ == 0;
    const auto waterfall = present::waterfall_of(
        difference->explanation,
        of_parts ? present::WaterfallOf::kParts : present::WaterfallOf::kPhases,
        run_letter(0) + " · " + view.runs[0].name,
        run_letter(chosen_) + " · " + view.runs[chosen_].name, waterfall_room(theme, panel.body.h));
    draw_waterfall(theme, panel.body, waterfall);
    if (waterfall.bars.empty()) {
      kit::empty_note(theme, panel.body,
                      of_parts ? "No steps with full detail in both runs"
                               : "Phases are not known of both runs");
    }
  }
  const float width = kit::segments_width(theme, kSegments);
  if (width > header.w) return;
  const state::Rect box = header.take_right(width);
  kit::draw_segments(theme, "compare/waterfall", box.inset(0, (box.h - theme.px(24)) / 2),
                     kSegments, waterfall_of_);
}

void RunsTab::draw_table_panel(const kit::Theme& theme, const state::Rect& rect,
                               const state::ComparisonView& view, state::Commands& commands) {
  state::Rect header;
  const auto difference = chosen_difference(view);
  std::vector<std::string_view> kinds;
  std::size_t kind = 0;
  {
    const kit::Panel panel(theme, "compare table", rect, {});
    header = panel.header;
    if (!difference) return draw_no_difference(theme, panel.body, view, chosen_);
    kinds = present::difference_kinds(*difference);
    const auto found = std::ranges::find(kinds, kind_);
    if (found != kinds.end()) kind = static_cast<std::size_t>(found - kinds.begin());
    const std::string first = run_letter(0), second = run_letter(chosen_);
    if (made_.of != difference || made_.first != first || made_.second != second ||
        made_.kind != kinds[kind]) {
      made_ = {difference, first, second, kinds[kind],
               present::difference_table(difference, kinds[kind], first, second)};
    }
    table_.draw(theme, panel.body, made_.table, {.empty = "Nothing differs"});
  }
  if (table::choice_strip(theme, "compare/kinds", header, kinds, kind)) kind_ = kinds[kind];
  table::table_buttons(
      theme, "compare/csv", header,
      table::export_file_name(view.runs[chosen_].folder, "differences", "csv"),
      [this] { return table_.csv(); }, commands);
}

// ← →: the same step of all runs.
void RunsTab::use_step_keys(const state::ComparisonView& view, state::Commands& commands) const {
  int direction = 0;
  if (kit::key_pressed(kit::Key::kLeft)) direction = -1;
  if (kit::key_pressed(kit::Key::kRight)) direction = 1;
  if (direction == 0 || !view.runs[0].run) return;
  state::CompareRuns command;
  for (const auto& run : view.runs) command.folders.push_back(run.folder);
  const std::int64_t at = view.step >= 0 ? view.step : view.runs[0].run->selected_step;
  const auto& steps = view.runs[0].run->figures.steps;
  command.step = at + direction;
  const bool exists =
      !steps.empty() && command.step >= steps.front().index && command.step <= steps.back().index;
  if (exists) commands.push_back(std::move(command));
}

void RunsTab::draw(const kit::Theme& theme, const state::Rect& rect,
                   const state::Snapshot& snapshot, bool keys, state::Commands& commands) {
  const state::ComparisonView* view = snapshot.comparison.get();
  const bool is_comparing =
      view != nullptr && view->runs.size() >= trace::analysis::kFewestCompared;
  CompareLayoutInput input{.area = rect, .scale = theme.scale};
  if (is_comparing) {
    find_chosen(*view);
    input.runs = view->runs.size();
    input.has_loss = has_losses(*view);
    input.has_caveat = !sentence_of(*view, chosen_).caveat.empty();
  }
  const CompareLayout layout = compare_layout(input);
  draw_run_chips(theme, layout.chips, view, snapshot.ledger.get(), commands);
  if (!is_comparing) {
    state::Rect rest = rect;
    rest.take_top(layout.chips.h);
    return draw_empty(theme, rest, snapshot, commands);
  }
  if (keys) use_step_keys(*view, commands);
  draw_sentences(theme, layout, *view);
  timelines_.draw(theme, layout.timelines, layout.timeline_height, *view, keys, commands);
  draw_waterfall_panel(theme, layout.waterfall, *view);
  draw_table_panel(theme, layout.table, *view, commands);
  if (layout.loss.empty()) return;
  const kit::Panel panel(theme, "compare loss", layout.loss, {.title = "Loss"});
  draw_loss_curves(theme, panel.body, *view, chosen_);
}

}  // namespace shardlens::ui::compare
