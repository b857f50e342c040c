#include "ui/inspect/tabs/statistics_table.h"

#include <algorithm>
#include <utility>

#include "trace/timeline/words/kernel_title.h"
#include "ui/inspect/tabs/statistics_text.h"
#include "ui/present/format.h"

namespace shardlens::ui::inspect {

namespace {

using trace::timeline::NameFigures;
using trace::timeline::StatisticsTable;
using Kind = present::TableColumn::Kind;

constexpr float kMonoAdvance = 7.5f;  // of scale 1, per letter of a name
constexpr float kWidestNames = 620;

double known_duration(std::int64_t ns) {
  return ns == trace::timeline::kUnknownNs ? present::kNotKnown : static_cast<double>(ns);
}

present::Quantity whole_number(double value) {
  return {present::format_integer(static_cast<std::int64_t>(value)), ""};
}

std::string_view collective_class(trace::base::TimeClass piece_class) {
  return piece_class == trace::base::TimeClass::kExposed ? "exposed" : "overlapped";
}

// Makes columns over the rows of one table, which the table keeps alive.
class StatisticsColumns {
 public:
  StatisticsColumns(const trace::timeline::RangeTable& table, present::Table& out)
      : table_(table), out_(out) {}

  void add_all() {
    add_names();
    add_counts();
    add_durations();
    add_traffic();
    present::TableColumn shape{
        .title = "Distribution",
        .definition =
            "How often each duration occurs, from the shortest to the longest of the row on a "
            "logarithmic axis. A second hump is a second kind of work under one name",
        .kind = Kind::kHistogram,
        .width = 130,
        .wish = 230,
        .priority = 6};
    shape.number = [this_rows = rows()](std::size_t row) {
      const NameFigures& r = this_rows[row];
      return r.least_ns > 0 ? static_cast<double>(r.most_ns) / static_cast<double>(r.least_ns)
                            : present::kNotKnown;
    };
    shape.cell = [this_rows = rows()](std::size_t row) {
      return present::TableCell{.mark = this_rows[row].piece_class,
                                .histogram = &this_rows[row].histogram};
    };
    out_.columns.push_back(std::move(shape));
  }

 private:
  const NameFigures* rows() const { return table_.rows.data(); }
  bool is(StatisticsTable table) const { return table_.table == table; }

  static std::string title_in(StatisticsTable table, const std::string& name) {
    if (table == StatisticsTable::kCollectives) return collective_title(name);
    return table == StatisticsTable::kKernels ? trace::timeline::kernel_title(name) : name;
  }
  std::string title(const NameFigures& row) const { return title_in(table_.table, row.name); }

  void add_names() {
    std::size_t longest = 0;
    for (const NameFigures& row : table_.rows) longest = std::max(longest, title(row).size());
    present::TableColumn name;
    name.title = "Name";
    name.definition = is(StatisticsTable::kKernels)
                          ? "What it does, without namespaces and types; a pause over it shows "
                            "the whole name. A click shows its events in the timeline"
                          : "As it was recorded. A click shows its events in the timeline";
    name.csv_title = "name";
    name.kind = Kind::kCode;
    name.width = 220;
    name.wish = std::clamp(kMonoAdvance * static_cast<float>(longest) + 24, 220.0f, kWidestNames);
    name.priority = 100;
    const bool has_classes =
        is(StatisticsTable::kCollectives) ||
        std::ranges::any_of(table_.rows, [](const auto& row) { return !row.kernel_class.empty(); });
    name.cell = [this_rows = rows(), marked = !has_classes, table = table_.table](std::size_t row) {
      present::TableCell cell;
      cell.text = title_in(table, this_rows[row].name);
      cell.is_short = table == StatisticsTable::kKernels && cell.text != this_rows[row].name;
      if (cell.text.empty()) {
        cell.text = "(no name)";
        cell.tone = state::Tone::kMuted;
      }
      if (marked) cell.mark = this_rows[row].piece_class;
      return cell;
    };
    name.csv = [this_rows = rows()](std::size_t row) { return this_rows[row].name; };
    out_.columns.push_back(std::move(name));
    if (has_classes) add_class();
  }

