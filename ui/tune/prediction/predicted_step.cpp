#include "ui/tune/prediction/predicted_step.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "trace/predict/schedule/step_program.h"
#include "ui/kit/widgets.h"
#include "ui/present/format.h"
#include "ui/present/tune/knob_rows.h"
#include "ui/present/tune/prediction_text.h"

namespace shardlens::ui::tune {

namespace {

using trace::tuning::PredictedStep;

constexpr float kGapAbove = 6, kCalls = 20, kRibbon = 14, kLine = 16, kBetween = 4;
// Of what bounds the step, and of what is changed; more is explained on hovering.
constexpr std::size_t kMostBoundLines = 3, kMostChangeLines = 2;
// Of the measured rows: before more than two lines are said, and before there is no prediction.
constexpr float kRoom = 120, kLeastRoom = 88;
constexpr double kQuiet = 0.5;  // of a predicted box's own colour

class Strip {
 public:
  Strip(const kit::Theme& theme, const PredictedStepPlace& place, const PredictedStep& step)
      : theme_(theme), place_(place), step_(step), plot_(place.rect) {
    labels_ = plot_.take_left(place.label_width);
    // Another step stands for the one on screen: from its own begin.
    offset_ns_ = is_of_another_step() ? step.start_ns : place.origin_ns;
  }

  const kit::Theme& theme() const { return theme_; }
  const state::Rect& plot() const { return plot_; }
  state::Rect labels() const { return labels_; }
  bool is_of_another_step() const { return step_.index != place_.shown_step; }
  float x(std::int64_t time_ns) const {
    const double at = place_.window.position(time_ns - offset_ns_);
    return plot_.x + static_cast<float>(std::clamp(at, -1.0, 2.0)) * plot_.w;
  }
  state::Rect box(std::int64_t start_ns, std::int64_t end_ns, float y, float height) const {
    const float left = x(start_ns);
    return {left, y, std::max(1.0f, x(end_ns) - left), height};
  }

