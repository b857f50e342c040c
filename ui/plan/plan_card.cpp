#include "ui/plan/plan_card.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <string_view>

#include "trace/job/shape/model_shape.h"
#include "trace/predict/plan/gpu_table.h"
#include "ui/kit/popup.h"
#include "ui/kit/widgets.h"
#include "ui/plan/estimate_draw.h"

namespace shardlens::ui::plan {

using PlanKind = present::PlanColumn::Kind;

namespace {

constexpr float kCardTitle = 34, kCardFields = 40, kCardLine = 22, kCardHead = 24;
constexpr float kHighestRow = 50, kRowWithBars = 34;
constexpr float kCardPadding = 20, kColumnGap = 16, kNarrowGap = 10;
constexpr float kWidestCard = 1360, kCardMargin = 16;

void draw_card_title(const kit::Theme& theme, state::Rect row, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::Rect close = row.take_right(theme.px(28)).inset(0, (row.h - theme.px(28)) / 2);
  if (kit::icon_button(theme, "plan/close", close, kit::Shape::kCross))
    commands.push_back(state::ShowPlan{false});
  const float title = kit::text_in(theme, row, kit::Face::kTitle, p.text, "Plan before running");
  row.take_left(title, theme.px(16));
  kit::label_in(theme, row, kit::Face::kBody, p.text_muted,
                "Estimated from the settings and the model's shape");
}

// What would make the chosen strategy fit: a click sets it.
void draw_remedy(const kit::Theme& theme, state::Rect row, const trace::predict::Remedy& remedy,
                 state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const std::string figure = "peak " + present::bytes_or_zero(remedy.peak_bytes);
  const kit::Hit hit = kit::hit_area(theme, "plan/remedy/" + remedy.text(), row);
  if (hit.hovered) kit::fill(row, kit::color(p.hover), theme.px(4));
  row = row.inset(theme.px(8), 0);
  const state::Rect set =
      row.take_left(kit::text_width(theme, kit::Face::kSmall, "Set"), theme.px(12));
  kit::text_in(theme, set, kit::Face::kSmall, p.accent_text, "Set");
  const float change =
      kit::text_in(theme, row, kit::Face::kMonoSmall, p.text_secondary, remedy.text());
  row.take_left(change, theme.px(16));
  kit::label_in(theme, row, kit::Face::kMonoSmall, p.text_muted, figure);
  if (!hit.clicked) return;
  for (const auto& set_to : remedy.changes)
    commands.push_back(state::SetKnob{set_to.knob, set_to.value});
}

void draw_remedies(const kit::Theme& theme, state::Rect rect, const state::PlanCard& card,
                   state::Commands& commands) {
  if (card.remedies.empty() || rect.h < 2 * theme.px(kCardLine)) return;
  const std::string chosen =
      trace::job::chosen<&trace::job::Settings::sharding_strategy>(card.plan->request.settings);
  kit::text_in(theme, rect.take_top(theme.px(kCardLine)), kit::Face::kSmall,
               theme.colors().text_secondary,
               chosen + " does not fit. Any of these would make it:");
  for (const trace::predict::Remedy& remedy : card.remedies) {
    if (rect.h < theme.px(kCardLine)) return;
    draw_remedy(theme, rect.take_top(theme.px(kCardLine)), remedy, commands);
  }
}

void draw_card_foot(const kit::Theme& theme, state::Rect row, const present::PlanTable& table) {
  const state::Palette& p = theme.colors();
  const std::string usable =
      "usable of a GPU: " + present::bytes_or_zero(static_cast<std::int64_t>(table.usable));
  if (table.usable <= table.memory_axis) {
    state::Rect legend =
        row.take_right(kit::text_width(theme, kit::Face::kSmall, usable) + theme.px(10));
    const state::Rect mark = legend.take_left(theme.px(10));
    kit::line(mark.x, mark.center_y() - theme.px(7), mark.x, mark.center_y() + theme.px(7),
              kit::color(p.text), std::max(1.0f, theme.px(1.5f)));
    kit::text_in(theme, legend, kit::Face::kSmall, p.text_secondary, usable);
  }
  kit::text_in(theme, row, kit::Face::kSmall, p.text_muted,
               "Hover a figure for its formula · click a strategy to choose it for the next run");
}

float remedies_height(const kit::Theme& theme, const state::PlanCard& card) {
  if (card.remedies.empty()) return 0;
  return theme.px(kCardLine) *
         static_cast<float>(std::min<std::size_t>(card.remedies.size(), 4) + 1);
}

constexpr std::array<std::string_view, 5> kGpusPerNode{"1", "2", "4", "8", "16"};
constexpr std::array<std::string_view, 8> kNodeCounts{"1", "2", "4", "8", "16", "32", "64", "128"};

std::vector<std::string_view> plannable_models() {
  std::vector<std::string_view> names;
  for (const auto& shape : trace::job::model_presets()) names.push_back(shape.name);
  for (const auto& shape : trace::job::planning_presets()) names.push_back(shape.name);
  return names;
}

std::vector<std::string_view> plannable_gpus() {
  std::vector<std::string_view> names;
  for (const auto& gpu : trace::predict::gpu_models()) names.push_back(gpu.name);
  return names;
}

struct PlanField {
  std::string_view label, name;
  std::string value;
  std::span<const std::string_view> choices;
  bool open = false;  // other values can be typed
};

// As wide as its longest choice, so that nothing moves when another one is picked.
float field_width(const kit::Theme& theme, const PlanField& field) {
  float widest = kit::text_width(theme, kit::Face::kMono, field.value);
  for (const auto choice : field.choices) {
    widest = std::max(widest, kit::text_width(theme, kit::Face::kMono, choice));
  }
  return std::ceil(widest) + theme.px(32);
}

void draw_field(const kit::Theme& theme, state::Rect& row, const PlanField& field,
                state::Commands& commands) {
  const float label_width = kit::text_width(theme, kit::Face::kSmall, field.label);
  const state::Rect label = row.take_left(label_width, theme.px(6));
  kit::text_in(theme, label, kit::Face::kSmall, theme.colors().text_secondary, field.label);
  const state::Rect box = row.take_left(field_width(theme, field), theme.px(16));
  std::string value = field.value;
  if (kit::choice_field(theme, "plan/" + std::string(field.name),
                        box.inset(0, (box.h - theme.px(26)) / 2), value, field.choices,
                        field.open)) {
    commands.push_back(state::SetPlanTarget{std::string(field.name), value});
  }
}

void draw_plan_fields(const kit::Theme& theme, const state::Rect& rect,
                      const state::Snapshot& snapshot, state::Commands& commands) {
  const state::Palette& p = theme.colors();
  const state::PlanCard& card = *snapshot.plan;
  const auto models = plannable_models();
  const auto gpus = plannable_gpus();
  const PlanField fields[] = {
      {"Model", "model", card.target.model.empty() ? snapshot.knobs.next.model : card.target.model,
       models},
      {"GPU", "gpu", card.target.gpu, gpus},
      {"GPUs per node", "gpus_per_node", std::to_string(card.target.gpus_per_node), kGpusPerNode,
       true},
      {"Nodes", "nodes", std::to_string(card.target.nodes), kNodeCounts, true},
  };
  state::Rect row = rect;
  for (const PlanField& field : fields) draw_field(theme, row, field, commands);
  if (snapshot.notice_is_error) {
    kit::text_in(theme, row, kit::Face::kSmall, p.danger, snapshot.notice);
    kit::explain(theme, row, "Not taken over", snapshot.notice);
  } else if (card.plan) {
    const auto gpu = trace::predict::find_gpu(card.target.gpu);
    kit::label_in(theme, row, kit::Face::kSmall, p.text_muted,
                  present::plan_device_text(*card.plan, gpu ? gpu->title : card.target.gpu),
                  kit::Align::kRight);
  }
}

}  // namespace

float PlanCardView::column_x(std::size_t place) const {
  float x = name_width_;
  for (std::size_t i = 0; i < place; ++i) x += places_[i].width;
  return x;
}

const std::string& PlanCardView::text_of(const present::PlanCell& cell) const {
  return narrow_ && !cell.brief.empty() ? cell.brief : cell.text;
}

float PlanCardView::measure(const kit::Theme& theme) {
  const kit::Face figures = narrow_ ? kit::Face::kMonoSmall : kit::Face::kMono;
  const float gap = theme.px(narrow_ ? kNarrowGap : kColumnGap);
  float names = 0;
  for (const present::PlanRow& row : table_.rows) {
    names = std::max(names, kit::text_width(theme, figures, row.strategy));
  }
  name_width_ = theme.px(10) + gap + std::ceil(names);
  for (Place& place : places_) {
    const present::PlanColumn& column = table_.columns[place.column];
    float widest =
        kit::text_width(theme, kit::Face::kSmall, narrow_ ? column.short_title : column.title);
    for (const present::PlanRow& row : table_.rows) {
      if (row.cells.empty()) continue;
      widest = std::max(widest, kit::text_width(theme, figures, text_of(row.cells[place.column])));
    }
    place.width = std::ceil(widest) + gap;
  }
  return column_x(places_.size());
}

void PlanCardView::update(const kit::Theme& theme,
                          const std::shared_ptr<const state::PlanCard>& card, float width) {
  if (card == card_ && width == measured_width_ && theme.scale == measured_scale_) return;
  card_ = card;
  measured_width_ = width;
  measured_scale_ = theme.scale;
  table_ = card->plan ? present::plan_table(*card->plan) : present::PlanTable{};
  places_.clear();
  for (std::size_t i = 0; i < table_.columns.size(); ++i) places_.push_back({i, 0});
  narrow_ = false;
  float sum = measure(theme);
  if (sum > width) {
    narrow_ = true;
    sum = measure(theme);
  }
  // Categories go last: what they are made of can be read from the peak's formula.
  while (sum > width && places_.size() > 1) {
    const bool nodes = table_.columns[places_.back().column].kind == PlanKind::kBetweenNodes;
    places_.erase(nodes ? places_.end() - 1 : places_.begin());
    sum = measure(theme);
  }
  const float spare =
      std::floor(std::max(0.0f, width - sum) / static_cast<float>(places_.size() + 1));
  for (Place& place : places_) place.width += spare;
  name_width_ += spare;
}

void PlanCardView::draw_head_row(const kit::Theme& theme, state::Rect row) const {
  const state::Palette& p = theme.colors();
  kit::text_in(theme, {row.x + theme.px(10), row.y, name_width_, row.h - theme.px(3)},
               kit::Face::kSmall, p.text_muted, "Strategy");
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const present::PlanColumn& column = table_.columns[places_[i].column];
    const state::Rect cell{row.x + column_x(i), row.y, places_[i].width, row.h};
    const state::Rect title{cell.x, cell.y, cell.w, cell.h - theme.px(3)};
    if (column.kind == PlanKind::kCategory) {
      const state::Rgb hue = state::memory_color(p, column.category);
      const float line_width = cell.w - theme.px(kNarrowGap);
      kit::fill({cell.x, cell.bottom() - theme.px(3), line_width, theme.px(3)}, kit::color(hue), 1);
    }
    kit::text_in(theme, title, kit::Face::kSmall, p.text_muted,
                 narrow_ ? column.short_title : column.title);
    kit::explain(theme, cell, column.title, column.definition);
  }
}

