#include "ui/present/sweep/sweep_table.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <string>
#include <utility>

#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

using Sweep = std::shared_ptr<const state::ShownSweep>;
using Figure = std::function<std::optional<double>(const state::SweepPoint&)>;

constexpr const char* kSweepSource = "Mean over the point's runs · docs/NUMBERS.md, “A sweep”";

TableColumn value_column(const Sweep& sweep, std::size_t index) {
  const trace::job::Knob& knob = *sweep->varied[index];
  TableColumn column;
  column.title = std::string(knob.name);
  column.csv_title = column.title;
  column.definition = std::string(knob.explanation);
  column.kind = TableColumn::Kind::kCode;
  column.width = 90;
  column.wish = 140;
  column.priority = 10;
  column.cell = [sweep, index](std::size_t row) {
    const bool is_best = sweep->best == row;
    return TableCell::words(sweep->points[row].values[index],
                            is_best ? state::Tone::kText : state::Tone::kSecondary);
  };
  const auto type = trace::job::type_name(knob);
  if (type == "number" || type == "integer") {
    column.number = [sweep, index](std::size_t row) {
      const std::string& text = sweep->points[row].values[index];
      char* end = nullptr;
      const double value = std::strtod(text.c_str(), &end);
      return end == text.c_str() ? kNotKnown : value;
    };
    column.csv = [sweep, index](std::size_t row) { return sweep->points[row].values[index]; };
  }
  return column;
}

void add_figure(Table& table, const Sweep& sweep, std::string title, std::string csv_title,
                std::string definition, Figure figure, std::function<Quantity(double)> show) {
  TableColumn column;
  column.title = std::move(title);
  column.csv_title = std::move(csv_title);
  column.definition = std::move(definition);
  column.source = kSweepSource;
  column.width = 84;
  column.priority = 5;
  column.number = [sweep, figure = std::move(figure)](std::size_t row) {
    return figure(sweep->points[row]).value_or(kNotKnown);
  };
  column.show_numbers(std::move(show));
  if (has_numbers(table, column)) table.columns.push_back(std::move(column));
}

void add_word_column(Table& table, const Sweep& sweep, std::string title, std::string csv_title,
                     std::function<std::string(const state::SweepPoint&)> words, float width) {
  TableColumn column;
  column.title = std::move(title);
  column.csv_title = std::move(csv_title);
  column.kind = TableColumn::Kind::kText;
  column.width = width;
  column.wish = 2 * width;
  column.priority = 8;
  column.cell = [sweep, words = std::move(words)](std::size_t row) {
    const auto& point = sweep->points[row];
    TableCell cell = TableCell::words(words(point));
    if (point.standing == state::SweepStanding::kFailed) cell.tone = state::Tone::kDanger;
    return cell;
  };
  table.columns.push_back(std::move(column));
}

// All in one unit, so that the digits of a column can be compared.
std::function<Quantity(double)> in_unit_of(const state::ShownSweep& sweep) {
  double longest = 0;
  for (const auto& point : sweep.points) longest = std::max(longest, point.step_ns.value_or(0));
  const auto unit = duration_unit(longest);
  return [unit](double ns) { return format_duration_in(ns, unit); };
}

void add_figures(Table& table, const Sweep& sweep) {
  const auto time = in_unit_of(*sweep);
  using Point = state::SweepPoint;
  add_figure(
      table, sweep, "Step", "step_ns", "Mean step time over the point's runs",
      [](const Point& p) { return p.step_ns; }, time);
  add_figure(
      table, sweep, "±", "half_width_ns", "Half the 95 % interval of that mean",
      [](const Point& p) { return p.half_width_ns; }, time);
  add_figure(
      table, sweep, "Predicted", "predicted_ns",
      "Step time predicted from a run of another point; the point's own runs play no part",
      [](const Point& p) { return p.prediction.step_ns; }, time);
  add_figure(
      table, sweep, "Exposed", "exposed_ns", "Communication that no computation hides",
      [](const Point& p) { return p.exposed_ns; }, time);
  if (sweep->by_tokens) {
    add_figure(
        table, sweep, "Tokens/s", "tokens_per_s",
        "Of all ranks together: what points are judged by that do different work per step",
        [](const Point& p) { return p.tokens_per_s; },
        [](double rate) { return format_rate(rate, "/s"); });
  }
  add_figure(
      table, sweep, "Peak memory", "peak_memory_bytes",
      "The greatest peak of a rank over the point's runs",
      [](const Point& p) { return p.peak_memory_bytes; },
      [](double bytes) { return format_bytes(bytes); });
}

}  // namespace

Table sweep_table(const Sweep& sweep) {
  Table table;
  table.id = "sweep points";
  table.rows = sweep->points.size();
  table.frozen = sweep->varied.size();
  table.data = sweep;
  for (std::size_t i = 0; i < sweep->varied.size(); ++i) {
    table.columns.push_back(value_column(sweep, i));
  }
  add_figures(table, sweep);
  const int repeats = sweep->repeats;
  add_word_column(
      table, sweep, "Runs", "runs",
      [repeats](const state::SweepPoint& point) {
        const auto count = std::to_string(point.runs.size());
        return count == std::to_string(repeats) ? count : count + " of " + std::to_string(repeats);
      },
      50);
  add_word_column(
      table, sweep, sweep->by_tokens ? "Time per token" : "Beside the best", "verdict",
      [](const state::SweepPoint& point) {
        const std::string text = standing_text(point.standing, point.slower_by);
        const bool has_reason =
            point.standing == state::SweepStanding::kNotRun && !point.reason.empty();
        return has_reason ? text + ": " + point.reason : text;
      },
      130);
  return table;
}

}  // namespace shardlens::ui::present