 private:
  const kit::Theme& theme_;
  const PredictedStepPlace& place_;
  const PredictedStep& step_;
  state::Rect plot_, labels_;
  std::int64_t offset_ns_ = 0;
};

state::Rgb quiet(const state::Palette& p, trace::base::TimeClass time_class) {
  return state::mix(p.panel, state::time_color(p, time_class), kQuiet);
}

// "bucket 3 · 2.1 MiB", "blocks.2 forward gather · 1.8 MiB"
std::string call_title(const trace::predict::PlannedCall& call) {
  return call.what + " · " + present::bytes_text(call.bytes);
}

// "3", "2": the number in its name, for a narrow box; "" where it has none.
std::string short_title(const std::string& what) {
  const auto first = what.find_first_of("0123456789");
  if (first == what.npos) return "";
  const auto end = what.find_first_not_of("0123456789", first);
  return what.substr(first, end == what.npos ? end : end - first);
}

// All digits count as the widest, so that boxes of one width all have their number or none has.
bool has_room(const kit::Theme& theme, const state::Rect& box, std::string title) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  std::ranges::replace_if(title, is_digit, '8');
  return !title.empty() && kit::text_width(theme, kit::Face::kSmall, title) <= box.w;
}

void explain_call(const kit::Theme& theme, const PredictedStep& step, std::size_t index) {
  const auto& call = step.schedule.calls[index];
  const auto& planned = step.program.calls[call.call];
  const auto since = [&](std::int64_t time_ns) {
    return present::duration_text(time_ns - step.start_ns);
  };
  const kit::TooltipScope scope(theme);
  scope.title("Predicted " + call_title(planned));
  scope.row("Function", std::string(trace::model::to_string(planned.function)));
  if (planned.tensors > 0) {
    scope.row("Tensors", present::format_integer(static_cast<std::int64_t>(planned.tensors)));
  }
  scope.row("Ready on all ranks", since(call.ready_ns));
  scope.row("Begins", since(call.start_ns));
  scope.row("… and ends", since(call.end_ns));
  const double waited = present::waited_ns(step, index);
  if (waited > 0) scope.row("Waited for", present::format_duration(waited).text());
  scope.note("After the step's begin");
}

// Green under computation, orange while a rank waits for it; what bounds the step has a bright
// edge.
void draw_calls(const Strip& strip, const PredictedStep& step, float y) {
  const kit::Theme& theme = strip.theme();
  const state::Palette& p = theme.colors();
  using trace::base::TimeClass;
  const auto critical = trace::predict::critical_calls(step.program, step.schedule);
  for (std::size_t i = 0; i < step.schedule.calls.size(); ++i) {
    const auto& call = step.schedule.calls[i];
    const state::Rect box = strip.box(call.start_ns, call.end_ns, y, theme.px(kCalls));
    kit::fill(box, kit::color(quiet(p, TimeClass::kOverlapped)));
    for (const auto& wait : step.schedule.waits) {
      const std::int64_t from = std::max(wait.start_ns, call.start_ns);
      const std::int64_t to = std::min(wait.end_ns, call.end_ns);
      if (from < to) {
        kit::fill(strip.box(from, to, y, box.h), kit::color(quiet(p, TimeClass::kExposed)));
      }
    }
    if (box.w >= theme.px(4)) {
      const bool bounds = std::ranges::binary_search(critical, i);
      kit::dashed_outline(theme, box, kit::color(bounds ? p.text : p.changed));
    }
    const auto& planned = step.program.calls[call.call];
    const state::Rect inner = box.inset(theme.px(3), 0);
    for (const std::string& title :
         {call_title(planned), planned.what, short_title(planned.what)}) {
      if (!has_room(theme, inner, title)) continue;
      kit::label_in(theme, inner, kit::Face::kSmall, p.text, title, kit::Align::kCenter);
      break;
    }
    if (kit::hovers(box)) explain_call(theme, step, i);
  }
}

void draw_ribbon(const Strip& strip, const PredictedStep& step, float y) {
  const kit::Theme& theme = strip.theme();
  const state::Palette& p = theme.colors();
  const auto fill = [&](const trace::base::Interval& time, state::Rgb hue) {
    const state::Rect box = strip.box(time.start_ns, time.end_ns, y, theme.px(kRibbon));
    kit::fill(box, kit::color(hue));
    return box.inset(theme.px(4), 0);
  };
  for (const auto& [time, time_class] : present::predicted_ribbon(step)) {
    const state::Rect inner = fill(time, quiet(p, time_class));
    if (time_class != trace::base::TimeClass::kExposed) continue;
    kit::label_in(theme, inner, kit::Face::kSmall, p.text,
                  "exposed " + present::duration_text(time.length()), kit::Align::kCenter);
  }
  if (step.schedule.end_ns < step.end_ns) {
    kit::label_in(theme, fill({step.schedule.end_ns, step.end_ns}, p.field), kit::Face::kSmall,
                  p.text_muted, "the rest as recorded", kit::Align::kCenter);
  }
}

// Where the step would end, and by how much that moves.
void draw_end(const Strip& strip, const PredictedStep& step, float bottom) {
  const kit::Theme& theme = strip.theme();
  const state::Palette& p = theme.colors();
  const float x = strip.x(step.end_ns);
  const state::Rect& plot = strip.plot();
  if (x >= plot.x && x <= plot.right()) {
    kit::dashed_line(theme, x, plot.y, x, bottom, kit::color(p.changed));
  }
}

std::string moved_text(const PredictedStep& step, std::int64_t shown_step) {
  const auto ns = static_cast<double>(step.end_ns - step.recorded_end_ns);
  const std::string which =
      step.index == shown_step ? "this step" : "step " + present::format_integer(step.index);
  if (ns == 0) return step.index == shown_step ? "as long as it was" : which + " as long as it was";
  const std::string sign = ns < 0 ? "−" : "+";
  return sign + present::format_duration(std::abs(ns)).text() + " in " + which;
}

// In fewer and fewer words. Where another step stands for the one on screen, which one.
std::vector<std::string> bound_words(const PredictedStep& step, std::int64_t shown_step) {
  std::vector<std::string> wordings = present::bound_wordings(step);
  if (step.index == shown_step) return wordings;
  const std::string number = present::format_integer(step.index);
  wordings.front().insert(0, "Of step " + number + ", a typical one, since step " +
                                 present::format_integer(shown_step) + " was not learnt. ");
  for (std::size_t i = 1; i < wordings.size(); ++i) wordings[i].insert(0, "Step " + number + ": ");
  return wordings;
}

// What stands under the ribbon: what bounds the step, and all that is changed.
struct WordLines {
  std::string moved;
  std::string all_of_bound;
  std::vector<std::string> bound;  // lines, the first of them left of `moved`
  std::vector<std::string> changes;

