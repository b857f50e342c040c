#include "ui/inspect/tabs/statistics_table.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "trace/timeline/words/kernel_title.h"
#include "ui/present/format.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

namespace {

using present::column_head;
using trace::timeline::NameFigures;
using trace::timeline::StatisticsTable;
using Kind = present::TableColumn::Kind;

constexpr float kMonoAdvance = 7.5f;  // of scale 1, per letter of a name
// A name is not cut before it is wider than `kLeastNames`, nor are names wider than `kWidestNames`.
constexpr float kLeastNames = 268, kWidestNames = 620;

std::optional<std::int64_t> if_known(std::int64_t ns) {
  return ns == trace::timeline::kUnknownNs ? std::nullopt : std::optional(ns);
}

// Whether any of its events has a duration.
bool has_times(const NameFigures& row) {
  return row.mean_ns != static_cast<double>(trace::timeline::kUnknownNs);
}

std::optional<double> if_any(double rate) { return rate > 0 ? std::optional(rate) : std::nullopt; }

std::optional<double> rate_of(double bytes, std::int64_t ns) {
  if (ns <= 0 || !(bytes > 0)) return std::nullopt;
  return bytes / (static_cast<double>(ns) / 1e9);
}

std::string_view collective_class(trace::base::TimeClass piece_class) {
  return piece_class == trace::base::TimeClass::kExposed ? "exposed" : "overlapped";
}

// Makes columns over the rows of one table, which the table keeps alive.
class StatisticsColumns {
 public:
  StatisticsColumns(const trace::timeline::RangeTable& table, present::Table& out)
      : table_(table.table), columns_(out, table.rows) {}

  void add_all() {
    add_names();
    add_counts();
    add_durations();
    if (is(StatisticsTable::kCollectives)) add_collective_traffic();
    if (is(StatisticsTable::kCopies)) add_copy_traffic();
    columns_.add(
        {.title = "Distribution",
         .definition =
             "How often each duration occurs, from the shortest to the longest of the row on a "
             "logarithmic axis. A second hump is a second kind of work under one name",
         .kind = Kind::kHistogram,
         .width = 130,
         .wish = 230,
         .priority = 6},
        [](const NameFigures& r) {
          return present::TableCell{.mark = r.piece_class, .histogram = &r.histogram};
        },
        [](const NameFigures& r) {
          return r.least_ns > 0 ? static_cast<double>(r.most_ns) / static_cast<double>(r.least_ns)
                                : present::kNotKnown;
        });
  }

 private:
  bool is(StatisticsTable table) const { return table_ == table; }

  static std::string title_in(StatisticsTable table, const std::string& name) {
    if (table == StatisticsTable::kCollectives) return collective_title(name);
    return table == StatisticsTable::kKernels ? trace::timeline::kernel_title(name) : name;
  }

  static present::TableCell name_cell(StatisticsTable table, const NameFigures& row,
                                      bool is_marked) {
    present::TableCell cell = present::TableCell::words(title_in(table, row.name));
    cell.is_short = table == StatisticsTable::kKernels && cell.text != row.name;
    if (cell.text.empty()) cell = present::TableCell::words("(no name)", state::Tone::kMuted);
    if (is_marked) cell.mark = row.piece_class;
    return cell;
  }

  void add_names() {
    std::size_t longest = 0;
    for (const NameFigures& row : columns_.rows()) {
      longest = std::max(longest, title_in(table_, row.name).size());
    }
    const float wish =
        std::clamp(kMonoAdvance * static_cast<float>(longest) + 24, 220.0f, kWidestNames);
    const bool has_classes = is(StatisticsTable::kCollectives) ||
                             std::ranges::any_of(columns_.rows(), [](const auto& row) {
                               return !row.kernel_class.empty();
                             });
    auto& name = columns_.add(
        {.title = "Name",
         .csv_title = "name",
         .definition = is(StatisticsTable::kKernels)
                           ? "What it does, without namespaces and types; a pause over it shows "
                             "the whole name. A click shows its events in the timeline"
                           : "As it was recorded. A click shows its events in the timeline",
         .kind = Kind::kCode,
         .width = std::min(wish, kLeastNames),
         .wish = wish,
         .priority = 100},
        [table = table_, has_classes](const NameFigures& r) {
          return name_cell(table, r, !has_classes);
        });
    name.csv = [rows = columns_.rows()](std::size_t row) { return rows[row].name; };
    if (has_classes) add_class();
  }

  void add_class() {
    const bool collectives = is(StatisticsTable::kCollectives);
    columns_.add(
        {.title = "Class",
         .csv_title = "class",
         .definition =
             collectives
                 ? "Overlapped if most of its time is of calls that ran beside compute for half "
                   "their time or more, else exposed"
                 : "What kind of work the name belongs to, and what it counts as: compute, "
                   "optimizer or communication",
         .kind = Kind::kText,
         .width = collectives ? 104.0f : 136.0f,
         .priority = 7},
        [collectives](const NameFigures& r) {
          return present::TableCell{.text = !collectives ? r.kernel_class
                                            : has_times(r)
                                                ? std::string(collective_class(r.piece_class))
                                                : "",
                                    .tone = state::Tone::kSecondary,
                                    .mark = r.piece_class};
        });
  }

