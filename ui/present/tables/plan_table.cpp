#include "ui/present/tables/plan_table.h"

#include <algorithm>
#include <array>

#include "trace/job/shape/strategy.h"
#include "ui/present/format.h"

namespace shardlens::ui::present {

namespace {

using PlanKind = PlanColumn::Kind;
using trace::model::MemoryCategory;
using trace::predict::StrategyPlan;

// Of the GPU's memory: a bar of more than that is cut off, so that those that fit can be compared.
constexpr double kLongestBar = 1.5;

// Formulas are written in ASCII, as the command line prints them.
std::string with_signs(std::string_view formula) {
  constexpr std::string_view kTimes = " x ";
  std::string text(formula);
  for (auto at = text.find(kTimes); at != std::string::npos; at = text.find(kTimes, at + 1)) {
    text.replace(at, kTimes.size(), " × ");
  }
  return text;
}

std::string term_name(const trace::predict::TrafficTerm& term) {
  return term.what + " (" + std::string(trace::model::to_string(term.function)) + ")";
}

std::vector<FormulaLine> nothing_sent() {
  return {{"Nothing", "0", "A single rank has nobody to send to"}};
}

// Of one category; one line that says so where there is nothing of it.
std::vector<FormulaLine> lines_of_category(const trace::predict::MemoryPrediction& memory,
                                           MemoryCategory category) {
  std::vector<FormulaLine> lines = memory_lines(memory);
  std::erase_if(lines, [&](const FormulaLine& line) { return line.category != category; });
  for (FormulaLine& line : lines) line.category.reset();
  if (lines.empty()) {
    lines.push_back({std::string(memory_name(category)), "0",
                     "None of it is held at the peak, in " + memory.peak_place, category});
  }
  return lines;
}

// Of what leaves the machine.
std::vector<FormulaLine> between_nodes_lines(const trace::predict::TrafficPrediction& traffic) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::TrafficTerm& term : traffic.terms) {
    const std::string share = term.between_nodes == 0
                                  ? "stays within a machine"
                                  : "of " + bytes_or_zero(term.bytes) +
                                        ": the part of the ring that crosses machines, " +
                                        format_percent(static_cast<double>(term.between_nodes) /
                                                       static_cast<double>(term.bytes))
                                            .text();
    lines.push_back({term_name(term), bytes_or_zero(term.between_nodes), share});
  }
  return lines.empty() ? nothing_sent() : lines;
}

PlanColumn category_column(MemoryCategory category) {
  struct Titles {
    std::string_view full, brief;
  };
  constexpr std::array<Titles, trace::model::kMemoryCategoryCount> kTitles{
      {{"Parameters", "Params"},
       {"Gathered", "Gathered"},
       {"Gradients", "Grads"},
       {"Optimizer", "Optim."},
       {"Activations", "Activ."},
       {"Buffers", "Buffers"},
       {"Other tensors", "Other tensors"},
       {"Outside PyTorch", "Outside PyTorch"}}};
  const auto [full, brief] = kTitles[static_cast<std::size_t>(category)];
  return {PlanKind::kCategory, std::string(full), std::string(brief),
          std::string(memory_definition(category)) + ", on each rank when its memory peaks",
          category};
}

// Of which some strategy holds something at its peak; not what is small and of no kind.
std::vector<MemoryCategory> planned_categories(const trace::predict::Plan& plan) {
  std::vector<MemoryCategory> shown;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    if (category == MemoryCategory::kOther) continue;
    if (std::ranges::any_of(plan.strategies, [i](const StrategyPlan& each) {
          return each.memory.at_peak[static_cast<std::size_t>(i)] > 0;
        })) {
      shown.push_back(category);
    }
  }
  return shown;
}

std::vector<PlanColumn> columns_of(const trace::predict::Plan& plan) {
  std::vector<PlanColumn> columns;
  for (const auto category : planned_categories(plan)) columns.push_back(category_column(category));
  const auto add = [&](PlanKind kind, const char* title, const char* brief, const char* what) {
    columns.push_back({kind, title, brief, what});
  };
  add(PlanKind::kPeak, "Peak of tensors", "Peak", "All categories at the peak of the step");
  if (std::ranges::any_of(plan.strategies,
                          [](const auto& each) { return each.memory.host_bytes > 0; })) {
    add(PlanKind::kHost, "Host", "Host", "Offloaded shards, in the host's memory");
  }
  add(PlanKind::kFit, "Fits?", "Spare", "The peak against what is usable of a GPU");
  add(PlanKind::kBatch, "Largest batch", "Batch", "The largest batch per rank with which it fits");
  add(PlanKind::kSent, "Sent per step", "Sent", "Bytes that a rank sends in a step");
  if (plan.request.nodes > 1) {
    add(PlanKind::kBetweenNodes, "Between nodes", "Nodes",
        "Of what is sent, the bytes that leave the machine");
  }
  return columns;
}

