#include "ui/present/compare/difference_table.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "ui/present/compare/comparison_text.h"
#include "ui/present/compare/waterfall.h"
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

}  // namespace shardlens::ui::present
