#include "ui/inspect/tabs/step_table.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "trace/analysis/figures/throttling.h"
#include "trace/base/number_text.h"
#include "trace/model/gpu_counter_names.h"
#include "ui/present/format.h"
#include "ui/present/table_model.h"

namespace shardlens::ui::inspect {

namespace {

using present::column_head;
using trace::analysis::StepBreakdown;
using trace::analysis::StepFigures;

constexpr const char* kBreakdownSource =
    "Of the slowest rank, so that the parts sum to the step's time";

double spread_ns_of(const StepFigures& step) {
  double low = std::numeric_limits<double>::max(), high = 0;
  int count = 0;
  for (const StepBreakdown& rank : step.ranks) {
    if (rank.step_ns <= 0) continue;
    low = std::min(low, static_cast<double>(rank.step_ns));
    high = std::max(high, static_cast<double>(rank.step_ns));
    ++count;
  }
  return count > 1 ? high - low : present::kNotKnown;
}

// With the zeros at the end, so that the digits of a column stand in line.
present::Quantity four_digits(double value) { return {trace::base::formatted("%#.4g", value), ""}; }

present::Quantity plain(double value) { return {present::format_plain(value), ""}; }

// `change(row, cell)` adds to what the column's cells show.
template <typename Change>
void change_cells(present::TableColumn& column, Change change) {
  column.cell = [before = column.cell, change](std::size_t row) {
    present::TableCell cell = before(row);
    change(row, cell);
    return cell;
  };
}

// What `value` says of the rank whose time the step's is; none where its parts are not known.
template <typename Value>
auto of_slowest(Value value) {
  return [value](const StepFigures& step) -> std::optional<double> {
    const StepBreakdown* shown = breakdown_of(step);
    return shown == nullptr ? std::nullopt : value(*shown);
  };
}

class StepColumns {
 public:
  StepColumns(const std::vector<StepFigures>& steps, present::Table& out)
      : steps_(steps), columns_(out, steps) {}

  void add_all() {
    add_number();
    add_time();
    add_stack();
    add_part(column_head("Compute", "compute_ns", "Union of compute, the optimizer's too", 100, 8),
             &StepBreakdown::compute_ns);
    add_part(column_head("Exposed", "exposed_ns", "Communication that no compute hides", 100, 9),
             &StepBreakdown::exposed_ns);
    add_part(column_head("Overlapped", "overlap_ns", "Communication under compute", 100, 5),
             &StepBreakdown::overlap_ns);
    add_part(column_head("Idle", "idle_ns", "The step − union of compute, communication and copies",
                         100, 7),
             &StepBreakdown::idle_ns);
    add_part(column_head("Exposed copies", "exposed_copy_ns",
                         "Copies outside compute and communication", 122, 2),
             &StepBreakdown::exposed_copy_ns);
    add_throttling();
    add_phases();
    add_training();
  }

 private:
  // Null: no step has a value.
  template <typename Value, typename Show>
  present::TableColumn* add(present::TableColumn head, Value value, Show show,
                            const char* source = "") {
    head.source = source;
    auto* column = columns_.add_known(std::move(head), value, show);
    if (column == nullptr) return nullptr;
    change_cells(*column, [rows = columns_.rows()](std::size_t row, present::TableCell& cell) {
      if (rows[row].warmup) cell.tone = state::Tone::kMuted;
    });
    return column;
  }

  void add_number() {
    auto* column = add(
        column_head(
            "Step", "step",
            "Number of the optimizer step, from 0. Steps that are skipped as warm-up are grey; the "
            "sign marks one whose loss or gradient norm is not finite",
            92, 100),
        &StepFigures::index, present::whole_number);
    if (column == nullptr) return;
    change_cells(*column, [rows = columns_.rows()](std::size_t row, present::TableCell& cell) {
      cell.is_marked = rows[row].nonfinite;
    });
  }

  void add_time() {
    auto* column =
        add(column_head("Time", "step_ns",
                        "From the step's begin to its end. The sign marks the slowest hundredth, "
                        "as far as they take 10 % more than the median",
                        110, 99),
            step_ns_of, present::format_duration, "Of the slowest rank");
    if (column == nullptr) return;
    change_cells(*column, [slow = slow_steps(steps_)](std::size_t row, present::TableCell& cell) {
      cell.is_marked = slow[row];
    });
  }