PlanCell peak_cell(const StrategyPlan& plan) {
  return {.text = bytes_or_zero(plan.memory.total()),
          .lines = memory_lines(plan.memory),
          .note = "They sum to the peak, in " + plan.memory.peak_place};
}

PlanCell host_cell(const StrategyPlan& plan) {
  const std::int64_t bytes = plan.memory.host_bytes;
  return {.text = bytes_or_zero(bytes),
          .tone = state::Tone::kSecondary,
          .lines = {{"Host memory of a rank", bytes_or_zero(bytes),
                     bytes > 0 ? with_signs(plan.memory.host_formula) : "Nothing is offloaded"}}};
}

PlanCell fit_cell(const StrategyPlan& plan, const trace::predict::PlanRequest& request) {
  const std::string usable = bytes_or_zero(request.usable_bytes());
  const std::string peak = bytes_or_zero(plan.memory.total());
  PlanCell cell;
  cell.text = plan.fits() ? bytes_or_zero(plan.spare_bytes) + " spare"
                          : bytes_or_zero(-plan.spare_bytes) + " short";
  cell.brief = (plan.fits() ? "+" : "−") + bytes_or_zero(std::abs(plan.spare_bytes));
  cell.tone = plan.fits() ? state::Tone::kText : state::Tone::kDanger;
  cell.lines.push_back({"Usable", usable,
                        bytes_or_zero(request.memory_bytes) + " of the GPU − " +
                            bytes_or_zero(request.reserved_bytes) +
                            " for CUDA, NCCL and rounding"});
  cell.lines.push_back(
      {plan.fits() ? "Spare" : "Short by", bytes_or_zero(std::abs(plan.spare_bytes)),
       plan.fits() ? usable + " − the peak of " + peak : "the peak of " + peak + " − " + usable});
  return cell;
}

PlanCell batch_cell_of(const StrategyPlan& plan, const trace::predict::PlanRequest& request) {
  const trace::job::Settings& s = request.settings;
  PlanCell cell;
  cell.text = plan.largest_batch == 0 ? "none" : format_integer(plan.largest_batch);
  cell.tone = plan.largest_batch == 0 ? state::Tone::kDanger : state::Tone::kText;
  cell.lines.push_back({"Largest batch per rank", cell.text,
                        "the largest b with peak(b) ≤ " + bytes_or_zero(request.usable_bytes()) +
                            "; peak(" + format_integer(s.batch_per_rank) +
                            ") = " + bytes_or_zero(plan.memory.total())});
  const std::int64_t effective =
      plan.largest_batch * request.ranks() * s.gradient_accumulation_steps;
  cell.lines.push_back({"Effective batch", format_integer(effective),
                        format_integer(plan.largest_batch) + " × " +
                            format_integer(request.ranks()) + " ranks × " +
                            format_integer(s.gradient_accumulation_steps) + " micro-batches"});
  return cell;
}

PlanCell category_cell(const PlanColumn& column, const StrategyPlan& plan) {
  const auto bytes = plan.memory.at_peak[static_cast<std::size_t>(column.category)];
  PlanCell cell{.text = bytes_or_zero(bytes),
                .tone = bytes == 0 ? state::Tone::kMuted : state::Tone::kSecondary,
                .lines = lines_of_category(plan.memory, column.category),
                .note = column.definition};
  if (cell.lines.size() > 1) cell.note = "They sum to " + cell.text + ". " + cell.note;
  return cell;
}

PlanCell cell_of(const PlanColumn& column, const StrategyPlan& plan,
                 const trace::predict::PlanRequest& request) {
  switch (column.kind) {
    case PlanKind::kCategory:
      return category_cell(column, plan);
    case PlanKind::kPeak:
      return peak_cell(plan);
    case PlanKind::kHost:
      return host_cell(plan);
    case PlanKind::kFit:
      return fit_cell(plan, request);
    case PlanKind::kBatch:
      return batch_cell_of(plan, request);
    case PlanKind::kSent:
      return {.text = bytes_or_zero(plan.traffic.bytes()),
              .lines = traffic_lines(plan.traffic),
              .note = column.definition};
    case PlanKind::kBetweenNodes:
      return {.text = bytes_or_zero(plan.traffic.between_nodes()),
              .tone = state::Tone::kSecondary,
              .lines = between_nodes_lines(plan.traffic),
              .note = column.definition};
  }
  return {};
}

PlanRow row_of_strategy(const StrategyPlan& plan, const trace::predict::PlanRequest& request,
                        const std::vector<PlanColumn>& columns) {
  PlanRow row;
  row.strategy = plan.name();
  row.explanation = trace::job::strategy_traits(plan.strategy).explanation;
  row.chosen = plan.strategy == request.settings.sharding_strategy;
  row.refused = plan.refused;
  if (!row.refused.empty()) return row;
  row.fits = plan.fits();
  row.parts = memory_parts(plan.memory);
  row.peak = static_cast<double>(plan.memory.total());
  row.sent = static_cast<double>(plan.traffic.bytes());
  for (const PlanColumn& column : columns) row.cells.push_back(cell_of(column, plan, request));
  return row;
}

