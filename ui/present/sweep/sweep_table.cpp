#include "ui/present/sweep/sweep_table.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>

#include "trace/timeline/words/interval_text.h"
#include "ui/present/format.h"
#include "ui/present/sweep/sweep_words.h"

namespace shardlens::ui::present {

namespace {

constexpr const char* kSweepSource = "Mean over the point's runs · docs/NUMBERS.md, “A sweep”";
constexpr const char* kSearchSource = "Mean over the point's runs · docs/NUMBERS.md, “A search”";

using PointColumns = RowColumns<state::SweepPoint>;

// At scale 1, with a column's padding.
float width_of_code(std::size_t letters) { return static_cast<float>(letters) * 7.3f + 24; }

void add_value_column(PointColumns& columns, const state::ShownSweep& sweep, std::size_t index) {
  const trace::job::Knob& knob = *sweep.varied[index];
  const auto* best = sweep.best ? &sweep.points[*sweep.best] : nullptr;
  std::size_t longest = knob.name.size();
  for (const auto& point : sweep.points) longest = std::max(longest, point.values[index].size());
  TableColumn& column = columns.add(
      {.title = std::string(knob.name),
       .csv_title = std::string(knob.name),
       .definition = std::string(knob.explanation),
       .kind = TableColumn::Kind::kCode,
       .width = 90,
       .wish = std::clamp(width_of_code(longest), 90.0f, 400.0f),
       .priority = 10},
      [&sweep, best, index](const state::SweepPoint& point) {
        const auto place = static_cast<std::size_t>(&point - sweep.points.data());
        if (!is_obeyed(sweep, place, index)) return TableCell{};
        return TableCell::words(point.values[index],
                                &point == best ? state::Tone::kText : state::Tone::kSecondary);
      });
  const auto type = trace::job::type_name(knob);
  if (type != "number" && type != "integer") return;
  column.number = [rows = columns.rows(), index](std::size_t row) {
    return number_of(number_in(rows[row].values[index]));
  };
  column.csv = [rows = columns.rows(), index](std::size_t row) { return rows[row].values[index]; };
}

template <typename Value>
TableColumn* add_figure(PointColumns& columns, std::string title, std::string csv_title,
                        std::string definition, Value value, std::function<Quantity(double)> show,
                        const char* source = kSweepSource) {
  return columns.add_known({.title = std::move(title),
                            .csv_title = std::move(csv_title),
                            .definition = std::move(definition),
                            .source = source,
                            .width = 84,
                            .wish = 120,
                            .priority = 5},
                           value, std::move(show));
}

template <typename Words>
void add_word_column(PointColumns& columns, std::string title, std::string csv_title, float width,
                     Words words) {
  columns.add({.title = std::move(title),
               .csv_title = std::move(csv_title),
               .kind = TableColumn::Kind::kText,
               .width = width,
               .wish = 2 * width,
               .priority = 8},
              [words](const state::SweepPoint& point) {
                const bool failed = point.standing == state::SweepStanding::kFailed;
                return TableCell::words(words(point),
                                        failed ? state::Tone::kDanger : state::Tone::kText);
              });
}

// All in one unit, so that the digits of a column can be compared.
std::function<Quantity(double)> in_unit_of(const state::ShownSweep& sweep) {
  double longest = 0;
  for (const auto& point : sweep.points) longest = std::max(longest, point.step_ns.value_or(0));
  const auto unit = duration_unit(longest);
  return [unit](double ns) { return format_duration_in(ns, unit); };
}

// What a search is for, as it is shown: of the time per token its inverse.
auto in_goal(const state::ShownSweep& sweep, std::optional<double> state::PointCost::*figure) {
  return [by_tokens = sweep.by_tokens, figure](const state::SweepPoint& point) {
    const auto cost = point.searched ? *point.searched.*figure : std::nullopt;
    return cost && by_tokens ? std::optional(1e9 / *cost) : cost;
  };
}

// In the unit of what it is of.
std::optional<double> half_width_of(const state::PointCost& cost, bool by_tokens) {
  if (!cost.measured || !cost.half_width) return std::nullopt;
  if (!by_tokens) return cost.half_width;
  return 1e9 / *cost.measured * *cost.half_width / *cost.measured;
}

void add_goal(PointColumns& columns, const state::ShownSweep& sweep) {
  std::string title = "Step", name = "step_ns";
  std::function<Quantity(double)> show = in_unit_of(sweep);
  if (sweep.is_for_memory()) {
    title = "Peak memory", name = "peak_memory_bytes", show = format_bytes;
  } else if (sweep.by_tokens) {
    title = "Tokens/s", name = "tokens_per_s";
    show = [](double rate) { return format_rate(rate, "/s"); };
  }
  const std::string unit = sweep.is_for_memory() ? "_bytes"
                           : sweep.by_tokens     ? "_tokens_per_s"
                                                 : "_ns";
  add_figure(columns, title, name,
             "Mean over the point's runs, each as it was measured: what the search goes by. The "
             "verdict leaves out the best's first run, which chose it",
             in_goal(sweep, &state::PointCost::measured), show, kSearchSource);
  add_figure(
      columns, "±", "half_width" + unit,
      "Half the 95 % interval of that mean; empty where it is not known, or as wide as the mean",
      [is_by_tokens = sweep.by_tokens](const state::SweepPoint& point) {
        return point.searched ? half_width_of(*point.searched, is_by_tokens) : std::nullopt;
      },
      show, kSearchSource);
  add_figure(columns, "Predicted", "predicted" + unit,
             "Before the point's first run; of what has not run, by all runs so far",
             in_goal(sweep, &state::PointCost::predicted), show, kSearchSource);
}

void add_spread(PointColumns& columns, const std::function<Quantity(double)>& time) {
  using Point = state::SweepPoint;
  TableColumn* spread =
      add_figure(columns, "±", "half_width_ns",
                 "Half the 95 % interval of that mean; in brackets the interval itself, where that "
                 "is more than the mean",
                 &Point::half_width_ns, time);
  if (spread == nullptr) return;
  const auto rows = columns.rows();
  // "": it is not vast.
  const auto interval = [rows, time](std::size_t row) -> std::string {
    const Point& point = rows[row];
    if (!(point.half_width_ns > point.step_ns)) return "";
    return trace::timeline::spread_text(*point.step_ns, *point.half_width_ns,
                                        [&](double ns) { return time(ns).text(); });
  };
  for (std::size_t row = 0; row < rows.size(); ++row) {
    spread->width = std::max(spread->width, width_of_code(interval(row).size()));
  }
  spread->wish = std::max(spread->wish, spread->width);
  spread->cell = [interval, half = spread->cell](std::size_t row) {
    const std::string text = interval(row);
    return text.empty() ? half(row) : TableCell::words(text);
  };
}

// What a sweep goes by, which is judged by rounds.
void add_level(PointColumns& columns, const std::function<Quantity(double)>& time) {
  using Point = state::SweepPoint;
  add_figure(
      columns, "Step", "step_ns",
      "Geometric mean of the point's runs, as of a round that is like all: what points are put in "
      "order by",
      &Point::step_ns, time);
  add_spread(columns, time);
  add_figure(
      columns, "Predicted", "predicted_ns",
      "Step time predicted from a run of another point; the point's own runs play no part",
      [](const Point& p) { return p.prediction.step_ns; }, time);
}

void add_figures(PointColumns& columns, const state::ShownSweep& sweep) {
  const auto time = in_unit_of(sweep);
  using Point = state::SweepPoint;
  const bool is_of_step = !sweep.search || sweep.search->goal == "step_time";
  if (sweep.search) add_goal(columns, sweep);
  if (!sweep.search) add_level(columns, time);
  if (!is_of_step) {
    add_figure(columns, "Step", "step_ns", "Mean over the point's runs", &Point::step_ns, time,
               kSearchSource);
  }
  add_figure(columns, "Exposed", "exposed_ns", "Communication that no computation hides",
             &Point::exposed_ns, time);
  if (sweep.by_tokens && !sweep.search) {
    add_figure(columns, "Tokens/s", "tokens_per_s",
               "Of all ranks together: what points are judged by that do different work per step",
               &Point::tokens_per_s, [](double rate) { return format_rate(rate, "/s"); });
  }
  add_figure(
      columns, "Peak of tensors", "peak_tensor_bytes",
      "Of the rank that needs most; the same in every run, and without what the process holds "
      "outside of PyTorch",
      &Point::peak_tensor_bytes, format_bytes);
}

}  // namespace

Table sweep_table(const std::shared_ptr<const state::ShownSweep>& sweep) {
  Table table;
  table.id = "sweep points";
  table.frozen = sweep->varied.size();
  table.data = sweep;
  table.order.assign(sweep->best_first.begin(), sweep->best_first.end());
  PointColumns columns(table, sweep->points);
  for (std::size_t i = 0; i < sweep->varied.size(); ++i) add_value_column(columns, *sweep, i);
  add_figures(columns, *sweep);
  add_word_column(columns, "Runs", "runs", 50,
                  // A search runs a point as often as it needs to.
                  [repeats = sweep->search ? "" : std::to_string(sweep->repeats)](
                      const state::SweepPoint& point) {
                    const auto count = std::to_string(point.runs.size());
                    const bool is_all = repeats.empty() || count == repeats;
                    return is_all ? count : count + " of " + repeats;
                  });
  add_word_column(columns, sweep->by_tokens ? "Time per token" : "Beside the best", "verdict", 130,
                  [of = sweep.get()](const state::SweepPoint& point) {
                    const std::string text = beside_best_text(*of, point);
                    const bool has_reason =
                        point.standing == state::SweepStanding::kNotRun && !point.reason.empty();
                    return has_reason ? text + ": " + point.reason : text;
                  });
  return table;
}

}  // namespace shardlens::ui::present
