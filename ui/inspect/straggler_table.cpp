#include "ui/inspect/straggler_table.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "ui/format.h"
#include "ui/inspect/statistics_text.h"

namespace shardlens::ui {

namespace {

using trace::StragglerCall;
using trace::StragglerFigures;
using trace::StragglerPart;
using trace::StragglerRank;

constexpr double kNoFigure = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kColumnsBeforeRanks = 6;
// With more ranks than that, a column has no room for a figure: the shade tells, the mouse says.
constexpr std::size_t kMostWithFigures = 16;

TableCell figure_cell(const Quantity& quantity, Tone tone = Tone::kText) {
  TableCell cell;
  cell.text = quantity.value;
  cell.unit = quantity.unit;
  cell.tone = tone;
  return cell;
}

TableColumn column_of(std::string title, std::string csv, std::string definition, float width) {
  TableColumn column;
  column.title = std::move(title);
  column.csv_title = std::move(csv);
  column.definition = std::move(definition);
  column.width = width;
  return column;
}

template <typename Value, typename Show>
void add_call_column(Table& table, const StragglerFigures& figures, TableColumn column, Value value,
                     Show show) {
  column.number = [calls = figures.calls.data(), value](std::size_t row) {
    return static_cast<double>(value(calls[row]));
  };
  column.cell = [calls = figures.calls.data(), value, show](std::size_t row) {
    return figure_cell(show(value(calls[row])));
  };
  table.columns.push_back(std::move(column));
}

Quantity duration_or_none(std::int64_t ns) {
  if (ns == 0) return {"0", ""};
  return format_duration(static_cast<double>(ns));
}

void add_call_columns(Table& table, const StragglerFigures& figures) {
  TableColumn name = column_of("Collective", "collective",
                               "What was asked for and what it was for. A click shows it", 210);
  name.kind = TableColumn::Kind::kText;
  name.wish = 300;
  name.cell = [calls = figures.calls.data()](std::size_t row) {
    TableCell cell;
    cell.text = call_name(calls[row]);
    return cell;
  };
  table.columns.push_back(std::move(name));
  const auto whole = [](std::int64_t number) { return Quantity{format_integer(number), ""}; };
  add_call_column(
      table, figures, column_of("Step", "step", "In which the ranks called it", 74),
      [](const StragglerCall& call) { return call.step; },
      [](std::int64_t step) {
        return Quantity{step < 0 ? std::string(kUnknown) : format_integer(step), ""};
      });
  add_call_column(
      table, figures,
      column_of("No.", "sequence",
                "Sequence number within the process group: the same on all ranks", 84),
      [](const StragglerCall& call) { return call.sequence; }, whole);
  add_call_column(
      table, figures,
      column_of("Longest wait", "longest_wait_ns",
                "Of the rank that came first: latest start over the ranks − own start", 116),
      [](const StragglerCall& call) { return call.longest_wait_ns(); }, duration_or_none);
  add_call_column(
      table, figures,
      column_of("Transfer", "transfer_ns",
                "From the latest start over the ranks to the end: what the link took", 100),
      [](const StragglerCall& call) { return call.transfer_ns(); }, duration_or_none);
  TableColumn last =
      column_of("Last", "last_rank",
                "The rank that started last, if by more than the error of the ranks' clocks", 90);
  last.number = [calls = figures.calls.data()](std::size_t row) {
    return calls[row].last_rank < 0 ? kNoFigure : static_cast<double>(calls[row].last_rank);
  };
  last.cell = [calls = figures.calls.data()](std::size_t row) {
    if (calls[row].last_rank < 0) return figure_cell({std::string(kUnknown), ""}, Tone::kMuted);
    return figure_cell({"rank " + std::to_string(calls[row].last_rank), ""});
  };
  table.columns.push_back(std::move(last));
}

TableCell heat_cell(const StragglerCall& call, int rank, double longest) {
  TableCell cell;
  const StragglerPart* part = call.part_of(rank);
  if (part == nullptr) return cell;
  cell.mark = trace::PieceClass::kExposed;
  cell.bar = longest > 0 ? static_cast<double>(part->wait_ns) / longest : 0;
  cell.is_marked = call.last_rank == rank;
  if (cell.is_marked) {
    cell.text = "last";
  } else if (part->wait_ns > 0) {
    const Quantity wait = format_duration(static_cast<double>(part->wait_ns));
    cell.text = wait.value;
    cell.unit = wait.unit;
  }
  return cell;
}

void add_rank_columns(Table& table, const StragglerFigures& figures) {
  double longest = 0;
  for (const StragglerCall& call : figures.calls) {
    longest = std::max(longest, static_cast<double>(call.longest_wait_ns()));
  }
  const bool wide = figures.ranks.size() <= kMostWithFigures;
  for (const StragglerRank& rank : figures.ranks) {
    const std::string number = std::to_string(rank.rank);
    TableColumn column = column_of(
        wide ? "rank " + number : number, "rank_" + number + "_wait_ns",
        "How long rank " + number +
            " waited in the collective for the last rank; \"last\" where it was that itself",
        wide ? 72.0f : 34.0f);
    column.kind = TableColumn::Kind::kHeat;
    column.wish = wide ? 120.0f : 48.0f;
    column.number = [calls = figures.calls.data(), id = rank.rank](std::size_t row) {
      const StragglerPart* part = calls[row].part_of(id);
      return part == nullptr ? kNoFigure : static_cast<double>(part->wait_ns);
    };
    column.cell = [calls = figures.calls.data(), id = rank.rank, longest](std::size_t row) {
      return heat_cell(calls[row], id, longest);
    };
    table.columns.push_back(std::move(column));
  }
}

// One line above the calls: a figure per rank, shaded by its share of the greatest.
void add_pinned(Table& table, const StragglerFigures& figures, std::string title,
                const std::function<double(const StragglerRank&)>& value,
                const std::function<Quantity(double)>& show) {
  double highest = 0;
  for (const StragglerRank& rank : figures.ranks) highest = std::max(highest, value(rank));
  std::vector<TableCell> cells(kColumnsBeforeRanks);
  cells[0].text = std::move(title);
  cells[0].tone = Tone::kSecondary;
  for (const StragglerRank& rank : figures.ranks) {
    const double given = value(rank);
    TableCell cell = figure_cell(given > 0 ? show(given) : Quantity{});
    cell.bar = highest > 0 ? given / highest : 0;
    cell.mark = trace::PieceClass::kHost;
    cells.push_back(std::move(cell));
  }
  table.pinned.push_back(std::move(cells));
}

}  // namespace

std::string call_name(const StragglerCall& call) {
  const std::string name = collective_title(trace::to_string(call.function));
  return call.tag.empty() ? name : name + " · " + call.tag;
}

int rank_of_column(const StragglerFigures& figures, std::size_t column) {
  if (column < kColumnsBeforeRanks || column - kColumnsBeforeRanks >= figures.ranks.size()) {
    return -1;
  }
  return figures.ranks[column - kColumnsBeforeRanks].rank;
}

std::string straggler_summary(const StragglerFigures& figures) {
  if (figures.ranks.empty()) return "";
  const auto& worst = *std::ranges::max_element(figures.ranks, {}, &StragglerRank::caused_ns);
  const std::string calls =
      format_integer(figures.matched) + (figures.matched == 1 ? " collective" : " collectives");
  if (worst.caused_ns == 0) return "No rank kept the others waiting in " + calls;
  return "Rank " + std::to_string(worst.rank) + " came last in " +
         format_integer(worst.times_last) + " of " + calls + "; the others waited " +
         format_duration(static_cast<double>(worst.caused_ns)).text() + " for it, added up";
}

std::shared_ptr<const Table> straggler_table(
    const std::shared_ptr<const StragglerFigures>& figures) {
  auto out = std::make_shared<Table>();
  out->id = "stragglers";
  out->rows = figures->calls.size();
  out->data = figures;
  add_call_columns(*out, *figures);
  add_rank_columns(*out, *figures);
  const auto as_time = [](double ns) { return format_duration(ns); };
  add_pinned(
      *out, *figures, "Came last",
      [](const StragglerRank& rank) { return static_cast<double>(rank.times_last); },
      [](double count) {
        return Quantity{format_integer(static_cast<std::int64_t>(count)) + " ×", ""};
      });
  add_pinned(
      *out, *figures, "Late, mean", [](const StragglerRank& rank) { return rank.mean_late_ns(); },
      as_time);
  add_pinned(
      *out, *figures, "Wait it caused",
      [](const StragglerRank& rank) { return static_cast<double>(rank.caused_ns); }, as_time);
  add_pinned(
      *out, *figures, "Of that alone",
      [](const StragglerRank& rank) { return static_cast<double>(rank.alone_ns); }, as_time);
  return out;
}

}  // namespace shardlens::ui