  void add_stack() {
    double longest = 0;
    bool detail = false;
    for (const StepFigures& step : steps_) {
      const double ns = step_ns_of(step);
      if (!step.warmup && ns > longest) longest = ns;
      detail = detail || step.shows_detail();
    }
    if (!(longest > 0) || !detail) return;
    columns_.add(
        {.title = "Where it went",
         .definition =
             "Compute, overlapped and exposed communication, copies and idle time of the step, to "
             "the scale of the slowest measured one",
         .source = kBreakdownSource,
         .kind = present::TableColumn::Kind::kStack,
         .width = 150,
         .wish = 320,
         .priority = 6},
        [longest](const StepFigures& step) { return stack_cell(step, longest); }, step_ns_of);
  }

  static present::TableCell stack_cell(const StepFigures& step, double longest) {
    using trace::base::TimeClass;
    present::TableCell cell;
    if (!step.shows_detail()) return cell;
    const StepBreakdown* const shown = breakdown_of(step);
    // Compute under communication is counted as overlapped, the optimizer's too, so that the parts
    // do not count twice.
    const std::int64_t optimizer_ns = shown->optimizer_compute_ns - shown->optimizer_overlap_ns;
    const std::array<std::pair<TimeClass, std::int64_t>, 6> parts{
        {{TimeClass::kCompute, shown->compute_ns - shown->overlap_ns - optimizer_ns},
         {TimeClass::kOverlapped, shown->overlap_ns},
         {TimeClass::kExposed, shown->exposed_ns},
         {TimeClass::kOptimizer, optimizer_ns},
         {TimeClass::kCopy, shown->exposed_copy_ns},
         {TimeClass::kIdle, shown->idle_ns}}};
    for (const auto& [piece_class, ns] : parts) {
      if (ns > 0) cell.parts.emplace_back(piece_class, static_cast<double>(ns) / longest);
    }
    return cell;
  }

  // Left out where it is 0 in all steps.
  void add_part(present::TableColumn head, std::int64_t StepBreakdown::*member) {
    const auto value = [member](const StepFigures& step) {
      return step.shows_detail() ? std::optional(static_cast<double>(step.shown().*member))
                                 : std::nullopt;
    };
    if (std::ranges::none_of(steps_,
                             [&](const auto& step) { return value(step).value_or(0) != 0; }))
      return;
    add(std::move(head), value, present::format_duration, kBreakdownSource);
  }

  // What held the clocks down, and the longest time that it did so on a rank.
  void add_throttling() {
    if (std::ranges::all_of(steps_, [](const auto& step) { return step.throttling.empty(); })) {
      return;
    }
    auto& column = columns_.add(
        {.title = "Throttled",
         .csv_title = "throttled",
         .definition =
             "What held a GPU's clocks down in the step: a power cap, heat, the power supply. A "
             "sample stands for the time since the one before, a fifth of a second",
         .source = "Of NVML, on any rank",
         .kind = present::TableColumn::Kind::kText,
         .width = 150,
         .priority = 6},
        [](const StepFigures& step) {
          std::uint32_t limits = 0;
          for (const auto& on : step.throttling) limits |= on.limits;
          return present::TableCell::words(trace::model::throttling_text(limits),
                                           state::Tone::kSecondary);
        },
        [](const StepFigures& step) {
          std::int64_t longest = 0;
          for (const auto& on : step.throttling) longest = std::max(longest, on.ns);
          return longest;
        });
    column.csv = [rows = columns_.rows()](std::size_t row) {
      return trace::analysis::throttling_note(rows[row]);
    };
  }