// Memory under its categories and the peak, against what is usable; bytes under what is sent.
void PlanCardView::draw_bars(const kit::Theme& theme, const state::Rect& row,
                             const present::PlanRow& strategy) const {
  const state::Palette& p = theme.colors();
  const float height = theme.px(8), y = row.bottom() - theme.px(17);
  std::size_t fit = 0, sent = 0;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    if (table_.columns[places_[i].column].kind == PlanKind::kFit) fit = i;
    if (table_.columns[places_[i].column].kind == PlanKind::kSent) sent = i;
  }
  const state::Rect memory{row.x + column_x(0), y,
                           column_x(fit) - column_x(0) - theme.px(kNarrowGap), height};
  draw_estimate_bar(theme, memory, strategy.parts, table_.memory_axis);
  const double share = table_.usable / table_.memory_axis;
  if (share <= 1) {
    const float x = std::round(memory.x + memory.w * static_cast<float>(share));
    kit::line(x, y - theme.px(4), x, y + height + theme.px(4), kit::color(p.text),
              std::max(1.0f, theme.px(1.5f)));
  }
  const float wide = places_[sent].width - theme.px(kNarrowGap);
  const state::Rect bar{row.x + column_x(sent), y, wide, height};
  kit::fill(bar, kit::color(p.field), theme.px(2));
  kit::fill(
      {bar.x, y, std::round(wide * static_cast<float>(strategy.sent / table_.most_sent)), height},
      kit::color(p.text_muted), theme.px(2));
}