  float height(const kit::Theme& theme) const {
    return theme.px(kLine) * static_cast<float>(bound.size() + changes.size());
  }
};

float moved_width(const kit::Theme& theme, const std::string& moved) {
  return kit::text_width(theme, kit::Face::kMedium, moved) + theme.px(12);
}

// Of the first line, and of those below it.
struct LineWidths {
  float first = 0, others = 0;
};

// The last of `most` has all that is left of the text.
std::vector<std::string> broken_lines(const kit::Theme& theme, const LineWidths& widths,
                                      std::size_t most, std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty() && lines.size() < most) {
    const float width = lines.empty() ? widths.first : widths.others;
    const bool is_last = lines.size() + 1 == most;
    const std::string_view line =
        is_last ? text : kit::wrapped_lines(theme, kit::Face::kSmall, width, text).front();
    lines.emplace_back(line);
    text.remove_prefix(line.size());
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  }
  return lines;
}

// The longest of the wordings that can be read as a whole; the last one may have to be cut.
std::vector<std::string> fitting_lines(const kit::Theme& theme, const LineWidths& widths,
                                       std::size_t most, const std::vector<std::string>& wordings) {
  std::vector<std::string> lines;
  for (const std::string& words : wordings) {
    lines = broken_lines(theme, widths, most, words);
    const float width = lines.size() == 1 ? widths.first : widths.others;
    if (kit::text_width(theme, kit::Face::kSmall, lines.back()) <= width) break;
  }
  return lines;
}

float rows_height(const kit::Theme& theme) {
  return theme.px(kGapAbove + kCalls + kBetween + kRibbon + kBetween);
}

// With as many lines of words as there is room for: one of changes at least, then what bounds the
// step, then the rest of the changes.
WordLines words_with_room(const kit::Theme& theme, const PredictedStepPlace& place, float height,
                          const state::PredictionView& prediction) {
  const auto wordings = bound_words(*prediction.step, place.shown_step);
  WordLines words{.moved = moved_text(*prediction.step, place.shown_step),
                  .all_of_bound = wordings.front(),
                  .bound = {},
                  .changes = {}};
  const float left = (height + 0.5f - rows_height(theme)) / theme.px(kLine);
  const auto lines = static_cast<std::size_t>(std::max(2.0f, std::floor(left)));
  const float width = place.rect.w - place.label_width;
  const float beside = std::max(1.0f, width - moved_width(theme, words.moved));
  words.bound =
      fitting_lines(theme, {beside, width}, std::min(lines - 1, kMostBoundLines), wordings);
  words.changes = present::folded_lines(
      present::changed_items(*prediction.prediction),
      std::min(lines - words.bound.size(), kMostChangeLines), [&](const std::string& text) {
        return kit::text_width(theme, kit::Face::kSmall, text) <= width;
      });
  return words;
}

void draw_labels(const Strip& strip, const state::PredictionView& prediction) {
  const kit::Theme& theme = strip.theme();
  const state::Palette& p = theme.colors();
  state::Rect labels = strip.labels();
  labels.take_right(theme.px(8));
  state::Rect first = labels.take_top(theme.px(kCalls), theme.px(kBetween));
  state::Rect second = labels.take_top(theme.px(kRibbon), theme.px(kBetween));
  kit::take_text(theme, first, theme.px(6), kit::Face::kStrong, p.changed, "Predicted");
  kit::label_in(theme, first, kit::Face::kSmall, p.text_muted,
                prediction.prediction->has_units ? "Units" : "Buckets", kit::Align::kRight);
  if (strip.is_of_another_step()) {
    kit::take_text(theme, second, theme.px(6), kit::Face::kMedium, p.changed,
                   "step " + present::format_integer(prediction.step->index));
  }
  kit::label_in(theme, second, kit::Face::kSmall, p.text_muted, "Ribbon", kit::Align::kRight);
}

void draw_bound(const kit::Theme& theme, state::Rect area, const WordLines& words) {
  const state::Palette& p = theme.colors();
  state::Rect first = area;
  first.h = theme.px(kLine);
  const float width = moved_width(theme, words.moved);
  kit::text_in(theme, first.take_right(width), kit::Face::kMedium, p.changed, words.moved,
               kit::Align::kRight);
  kit::explain(theme, area, "What bounds the step", words.all_of_bound);
  for (const std::string& line : words.bound) {
    const state::Rect row = area.take_top(theme.px(kLine));
    const bool is_first = &line == &words.bound.front();
    kit::note_in(theme, is_first ? first : row, line);
  }
}

