#include "ui/present/compare/differences.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "ui/present/compare/comparison_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using trace::analysis::DetailKind;
using trace::analysis::FigureUnit;
using trace::analysis::RunDifference;

constexpr std::string_view kAllKinds = "All", kPartKind = "Parts", kPhaseKind = "Phases";

std::string_view kind_title(DetailKind kind) {
  switch (kind) {
    case DetailKind::kWork:
      return "Kernels";
    case DetailKind::kCollective:
      return "Collectives";
    case DetailKind::kTag:
      return "Buckets";
    case DetailKind::kMemory:
      break;
  }
  return "Memory";
}

struct DifferenceRow {
  std::string name;
  std::string_view kind;
  bool is_size = false;  // bytes, else nanoseconds
  double first = 0, second = 0;
  std::optional<double> half_width{};
  std::optional<bool> beyond_noise{};
  std::string verdict{};
  std::optional<trace::base::TimeClass> mark{};

  double difference() const { return second - first; }
};

struct DifferenceRows {
  std::vector<DifferenceRow> rows;
  std::shared_ptr<const RunDifference> difference;
};

void add_shares(DifferenceRows& rows, std::string_view kind,
                const std::vector<trace::analysis::ShareDifference>& shares) {
  for (const auto& share : shares) {
    rows.rows.push_back({.name = std::string(share_title(share)),
                         .kind = kind,
                         .first = share.first,
                         .second = share.second,
                         .half_width = share.half_width,
                         .beyond_noise = share.beyond_noise,
                         .verdict = std::string(verdict_text(share.beyond_noise)),
                         .mark = share_class(share)});
  }
}

std::shared_ptr<const DifferenceRows> rows_of(std::shared_ptr<const RunDifference> difference,
                                              std::string_view kind, const std::string& first,
                                              const std::string& second) {
  auto rows = std::make_shared<DifferenceRows>();
  add_shares(*rows, kPartKind, difference->explanation.parts);
  add_shares(*rows, kPhaseKind, difference->explanation.phases);
  for (const auto& detail : difference->details) {
    rows->rows.push_back({.name = detail.name,
                          .kind = kind_title(detail.kind),
                          .is_size = detail.unit == FigureUnit::kBytes,
                          .first = detail.first,
                          .second = detail.second,
                          .half_width = detail.half_width,
                          .beyond_noise = detail.beyond_noise,
                          .verdict = detail_verdict_text(detail, first, second)});
  }
  std::erase_if(rows->rows,
                [&](const DifferenceRow& row) { return kind != kAllKinds && row.kind != kind; });
  std::ranges::stable_sort(rows->rows, std::ranges::greater{}, [](const DifferenceRow& row) {
    return std::pair{!row.is_size, std::abs(row.difference())};
  });
  rows->difference = std::move(difference);
  return rows;
}

Quantity quantity_of(const DifferenceRow& row, double value) {
  if (value == 0) return {"0", ""};
  return row.is_size ? format_bytes(value) : format_duration(value);
}

TableCell difference_cell(const DifferenceRow& row) {
  const double difference = row.difference();
  TableCell cell = TableCell::figure(quantity_of(row, std::abs(difference)));
  if (difference == 0) return cell;
  cell.text = trace::base::signed_text(difference, cell.text);
  if (row.beyond_noise == false) cell.tone = state::Tone::kMuted;
  return cell;
}

using DifferenceColumns = RowColumns<DifferenceRow>;

// Sorted by its value, which is shown in the row's unit.
template <typename Value>
void add_quantity(DifferenceColumns& columns, TableColumn column, Value value) {
  columns.add(
      std::move(column),
      [value](const DifferenceRow& row) {
        const std::optional<double> given = std::invoke(value, row);
        return given ? TableCell::figure(quantity_of(row, *given)) : TableCell{};
      },
      value);
}

void add_figures(DifferenceColumns& columns, const std::string& first, const std::string& second,
                 bool has_intervals) {
  add_quantity(
      columns,
      {.title = first,
       .csv_title = "first",
       .definition = "Per step, the mean over measured steps and ranks; of memory at the peak",
       .width = 78,
       .wish = 92,
       .priority = 1},
      &DifferenceRow::first);
  add_quantity(columns,
               {.title = second,
                .csv_title = "second",
                .definition = "The same of the other run",
                .width = 78,
                .wish = 92,
                .priority = 1},
               &DifferenceRow::second);
  columns.add(
      {.title = "Difference",
       .csv_title = "difference",
       .definition = "The other run − the base. Parts sum to the difference of step time, phases "
                     "do so, too; the other kinds do not",
       .width = 84,
       .wish = 100,
       .priority = 3},
      difference_cell, &DifferenceRow::difference);
  if (!has_intervals) return;
  add_quantity(
      columns,
      {.title = "±",
       .csv_title = "half_width",
       .definition = "The difference's interval is it ± this: the one that the verdict is by, so "
                     "that it holds no 0 where the difference is beyond noise. The more is told "
                     "apart at once, the wider it is",
       .width = 78,
       .wish = 92,
       .priority = 0},
      &DifferenceRow::half_width);
}

using trace::analysis::ShareDifference;
using trace::analysis::StepShare;
using trace::base::TimeClass;

constexpr double kRoomBeside = 0.12;  // of the axis, on both sides of what moves