// Figures lie in `line_box`; all of the row's height explains them.
void PlanCardView::draw_cells(const kit::Theme& theme, const state::Rect& row,
                              const state::Rect& line_box, const present::PlanRow& strategy) const {
  const state::Palette& p = theme.colors();
  const kit::Face figures = narrow_ ? kit::Face::kMonoSmall : kit::Face::kMono;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const std::size_t column = places_[i].column;
    const present::PlanCell& cell = strategy.cells[column];
    const state::Rect box{row.x + column_x(i), line_box.y, places_[i].width, line_box.h};
    kit::text_in(theme, box, figures, state::tone_color(p, cell.tone), text_of(cell));
    if (kit::hovers({box.x, row.y, box.w, row.h})) {
      formula_tooltip(theme, strategy.strategy + ": " + table_.columns[column].title, cell.lines,
                      cell.note);
    }
  }
}

void PlanCardView::draw_strategy_row(const kit::Theme& theme, const state::Rect& row,
                                     const present::PlanRow& strategy,
                                     state::Commands& commands) const {
  const state::Palette& p = theme.colors();
  const kit::Hit hit = kit::hit_area(theme, "plan/" + strategy.strategy, row);
  if (strategy.chosen || hit.hovered) {
    kit::fill(row, kit::color(strategy.chosen ? p.row_selected : p.hover), theme.px(5));
  }
  if (strategy.chosen) {
    kit::fill({row.x, row.y + theme.px(4), theme.px(3), row.h - theme.px(8)}, kit::color(p.accent),
              1);
  }
  if (hit.clicked && !strategy.chosen) {
    commands.push_back(state::SetKnob{"sharding_strategy", strategy.strategy});
  }
  const bool bars = row.h >= theme.px(kRowWithBars);
  state::Rect line_box = row;
  if (bars) line_box.h = row.h - theme.px(18);
  const kit::Face figures = narrow_ ? kit::Face::kMonoSmall : kit::Face::kMono;
  const bool refused = !strategy.refused.empty();
  const state::Rect name{row.x + theme.px(10), line_box.y, name_width_ - theme.px(10), line_box.h};
  kit::text_in(theme, name, figures, refused ? p.text_muted : p.text, strategy.strategy);
  kit::explain(theme, {row.x, row.y, name_width_, row.h}, strategy.strategy,
               refused ? strategy.refused : strategy.explanation,
               refused ? "Refused with these settings" : "Click chooses it for the next run");
  if (refused) {
    const state::Rect why{row.x + name_width_, row.y, row.w - name_width_ - theme.px(8), row.h};
    kit::text_wrapped(theme, why.inset(0, std::max(0.0f, (row.h - theme.px(32)) / 2)),
                      kit::Face::kSmall, p.text_muted, "Refused: " + strategy.refused);
    return;
  }
  draw_cells(theme, row, line_box, strategy);
  if (bars) draw_bars(theme, row, strategy);
}