  void add_counts() {
    columns_.add_figure(
        column_head("Count", "count", "Events that begin in the range, over all its ranks", 84, 9),
        &NameFigures::count, present::whole_number);
    add_duration("Total", "total_ns", "Sum of their durations, over all ranks of the range", 10,
                 [](const NameFigures& r) {
                   return has_times(r) ? std::optional(r.total_ns) : std::nullopt;
                 });
    const auto most = std::ranges::max_element(columns_.rows(), {}, &NameFigures::share);
    const double highest = most == columns_.rows().end() ? 0 : most->share;
    columns_.add(
        {.title = "Share",
         .csv_title = "share",
         .definition = "Of the durations of all rows of this table. Events beside each other, on "
                       "several ranks or streams, are added up",
         .kind = Kind::kBar,
         .width = 132,
         .wish = 176,
         .priority = 5},
        [highest](const NameFigures& r) {
          if (!has_times(r)) return present::TableCell{};
          present::TableCell cell = present::TableCell::figure(present::format_percent(r.share));
          cell.mark = r.piece_class;
          cell.bar = highest > 0 ? r.share / highest : 0;
          return cell;
        },
        [](const NameFigures& r) { return has_times(r) ? r.share : present::kNotKnown; });
  }

  template <typename Value>
  void add_duration(std::string title, std::string csv, std::string definition, int priority,
                    Value value) {
    columns_.add_figure(
        column_head(std::move(title), std::move(csv), std::move(definition), 102, priority), value,
        present::format_duration);
  }

  void add_durations() {
    add_duration("Mean", "mean_ns", "Sum ÷ count, of those whose duration is known", 8,
                 [](const NameFigures& r) {
                   return has_times(r) ? std::optional(r.mean_ns) : std::nullopt;
                 });
    add_duration("Median", "median_ns", "Half of the events take at most this long", 4,
                 [](const NameFigures& r) { return if_known(r.median_ns); });
    add_duration("p99", "p99_ns", "99 of 100 events take at most this long", 3,
                 [](const NameFigures& r) { return if_known(r.p99_ns); });
    add_duration("Min", "min_ns", "The shortest event", 1,
                 [](const NameFigures& r) { return if_known(r.least_ns); });
    add_duration("Max", "max_ns", "The longest event: a click on the row shows it", 6,
                 [](const NameFigures& r) { return if_known(r.most_ns); });
  }

  void add_bytes(std::string definition) {
    columns_.add_known(
        column_head("Bytes", "bytes", std::move(definition), 106, 2),
        [](const NameFigures& r) { return r.bytes >= 0 ? std::optional(r.bytes) : std::nullopt; },
        present::format_bytes);
  }

  void add_copy_traffic() {
    add_bytes("Sum of the bytes moved");
    columns_.add_known(
        column_head("Bandwidth", "bytes_per_s", "Bytes ÷ sum of the durations", 106, 2),
        [](const NameFigures& r) { return rate_of(static_cast<double>(r.bytes), r.total_ns); },
        present::format_bandwidth);
  }

  void add_choice(present::TableColumn head, std::string NameFigures::*text) {
    const bool known = std::ranges::any_of(
        columns_.rows(), [text](const NameFigures& row) { return !(row.*text).empty(); });
    if (!known) return;
    columns_.add_words(std::move(head), text, state::Tone::kSecondary);
  }

  void add_collective_traffic() {
    add_bytes("Sum of their sizes S as nccl-tests counts them, over all ranks of the range");
    add_choice(
        column_head("Algorithm", "algorithm",
                    "As NCCL chose it: ring, tree, NVLS, …; all that occur in the row", 92, 2),
        &NameFigures::algorithm);
    add_choice(column_head("Protocol", "protocol",
                           "As NCCL chose it: LL and LL128 have low latency, SIMPLE high bandwidth",
                           92, 2),
               &NameFigures::protocol);
    columns_.add_known(
        column_head(
            "Wait", "mean_wait_ns",
            "Mean time until the last rank of the group had started: latest start − own start", 106,
            6),
        [](const NameFigures& r) {
          return r.matched > 0 ? static_cast<double>(r.wait_ns) / static_cast<double>(r.matched)
                               : present::kNotKnown;
        },
        present::format_duration);
    columns_.add_known(
        column_head(
            "Alg. bandwidth", "algbw_bytes_per_s",
            "S ÷ t, the median over the row's calls; t is the transfer time: from the latest start "
            "over the ranks to the end. Waiting for a straggler is not a slow link",
            106, 1),
        [](const NameFigures& r) { return if_any(r.algbw_bytes_per_s); },
        present::format_bandwidth);
    columns_.add_known(
        column_head("Bus bandwidth", "busbw_bytes_per_s",
                    "Algorithm bandwidth × 2(n−1)/n for all-reduce, × (n−1)/n for all-gather, "
                    "reduce-scatter "
                    "and all-to-all, × 1 for others (nccl-tests): to be compared with the link's",
                    106, 6),
        [](const NameFigures& r) { return if_any(r.busbw_bytes_per_s); },
        present::format_bandwidth);
  }

  const StatisticsTable table_;
  present::RowColumns<NameFigures> columns_;
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
  out->data = figures;
  StatisticsColumns(table, *out).add_all();
  return out;
}

}  // namespace shardlens::ui::inspect