  void add_phases() {
    constexpr std::array<std::pair<trace::base::Phase, const char*>, 7> kPhases{
        {{trace::base::Phase::kData, "Data"},
         {trace::base::Phase::kForward, "Forward"},
         {trace::base::Phase::kBackward, "Backward"},
         {trace::base::Phase::kOptimizer, "Optimizer"},
         {trace::base::Phase::kEvaluation, "Evaluation"},
         {trace::base::Phase::kCheckpoint, "Checkpoint"},
         {trace::base::Phase::kOther, "Other"}}};
    const auto has = [this](trace::base::Phase phase) {
      return std::ranges::any_of(steps_, [phase](const StepFigures& step) {
        const StepBreakdown* shown = breakdown_of(step);
        return shown != nullptr && shown->phase_ns[static_cast<std::size_t>(phase)] > 0;
      });
    };
    // Where the host told no phase, all of it would be "other".
    const bool tells_any = std::ranges::any_of(kPhases, [&](const auto& named) {
      return named.first != trace::base::Phase::kOther && has(named.first);
    });
    if (!tells_any) return;
    for (const auto& [phase, title] : kPhases) {
      if (!has(phase)) continue;
      const auto index = static_cast<std::size_t>(phase);
      add(column_head(title, std::string(trace::base::to_string(phase)) + "_phase_ns",
                      phase == trace::base::Phase::kOther
                          ? "What the host's phases leave of the step"
                          : "The host's phase of that name",
                      98, 4),
          of_slowest([index](const StepBreakdown& shown) {
            return shown.step_ns > 0 ? std::optional(static_cast<double>(shown.phase_ns[index]))
                                     : std::nullopt;
          }),
          present::format_duration, "Of the slowest rank");
    }
  }

  void add_training() {
    add(column_head("Loss", "loss", "Mean over the targets of all ranks and micro-batches", 84, 8),
        &StepFigures::loss, four_digits);
    add(column_head("Gradient norm", "gradient_norm", "Of all parameters, before clipping", 116, 3),
        &StepFigures::gradient_norm, four_digits);
    add(column_head("Learning rate", "learning_rate", "Of the step", 112, 1),
        &StepFigures::learning_rate, plain);
    add(column_head("Tokens", "tokens", "Of all ranks together", 88, 1), &StepFigures::tokens,
        present::format_count);
    add(column_head("Sent", "bytes_sent",
                    "By the collectives that started in the step, on the slowest rank", 96, 2),
        of_slowest([](const StepBreakdown& shown) {
          return shown.bytes_sent > 0 ? shown.bytes_sent : std::nullopt;
        }),
        present::format_bytes);
    add(column_head("Ranks apart", "rank_spread_ns",
                    "Step time of the slowest − that of the fastest rank", 106, 5),
        spread_ns_of, present::format_duration);
    add(
        column_head("Slowest", "slowest_rank", "The rank that took longest", 84, 5),
        [](const StepFigures& step) {
          return std::isnan(spread_ns_of(step)) ? std::nullopt : std::optional(step.slowest_rank);
        },
        [](double rank) {
          return present::Quantity{"rank " + present::format_plain(rank), ""};
        });
  }

  const std::vector<StepFigures>& steps_;
  present::RowColumns<StepFigures> columns_;
};

}  // namespace

std::shared_ptr<const present::Table> step_table(const std::shared_ptr<const state::RunView>& run) {
  auto out = std::make_shared<present::Table>();
  out->id = "steps";
  out->data = run;
  StepColumns(run->figures.steps, *out).add_all();
  return out;
}

const StepBreakdown* breakdown_of(const StepFigures& step) {
  const auto rank = static_cast<std::size_t>(std::max(0, step.slowest_rank));
  return rank < step.ranks.size() ? &step.ranks[rank] : nullptr;
}

double step_ns_of(const StepFigures& step) {
  const StepBreakdown* shown = breakdown_of(step);
  return shown != nullptr && shown->step_ns > 0 ? static_cast<double>(shown->step_ns)
                                                : std::numeric_limits<double>::quiet_NaN();
}

std::vector<bool> slow_steps(const std::vector<StepFigures>& steps) {
  std::vector<double> measured;
  for (const StepFigures& step : steps) {
    if (!step.warmup && !std::isnan(step_ns_of(step))) measured.push_back(step_ns_of(step));
  }
  std::vector<bool> slow(steps.size());
  if (measured.size() < 3) return slow;
  std::ranges::sort(measured, std::greater());
  constexpr double kNotable = 1.1;
  const double least =
      std::max(measured[measured.size() / 100], kNotable * measured[measured.size() / 2]);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    slow[i] = !steps[i].warmup && step_ns_of(steps[i]) >= least;
  }
  return slow;
}

}  // namespace shardlens::ui::inspect