  void add_class() {
    present::TableColumn column;
    column.title = "Class";
    const bool collectives = is(StatisticsTable::kCollectives);
    column.definition =
        collectives ? "Whether compute ran beside most of it (overlapped) or nothing did (exposed)"
                    : "What kind of work the name belongs to, and what it counts as: compute, "
                      "optimizer or communication";
    column.csv_title = "class";
    column.kind = Kind::kText;
    column.width = 136;
    column.priority = 7;
    column.cell = [this_rows = rows(), collectives](std::size_t row) {
      const NameFigures& r = this_rows[row];
      return present::TableCell{
          .text = collectives ? std::string(collective_class(r.piece_class)) : r.kernel_class,
          .tone = state::Tone::kSecondary,
          .mark = r.piece_class};
    };
    out_.columns.push_back(std::move(column));
  }

  void add_counts() {
    add_figure(
        {.title = "Count",
         .csv_title = "count",
         .definition = "Events that begin in the range, over all its ranks",
         .width = 84,
         .priority = 9},
        [](const NameFigures& r) { return static_cast<double>(r.count); }, whole_number);
    add_duration("Total", "total_ns", "Sum of their durations, over all ranks of the range", 10,
                 [](const NameFigures& r) { return static_cast<double>(r.total_ns); });
    present::TableColumn share;
    share.title = "Share";
    share.definition =
        "Of the durations of all rows of this table. Events beside each other, on several ranks or "
        "streams, are added up";
    share.csv_title = "share";
    share.kind = Kind::kBar;
    share.width = 132;
    share.wish = 176;
    share.priority = 5;
    share.number = [this_rows = rows()](std::size_t row) { return this_rows[row].share; };
    share.cell = [this_rows = rows(), highest = highest_share()](std::size_t row) {
      const present::Quantity percent = present::format_percent(this_rows[row].share);
      present::TableCell cell = present::TableCell::figure(percent);
      cell.mark = this_rows[row].piece_class;
      cell.bar = highest > 0 ? this_rows[row].share / highest : 0;
      return cell;
    };
    out_.columns.push_back(std::move(share));
  }

  double highest_share() const {
    double highest = 0;
    for (const NameFigures& row : table_.rows) highest = std::max(highest, row.share);
    return highest;
  }

  template <typename Value>
  void add_duration(std::string title, std::string csv, std::string definition, int priority,
                    Value value) {
    add_figure({.title = std::move(title),
                .csv_title = std::move(csv),
                .definition = std::move(definition),
                .width = 102,
                .priority = priority},
               value, present::format_duration);
  }

  template <typename Value, typename Show>
  void add_figure(present::TableColumn column, Value value, Show show) {
    column.number = [this_rows = rows(), value](std::size_t row) { return value(this_rows[row]); };
    column.show_numbers(show);
    out_.columns.push_back(std::move(column));
  }

  void add_durations() {
    add_duration("Mean", "mean_ns", "Sum ÷ count", 8,
                 [](const NameFigures& r) { return r.mean_ns; });
    add_duration("Median", "median_ns", "Half of the events take at most this long", 4,
                 [](const NameFigures& r) { return known_duration(r.median_ns); });
    add_duration("p99", "p99_ns", "99 of 100 events take at most this long", 3,
                 [](const NameFigures& r) { return known_duration(r.p99_ns); });
    add_duration("Min", "min_ns", "The shortest event", 1,
                 [](const NameFigures& r) { return static_cast<double>(r.least_ns); });
    add_duration("Max", "max_ns", "The longest event: a click on the row shows it", 6,
                 [](const NameFigures& r) { return static_cast<double>(r.most_ns); });
  }

  template <typename Value, typename Show>
  void add_optional(std::string title, std::string csv, std::string definition, int priority,
                    Value value, Show show) {
    add_figure({.title = std::move(title),
                .csv_title = std::move(csv),
                .definition = std::move(definition),
                .width = 106,
                .priority = priority},
               value, show);
    if (!present::has_numbers(out_, out_.columns.back())) out_.columns.pop_back();
  }

