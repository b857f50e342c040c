#include "ui/present/tables/ledger_table.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>
#include <variant>

#include "ui/present/format.h"
#include "ui/present/tables/ledger_cells.h"

namespace shardlens::ui::present {

namespace {

// Nearly as wide as the head is in the window's face, so that headings can be read.
float head_width(std::string_view head) { return static_cast<float>(head.size()) * 6.2f + 20; }

// What tells the runs apart goes only when there is no room for such columns.
constexpr int kTellsRunsApart = kKeptLongest;
constexpr float kWidestColumn = 320, kWidestName = 250;

using ValueOf = std::function<std::optional<double>(const state::LedgerRow&)>;
using ShownAs = std::function<Quantity(double)>;

std::optional<double> if_positive(std::optional<double> value) {
  return value > 0.0 ? value : std::nullopt;
}

CellOf figure_cell(ValueOf value_of, ShownAs show, state::Tone tone = state::Tone::kText) {
  return
      [value_of = std::move(value_of), show = std::move(show), tone](const state::LedgerRow& row) {
        const std::optional<double> value = value_of(row);
        return value ? TableCell::words(show(*value).text(), tone) : TableCell{};
      };
}

struct Builder {
  const std::vector<state::LedgerRow>& rows;
  RowColumns<state::LedgerRow> columns;