TimeClass class_of_phase(std::string_view name) {
  using trace::base::Phase;
  for (const auto& [phase, time_class] :
       {std::pair{Phase::kData, TimeClass::kData}, std::pair{Phase::kForward, TimeClass::kForward},
        std::pair{Phase::kBackward, TimeClass::kBackward},
        std::pair{Phase::kOptimizer, TimeClass::kOptimizerPhase},
        std::pair{Phase::kEvaluation, TimeClass::kEvaluation}}) {
    if (name == trace::base::to_string(phase)) return time_class;
  }
  return TimeClass::kOtherPhase;
}

WaterfallBar total_bar(const std::string& name, double ns) {
  return {.title = name,
          .from_ns = 0,
          .to_ns = ns,
          .is_total = true,
          .text = format_duration(ns).text()};
}

}  // namespace

std::vector<std::string_view> difference_kinds(const RunDifference& difference) {
  std::vector<std::string_view> kinds{kAllKinds};
  if (!difference.explanation.parts.empty()) kinds.push_back(kPartKind);
  if (!difference.explanation.phases.empty()) kinds.push_back(kPhaseKind);
  for (int i = 0; i < trace::analysis::kDetailKinds; ++i) {
    const auto kind = static_cast<DetailKind>(i);
    if (std::ranges::find(difference.details, kind, &trace::analysis::DetailDifference::kind) !=
        difference.details.end()) {
      kinds.push_back(kind_title(kind));
    }
  }
  return kinds;
}

std::shared_ptr<const Table> difference_table(
    const std::shared_ptr<const RunDifference>& difference, std::string_view kind,
    const std::string& first, const std::string& second) {
  const auto rows = rows_of(difference, kind, first, second);
  auto table = std::make_shared<Table>();
  table->id = "differences";
  table->data = rows;
  DifferenceColumns columns(*table, rows->rows);
  columns.add(
      {.title = "What",
       .csv_title = "what",
       .definition =
           "What takes time or memory in the two runs. Buckets of one number are compared "
           "where both runs put the same parameters into them",
       .kind = TableColumn::Kind::kText,
       .width = 128,
       .wish = 260,
       .priority = 4},
      [](const DifferenceRow& row) { return TableCell{.text = row.name, .mark = row.mark}; });
  add_figures(columns, first, second, std::ranges::any_of(rows->rows, [](const DifferenceRow& row) {
                return row.half_width.has_value();
              }));
  columns.add(
      {.title = "Noise",
       .csv_title = "beyond_noise",
       .definition = "Whether chance explains the difference: beyond noise it does not. Not known "
                     "where nothing tells how far runs scatter. Memory does not scatter: equal is "
                     "what differs by less than an allocation or a thousandth of the peak",
       .kind = TableColumn::Kind::kText,
       .width = 98,
       .wish = 110,
       .priority = 2},
      [](const DifferenceRow& row) {
        return TableCell::words(
            row.verdict, row.beyond_noise == true ? state::Tone::kText : state::Tone::kMuted);
      });
  return table;
}

TimeClass share_class(const ShareDifference& share) {
  switch (share.share) {
    case StepShare::kCompute:
      return TimeClass::kCompute;
    case StepShare::kExposed:
    case StepShare::kTransfer:
      return TimeClass::kExposed;
    case StepShare::kWaiting:
      return TimeClass::kWaiting;
    case StepShare::kExposedCopy:
      return TimeClass::kCopy;
    case StepShare::kIdle:
      return TimeClass::kIdle;
    case StepShare::kUndetailed:
      return TimeClass::kOtherPhase;
    case StepShare::kPhase:
      break;
  }
  return class_of_phase(share.name);
}

Waterfall waterfall_of(const trace::analysis::StepExplanation& explanation, WaterfallOf what,
                       const std::string& first, const std::string& second, std::size_t most_bars) {
  const auto& shares = what == WaterfallOf::kParts ? explanation.parts : explanation.phases;
  Waterfall waterfall;
  if (shares.empty()) return waterfall;
  waterfall.bars.push_back(total_bar(first, explanation.first_ns));
  const std::size_t room = std::max<std::size_t>(most_bars, 3) - 2;
  const std::size_t alone = shares.size() > room ? room - 1 : shares.size();
  double at = explanation.first_ns, low = at, high = at;
  const auto add = [&](WaterfallBar bar, double difference) {
    bar.from_ns = at;
    bar.to_ns = at += difference;
    low = std::min(low, at);
    high = std::max(high, at);
    waterfall.bars.push_back(std::move(bar));
  };
  for (std::size_t i = 0; i < alone; ++i) {
    add({.title = std::string(share_title(shares[i])),
         .text = share_text(shares[i]),
         .beyond_noise = shares[i].beyond_noise,
         .time_class = share_class(shares[i])},
        shares[i].difference());
  }
  double rest = 0;
  for (std::size_t i = alone; i < shares.size(); ++i) rest += shares[i].difference();
  if (alone < shares.size()) {
    add({.title = "the rest",
         .text = trace::base::format_signed_duration(rest),
         .time_class = TimeClass::kOtherPhase},
        rest);
  }
  waterfall.bars.push_back(total_bar(second, explanation.second_ns));
  low = std::min(low, explanation.second_ns);
  high = std::max(high, explanation.second_ns);
  const double span = std::max(high - low, 1e-3 * high);
  waterfall.low_ns = std::max(0.0, low - kRoomBeside / (1 - 2 * kRoomBeside) * span);
  waterfall.high_ns = high + kRoomBeside / (1 - 2 * kRoomBeside) * span;
  // Where they are large, bars that begin at 0 tell more.
  if (waterfall.low_ns < 0.35 * waterfall.high_ns) waterfall.low_ns = 0;
  return waterfall;
}

}  // namespace shardlens::ui::present