  static double over(double bytes, std::int64_t ns) {
    return ns > 0 && bytes > 0 ? bytes / (static_cast<double>(ns) / 1e9) : present::kNotKnown;
  }

  void add_traffic() {
    if (!is(StatisticsTable::kCollectives) && !is(StatisticsTable::kCopies)) return;
    add_optional(
        "Bytes", "bytes",
        is(StatisticsTable::kCollectives)
            ? "Sum of their sizes S as nccl-tests counts them, over all ranks of the range"
            : "Sum of the bytes moved",
        2,
        [](const NameFigures& r) {
          return r.bytes >= 0 ? static_cast<double>(r.bytes) : present::kNotKnown;
        },
        present::format_bytes);
    if (is(StatisticsTable::kCollectives)) return add_collective_traffic();
    add_optional(
        "Bandwidth", "bytes_per_s", "Bytes ÷ sum of the durations", 2,
        [](const NameFigures& r) { return over(static_cast<double>(r.bytes), r.total_ns); },
        present::format_bandwidth);
  }

  void add_choice(std::string title, std::string csv, std::string definition,
                  std::string NameFigures::*text) {
    const bool known = std::ranges::any_of(
        table_.rows, [text](const NameFigures& row) { return !(row.*text).empty(); });
    if (!known) return;
    present::TableColumn column{.title = std::move(title),
                                .csv_title = std::move(csv),
                                .definition = std::move(definition),
                                .kind = Kind::kText,
                                .width = 92,
                                .priority = 2};
    column.cell = [this_rows = rows(), text](std::size_t row) {
      return present::TableCell::words(this_rows[row].*text, state::Tone::kSecondary);
    };
    out_.columns.push_back(std::move(column));
  }

  void add_collective_traffic() {
    add_choice("Algorithm", "algorithm",
               "As NCCL chose it: ring, tree, NVLS, …; all that occur in the row",
               &NameFigures::algorithm);
    add_choice("Protocol", "protocol",
               "As NCCL chose it: LL and LL128 have low latency, SIMPLE high bandwidth",
               &NameFigures::protocol);
    add_optional(
        "Wait", "mean_wait_ns",
        "Mean time until the last rank of the group had started: latest start − own start", 3,
        [](const NameFigures& r) {
          return r.matched > 0 ? static_cast<double>(r.wait_ns) / static_cast<double>(r.matched)
                               : present::kNotKnown;
        },
        present::format_duration);
    add_optional(
        "Alg. bandwidth", "algbw_bytes_per_s",
        "S ÷ t, where t is the transfer time: from the latest start over the ranks to the end. "
        "Waiting for a straggler is not a slow link",
        1,
        [](const NameFigures& r) {
          return over(static_cast<double>(r.matched_bytes), r.transfer_ns);
        },
        present::format_bandwidth);
    add_optional(
        "Bus bandwidth", "busbw_bytes_per_s",
        "Algorithm bandwidth × 2(n−1)/n for all-reduce, × (n−1)/n for all-gather and "
        "reduce-scatter (nccl-tests): to be compared with the link's",
        2, [](const NameFigures& r) { return over(r.bus_bytes, r.transfer_ns); },
        present::format_bandwidth);
  }

  const trace::timeline::RangeTable& table_;
  present::Table& out_;
};

}  // namespace

const trace::timeline::RangeTable* find_range_table(const trace::timeline::RangeFigures& figures,
                                                    StatisticsTable table,
                                                    trace::timeline::GroupBy group_by) {
  for (const trace::timeline::RangeTable& each : figures.tables) {
    if (each.table == table && each.group_by == group_by) return &each;
  }
  return nullptr;
}

std::shared_ptr<const present::Table> statistics_table(
    const std::shared_ptr<const trace::timeline::RangeFigures>& figures,
    const trace::timeline::RangeTable& table) {
  auto out = std::make_shared<present::Table>();
  out->id = "statistics";
  out->rows = table.rows.size();
  out->data = figures;
  StatisticsColumns(table, *out).add_all();
  return out;
}

}  // namespace shardlens::ui::inspect