  // `number`: what it is sorted by, of a row; none: by the text.
  template <typename... Number>
  void add(TableColumn column, const CellOf& cell_of, Number... number) {
    const bool has_value = std::ranges::any_of(
        rows, [&](const state::LedgerRow& row) { return !cell_of(row).text.empty(); });
    if (!has_value) return;
    column.width = std::max(column.width, head_width(column.head()));
    column.wish = std::min(column.wish, kWidestColumn);
    columns.add(std::move(column), cell_of, number...);
  }
  // Where all rows say the same, it is the first to go.
  template <typename Number>
  void add_if_room(TableColumn column, const CellOf& cell_of, Number number) {
    if (rows.size() > 1 && !rows_differ(rows, cell_of)) column.priority /= 10;
    add(std::move(column), cell_of, number);
  }
  // Its cells show the number that it is sorted by, or nothing.
  void add_figure(TableColumn column, const ValueOf& value_of, const ShownAs& show,
                  state::Tone tone = state::Tone::kText) {
    column.kind = TableColumn::Kind::kValue;
    add(std::move(column), figure_cell(value_of, show, tone), value_of);
  }
};

// As a number where it is one, so that 8 comes before 60.
double setting_number(const state::LedgerRow& row, const trace::job::Knob& knob) {
  return std::visit(
      [&](auto member) {
        if constexpr (requires { static_cast<double>(row.settings.*member); }) {
          return static_cast<double>(row.settings.*member);
        }
        return 0.0;
      },
      knob.member);
}

// The first few of those that tell the user's own runs apart stay longest. What tells examples
// apart, or them from others, matters less than what was measured, unless there is nothing else.
void add_settings(Builder& builder) {
  constexpr int kMostSettings = 12, kFirst = 4;
  constexpr int kOfOwnRuns = 250, kOfExamplesAlone = 230, kOfExamples = 75, kOfOthers = 79;
  const auto& rows = builder.rows;
  const bool are_alone = std::ranges::all_of(rows, &state::LedgerRow::is_bundled);
  const int of_examples = are_alone ? kOfExamplesAlone : kOfExamples;
  for (const ShownSetting& setting : shown_settings(rows, kMostSettings)) {
    const trace::job::Knob& knob = *setting.knob;
    const CellOf& cell_of = setting.cell_of;
    const int first = rows_differ(rows, cell_of, is_own_run) ? kOfOwnRuns : of_examples;
    std::size_t longest = 0;
    for (const state::LedgerRow& row : rows) longest = std::max(longest, cell_of(row).text.size());
    const float values = static_cast<float>(longest) * 7.3f + 14;
    // Exposed stands between the third and the fourth.
    const int place = setting.place + (setting.place < 3 ? 0 : 1);
    TableColumn column{
        .title = std::string(knob.label),
        .definition = std::string(knob.explanation),
        .source = std::string(knob.name),
        .kind = TableColumn::Kind::kValue,
        .width = std::clamp(values, 40.0f, 184.0f),
        .wish = values,
        .priority = (setting.place < kFirst ? first : std::min(first, kOfOthers)) - place};
    const auto type = trace::job::type_name(knob);
    if (type == "integer" || type == "number") {
      builder.add(std::move(column), cell_of, [&knob](const state::LedgerRow& row) {
        return setting_cell(row, knob).text.empty() ? kNotKnown : setting_number(row, knob);
      });
    } else {
      builder.add(std::move(column), cell_of);
    }
  }
}

void add_step_time(Builder& builder) {
  double slowest = 0;
  for (const state::LedgerRow& row : builder.rows)
    slowest = std::max(slowest, row.summary.step_ns.mean);
  builder.add(
      {.title = "Step time",
       .definition = "Mean of measured steps over ranks; the bar compares runs",
       .kind = TableColumn::Kind::kValue,
       .width = 136,
       .least = 92,  // without the bar
       .priority = kTellsRunsApart + 100},
      [slowest](const state::LedgerRow& row) {
        const double mean_ns = row.summary.step_ns.mean;
        if (!(mean_ns > 0)) return TableCell{};
        TableCell cell = TableCell::words(format_duration(mean_ns).text());
        cell.bar = mean_ns / slowest;
        return cell;
      },
      [](const state::LedgerRow& row) { return if_positive(row.summary.step_ns.mean); });
}

void add_relative(Builder& builder) {
  // Which run is the baseline says nothing where none is compared with it.
  const bool is_blank = std::ranges::none_of(builder.rows, [](const state::LedgerRow& row) {
    return row.relative_to_baseline || !row.not_compared.empty();
  });
  if (is_blank) return;
  const bool per_token = std::ranges::any_of(builder.rows, &state::LedgerRow::per_token);
  std::size_t longest = 0;  // of the reasons why one is not compared
  for (const auto& row : builder.rows) longest = std::max(longest, row.not_compared.size());
  builder.add(
      {.title = "Against baseline",
       .definition =
           "Step time against the baseline run, time per token once batch, accumulation, length or "
           "ranks differ: less is better; grey is within the noise, ? not known to be beyond it",
       .kind = TableColumn::Kind::kValue,
       .width = std::max(per_token ? 180.0f : 116.0f, 20 + 7.3f * static_cast<float>(longest)),
       .priority = kTellsRunsApart + 90},
      relative_cell, &state::LedgerRow::relative_to_baseline);
}

void add_predicted(Builder& builder) {
  const bool has_marks = std::ranges::any_of(
      builder.rows, [](const state::LedgerRow& row) { return predicted_cell(row).is_marked; });
  builder.add({.title = "Predicted → measured",
               .definition = "Step time that was predicted when the run was started, and what it "
                             "took; marked where that lies outside the predicted 95 %",
               .kind = TableColumn::Kind::kValue,
               .width = has_marks ? 206.0f : 188.0f,
               .priority = kTellsRunsApart - 10},
              predicted_cell, [](const state::LedgerRow& row) {
                const auto error = prediction_error(row);
                return error ? std::abs(*error) : kNotKnown;
              });
}

void add_communication(Builder& builder) {
  builder.add_figure(
      {.title = "Exposed",
       .definition = "Communication that no computation hides, per step",
       .width = 80,
       // Of what tells runs apart only three settings stay longer.
       .priority = kTellsRunsApart + 47},
      [](const state::LedgerRow& row) {
        return row.summary.has_detail ? std::optional(row.summary.exposed_ns) : std::nullopt;
      },
      format_duration);
  builder.add(
      {.title = "Waiting",
       .definition = "The part of exposed in which a rank waits until the last one has "
                     "come; the rest is transfer. \"clocks\": those of the hosts may be too far "
                     "apart to tell",
       .kind = TableColumn::Kind::kValue,
       .width = 80,
       .priority = 39},
      waiting_cell, [](const state::LedgerRow& row) { return row.summary.exposed_wait_ns; });
  const ValueOf overlap = [](const auto& row) { return row.summary.overlap_fraction; };
  builder.add_if_room({.title = "Overlap",
                       .definition = "Share of communication under computation",
                       .kind = TableColumn::Kind::kValue,
                       .width = 68,
                       .priority = 40},
                      figure_cell(overlap, format_percent), overlap);
}

void add_memory(Builder& builder) {
  builder.add_figure(
      {.title = "Peak of tensors",
       .definition = "The most that PyTorch's tensors took on any rank; the peak memory in the top "
                     "bar has what lies outside PyTorch, too",
       .width = 104,
       .priority = 90},
      [](const state::LedgerRow& row) { return if_positive(row.peak_memory_bytes); }, format_bytes);
}

// What tells runs of other ranks, batches or strategies apart; it yields to the settings
// themselves. With one batch for all, samples/s says what step time says.
void add_scale(Builder& builder) {
  const auto& rows = builder.rows;
  const ValueOf batch = [](const auto& row) { return row.summary.effective_batch; };
  if (rows_differ(rows, figure_cell(batch, whole_number))) {
    builder.add_figure({.title = "Effective batch",
                        .definition = "Batch per rank × accumulation steps × ranks",
                        .width = 108,
                        .priority = 23},
                       batch, whole_number, state::Tone::kSecondary);
    builder.add_figure(
        {.title = "Samples/s",
         .definition = "Of all ranks together, over measured steps",
         .width = 92,
         .priority = 24},
        [](const state::LedgerRow& row) { return if_positive(row.summary.samples_per_s); },
        [](double rate) { return format_rate(rate, "/s"); });
  }
  const ValueOf sent = [](const auto& row) { return row.summary.bytes_sent_per_step; };
  if (!rows_differ(rows, figure_cell(sent, format_bytes))) return;
  builder.add_figure({.title = "Sent per step",
                      .definition = "Bytes that a rank sends in a step: the mean over ranks, by "
                                    "what the backend really ran",
                      .width = 100,
                      .priority = 22},
                     sent, format_bytes);
}

// As wide as names and their marks are in the window's faces, or nearly so.
float longest_name(const std::vector<state::LedgerRow>& rows) {
  std::size_t letters = 0;
  for (const state::LedgerRow& row : rows) {
    const TableCell cell = name_cell(row);
    letters = std::max(letters, cell.text.size() + cell.unit.size() + (cell.unit.empty() ? 0 : 1));
  }
  return static_cast<float>(letters) * 6.4f + 14;
}

// Narrow while all runs are done; how others ended stands before their number of steps.
float steps_width(const std::vector<state::LedgerRow>& rows) {
  std::size_t letters = 5;
  for (const state::LedgerRow& row : rows) {
    letters = std::max(letters, steps_cell(row, {}).text.size());
    if (row.status == trace::model::RunStatus::kRunning)
      letters = std::max<std::size_t>(letters, 12);
  }
  return static_cast<float>(letters) * 7.3f + 20;
}

// The step that the column's head names: the baseline's, or the one that all rows share; else -1.
std::int64_t loss_step(const std::vector<state::LedgerRow>& rows) {
  std::optional<std::int64_t> common;
  bool shared = true;
  for (const state::LedgerRow& row : rows) {
    if (!row.loss_at_common_step) continue;
    if (row.is_baseline) return row.common_step;
    shared = shared && (!common || *common == row.common_step);
    common = row.common_step;
  }
  return common && shared ? *common : -1;
}

void add_loss(Builder& builder) {
  const std::int64_t step = loss_step(builder.rows);
  builder.add_if_room(
      {.title = "Loss",
       .of = step >= 0 ? "at step " + format_integer(step) : "",
       .definition =
           "Mean over all ranks' targets at the last step that runs of the baseline's job have "
           "in common; “@” names the step of another one",
       .kind = TableColumn::Kind::kValue,
       .width = 108,
       .priority = 80},
      [step](const state::LedgerRow& row) { return loss_cell(row, step); },
      &state::LedgerRow::loss_at_common_step);
}

double number_of_run(const state::LedgerRow& row) {
  const auto digit = row.ordinal.find_first_of("0123456789");
  double number = kNotKnown;
  if (digit == std::string::npos || row.is_bundled) return number;
  std::from_chars(row.ordinal.data() + digit, row.ordinal.data() + row.ordinal.size(), number);
  return number;
}

float longest_text(const std::vector<state::LedgerRow>& rows, const CellOf& cell_of) {
  std::size_t letters = 0;
  for (const state::LedgerRow& row : rows) letters = std::max(letters, cell_of(row).text.size());
  return static_cast<float>(letters) * 6.4f + 14;
}

void add_words(Builder& builder) {
  builder.add({.title = "Tags",
               .definition = "Words to find runs by; right-click on a run to change them",
               .kind = TableColumn::Kind::kText,
               .width = 64,
               .wish = longest_text(builder.rows, tags_cell),
               .priority = 60},
              tags_cell);
  builder.add({.title = "Note",
               .definition = "The user's own words; right-click on a run to change them",
               .kind = TableColumn::Kind::kText,
               .width = 96,
               .wish = longest_text(builder.rows, note_cell),
               .priority = 55},
              note_cell);
}

void add_run(Builder& builder) {
  const float longest = longest_name(builder.rows);
  builder.add(
      {.title = "Run",
       .definition = "The number that it keeps, and its name: what differs from the baseline, "
                     "unless it was named",
       .kind = TableColumn::Kind::kName,
       // Comes before what matters less than what tells runs apart.
       .width = std::clamp(longest, 156.0f, kWidestName),
       .least = 132,
       .wish = longest,
       .priority = 1000},
      name_cell, number_of_run);
  builder.add({.title = "When",
               .definition = "Start of the run, local time",
               .kind = TableColumn::Kind::kValue,
               .width = 92,
               .priority = 25},
              when_cell, [](const state::LedgerRow& row) {
                return if_positive(static_cast<double>(row.start_ns));
              });
}

void add_extent(Builder& builder, std::shared_ptr<const state::JobState> job) {
  const auto ranks = [](const state::LedgerRow& row) {
    return TableCell::words(row.ranks > 0 ? std::to_string(row.ranks) : "?",
                            state::Tone::kSecondary);
  };
  const bool tells_apart = rows_differ(builder.rows, ranks);
  builder.add({.title = "Ranks",
               .definition = "Processes that trained together",
               .source = "ranks",
               .kind = TableColumn::Kind::kValue,
               .width = 52,
               .priority = tells_apart ? kTellsRunsApart + 60 : 3},
              ranks, &state::LedgerRow::ranks);
  builder.add(
      {.title = "Steps",
       .definition = "Steps executed, and how the run ended",
       .kind = TableColumn::Kind::kValue,
       .width = steps_width(builder.rows),
       .priority = 59},
      [job = std::move(job)](const state::LedgerRow& row) { return steps_cell(row, *job); },
      [](const state::LedgerRow& row) { return row.summary.steps_executed; });
}

}  // namespace

Table ledger_table(const state::Ledger& ledger, std::shared_ptr<const state::JobState> job) {
  Table table;
  table.id = "ledger";
  table.gap = 12;
  table.spreads_rest = true;
  Builder builder{ledger.rows, {table, ledger.rows}};
  add_run(builder);
  add_settings(builder);
  add_extent(builder, std::move(job));
  add_step_time(builder);
  add_relative(builder);
  add_predicted(builder);
  add_communication(builder);
  add_memory(builder);
  add_scale(builder);
  add_loss(builder);
  add_words(builder);
  return table;
}

}  // namespace shardlens::ui::present