void PlanCardView::draw_table(const kit::Theme& theme, state::Rect rect,
                              state::Commands& commands) const {
  draw_head_row(theme, rect.take_top(theme.px(kCardHead), theme.px(4)));
  const float row_height =
      std::min(theme.px(kHighestRow), std::floor(rect.h / static_cast<float>(table_.rows.size())));
  for (const present::PlanRow& row : table_.rows) {
    draw_strategy_row(theme, rect.take_top(row_height), row, commands);
  }
}

void PlanCardView::draw(const kit::Theme& theme, const state::Rect& window,
                        const state::Snapshot& snapshot, state::Commands& commands) {
  if (!snapshot.plan) return;
  const state::PlanCard& card = *snapshot.plan;
  const state::Palette& p = theme.colors();
  const float width = std::min(theme.px(kWidestCard), window.w - 2 * theme.px(kCardMargin));
  const float padding = std::min(theme.px(kCardPadding), width * 0.02f);
  update(theme, snapshot.plan, width - 2 * padding);
  const auto rows = static_cast<float>(std::max<std::size_t>(table_.rows.size(), 1));
  const float fixed =
      2 * padding + theme.px(kCardTitle + kCardFields + 2 * kCardLine + kCardHead + 12);
  const float most = window.h - 2 * theme.px(kCardMargin);
  const float remedies = remedies_height(theme, card);
  const float height = std::min(most, fixed + theme.px(kHighestRow) * rows + remedies);
  const state::Rect box{window.center_x() - width / 2, std::round(window.center_y() - height / 2),
                        width, height};
  const kit::Overlay overlay(theme, "##plan", window, box);
  state::Rect rest = box.inset(padding, padding);
  draw_card_title(theme, rest.take_top(theme.px(kCardTitle)), commands);
  draw_plan_fields(theme, rest.take_top(theme.px(kCardFields)), snapshot, commands);
  const state::Rect job = rest.take_top(theme.px(kCardLine), theme.px(4));
  const state::Rect foot = rest.take_bottom(theme.px(kCardLine));
  if (card.plan) {
    kit::text_in(theme, job, kit::Face::kSmall, p.text_secondary,
                 present::plan_job_text(*card.plan));
    const float room = rest.h - theme.px(kCardHead + 4) - theme.px(kRowWithBars + 1) * rows;
    const state::Rect ways = rest.take_bottom(std::max(0.0f, std::min(remedies, room)));
    draw_table(theme, rest, commands);
    draw_remedies(theme, ways, card, commands);
    draw_card_foot(theme, foot, table_);
  } else {
    kit::text_wrapped(theme, rest, kit::Face::kBody, p.danger, card.problem);
  }
  if (overlay.wants_to_close()) commands.push_back(state::ShowPlan{false});
}

}  // namespace shardlens::ui::plan