std::string parameters_text_of(std::int64_t parameters) {
  const Quantity count = format_count(static_cast<double>(parameters));
  const std::string_view word = count.unit == "G"   ? " billion"
                                : count.unit == "M" ? " million"
                                : count.unit == "k" ? " thousand"
                                                    : "";
  return count.value + std::string(word) + " parameters";
}

}  // namespace

PlanTable plan_table(const trace::predict::Plan& plan) {
  PlanTable table;
  table.columns = columns_of(plan);
  table.usable = static_cast<double>(plan.request.usable_bytes());
  for (const StrategyPlan& each : plan.strategies) {
    table.rows.push_back(row_of_strategy(each, plan.request, table.columns));
    table.memory_axis = std::max(table.memory_axis, table.rows.back().peak);
    table.most_sent = std::max(table.most_sent, table.rows.back().sent);
  }
  // A model that needs a small part of the GPU would leave bars that nobody can tell apart.
  table.memory_axis = std::min(table.memory_axis * 1.02, table.usable * kLongestBar);
  return table;
}

std::string plan_job_text(const trace::predict::Plan& plan) {
  const trace::job::Settings& s = plan.request.settings;
  std::string text = parameters_text_of(plan.parameters) + " · " +
                     format_integer(s.batch_per_rank) + " × " + format_integer(s.sequence_length) +
                     " tokens per rank";
  if (s.gradient_accumulation_steps > 1) {
    text += " · " + format_integer(s.gradient_accumulation_steps) + " micro-batches";
  }
  text += " · " + trace::job::chosen<&trace::job::Settings::precision>(s) + " · " +
          trace::job::chosen<&trace::job::Settings::optimizer>(s);
  if (s.activation_checkpointing > 0) {
    text += s.activation_checkpointing == 1
                ? " · recompute every block"
                : " · recompute every " + format_integer(s.activation_checkpointing) + " blocks";
  }
  return text;
}

std::string plan_device_text(const trace::predict::Plan& plan, std::string_view gpu) {
  const trace::predict::PlanRequest& request = plan.request;
  return format_integer(request.ranks()) + (request.ranks() == 1 ? " rank on " : " ranks on ") +
         std::string(gpu) + " · " + bytes_or_zero(request.usable_bytes()) + " of " +
         bytes_or_zero(request.memory_bytes) + " usable";
}

std::string bytes_or_zero(std::int64_t bytes) { return bytes == 0 ? "0" : bytes_text(bytes); }

std::vector<FormulaLine> memory_lines(const trace::predict::MemoryPrediction& memory) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::MemoryTerm& term : memory.terms) {
    lines.push_back({std::string(memory_name(term.category)), bytes_or_zero(term.bytes),
                     with_signs(term.formula), term.category});
  }
  return lines;
}

std::vector<FormulaLine> traffic_lines(const trace::predict::TrafficPrediction& traffic) {
  std::vector<FormulaLine> lines;
  for (const trace::predict::TrafficTerm& term : traffic.terms) {
    std::string formula = with_signs(term.formula);
    if (term.executed_bytes != term.bytes) {
      formula += "; the backend runs it otherwise and sends " + bytes_or_zero(term.executed_bytes);
    }
    lines.push_back({term_name(term), bytes_or_zero(term.bytes), formula});
  }
  return lines.empty() ? nothing_sent() : lines;
}

std::vector<MemoryPart> memory_parts(const trace::predict::MemoryPrediction& memory) {
  std::vector<MemoryPart> parts;
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto bytes = static_cast<double>(memory.at_peak[static_cast<std::size_t>(i)]);
    if (bytes > 0) parts.push_back({static_cast<trace::model::MemoryCategory>(i), bytes});
  }
  return parts;
}

std::string parameters_text(const trace::job::TrainedShare& parameters) {
  const std::string count = format_count(static_cast<double>(parameters.all)).text();
  if (parameters.trained == parameters.all) return count + " parameters, all trained";
  const double share =
      static_cast<double>(parameters.trained) / static_cast<double>(parameters.all);
  return count + " parameters, " + format_percent(share).text() + " trained";
}

std::string shortage_text(const trace::predict::StrategyPlan& plan, std::int64_t usable_bytes) {
  if (usable_bytes <= 0 || !plan.refused.empty() || plan.spare_bytes >= 0) return "";
  return "Short by " + bytes_or_zero(-plan.spare_bytes) + " of " + bytes_or_zero(usable_bytes);
}

}  // namespace shardlens::ui::present