void draw_changes(const Strip& strip, state::Rect area, const WordLines& words,
                  const trace::tuning::Prediction& prediction) {
  const kit::Theme& theme = strip.theme();
  const state::Palette& p = theme.colors();
  state::Rect label{strip.labels().x, area.y, strip.labels().w, theme.px(kLine)};
  label.take_right(theme.px(8));
  kit::note_in(theme, label, "Changed", kit::Align::kRight);
  const state::Rect all = area;
  for (const std::string& line : words.changes) {
    kit::text_in(theme, area.take_top(theme.px(kLine)), kit::Face::kSmall, p.changed, line);
  }
  if (!kit::hovers(all)) return;
  const kit::TooltipScope scope(theme);
  scope.title("Changed settings");
  for (const std::string& item : present::changed_items(prediction)) scope.note(item);
}

bool has_step(const state::PredictionView* prediction) {
  return prediction != nullptr && prediction->prediction && prediction->step;
}

bool is_shown(const state::PredictionView* prediction) {
  return has_step(prediction) && !prediction->prediction->changes.empty();
}

// Of the settings on screen there is nothing to draw: the measured step stands above.
void draw_recorded_bound(const kit::Theme& theme, const PredictedStepPlace& place,
                         const PredictedStep& step) {
  const state::Palette& p = theme.colors();
  state::Rect line = place.rect;
  line.take_top(theme.px(kGapAbove));
  state::Rect label = line.take_left(place.label_width);
  label.take_right(theme.px(8));
  kit::label_in(theme, label, kit::Face::kSmall, p.text_muted, "Bound by", kit::Align::kRight);
  const auto wordings = bound_words(step, place.shown_step);
  const auto lines = fitting_lines(theme, {line.w, line.w}, 1, wordings);
  kit::explain(theme, line, "What bounds the step", wordings.front());
  kit::note_in(theme, line, lines.front());
}

}  // namespace

float predicted_step_height(const kit::Theme& theme, const PredictedStepPlace& place,
                            const state::PredictionView* prediction) {
  if (!has_step(prediction)) return 0;
  const float left = place.rect.h - theme.px(kRoom);
  const float height =
      is_shown(prediction)
          ? rows_height(theme) + words_with_room(theme, place, left, *prediction).height(theme)
          : theme.px(kGapAbove + kLine);
  return height <= place.rect.h - theme.px(kLeastRoom) ? height : 0;
}

std::int64_t predicted_end_ns(const state::PredictionView* prediction,
                              const trace::timeline::StepPicture& shown) {
  if (!is_shown(prediction)) return INT64_MIN;
  const PredictedStep& step = *prediction->step;
  if (step.index == shown.step) return step.end_ns;
  return shown.rows->start_ns + step.end_ns - step.start_ns;
}

void draw_predicted_step(const kit::Theme& theme, const PredictedStepPlace& place,
                         const state::PredictionView& prediction) {
  if (!has_step(&prediction)) return;
  if (!is_shown(&prediction)) {
    draw_recorded_bound(theme, place, *prediction.step);
    return;
  }
  PredictedStepPlace inner = place;
  kit::line(inner.rect.x, inner.rect.y, inner.rect.right(), inner.rect.y,
            kit::color(theme.colors().grid));
  inner.rect.take_top(theme.px(kGapAbove));
  const PredictedStep& step = *prediction.step;
  const Strip strip(theme, inner, step);
  draw_labels(strip, prediction);
  state::Rect rest = strip.plot();
  const state::Rect calls = rest.take_top(theme.px(kCalls), theme.px(kBetween));
  const state::Rect ribbon = rest.take_top(theme.px(kRibbon), theme.px(kBetween));
  {
    const kit::Clip clip(strip.plot());
    draw_calls(strip, step, calls.y);
    draw_ribbon(strip, step, ribbon.y);
    draw_end(strip, step, ribbon.bottom());
  }
  const auto words = words_with_room(theme, place, place.rect.h, prediction);
  draw_bound(theme, rest.take_top(theme.px(kLine) * static_cast<float>(words.bound.size())), words);
  draw_changes(strip, rest, words, *prediction.prediction);
}

}  // namespace shardlens::ui::tune
