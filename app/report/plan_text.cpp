#include <algorithm>
#include <utility>

#include "app/report/plan_report.h"
#include "app/report/text_table.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/present/format.h"
#include "ui/present/tables/plan_table.h"

namespace shardlens::app::report {
namespace {

using trace::model::MemoryCategory;
using ui::present::bytes_or_zero;

std::string heading(const PlanReport& report) {
  const trace::predict::PlanRequest& request = report.plan.request;
  const trace::job::Settings& s = request.settings;
  std::string text = std::string(request.shape.name) + ": " +
                     trace::base::grouped(report.plan.parameters) + " parameters; " +
                     trace::base::grouped(s.batch_per_rank) + " x " +
                     trace::base::grouped(s.sequence_length) + " tokens per rank";
  if (s.gradient_accumulation_steps > 1) {
    text += ", " + std::to_string(s.gradient_accumulation_steps) + " micro-batches";
  }
  text += "; precision " + trace::job::chosen<&trace::job::Settings::precision>(s) + ", " +
          trace::job::chosen<&trace::job::Settings::optimizer>(s);
  if (s.activation_checkpointing > 0) {
    text += ", recompute every " + (s.activation_checkpointing == 1
                                        ? "block"
                                        : std::to_string(s.activation_checkpointing) + " blocks");
  }
  text += "\n" + trace::base::counted(request.ranks(), "rank") + ": " +
          trace::base::counted(request.nodes, "node") + " of " +
          trace::base::counted(request.gpus_per_node, "GPU") +
          (report.gpu.empty() ? "" : " " + report.gpu) + ", " +
          bytes_or_zero(request.memory_bytes) + " each, " + bytes_or_zero(request.usable_bytes()) +
          " of it usable: CUDA, NCCL and rounding take about " +
          bytes_or_zero(request.reserved_bytes) + "\n";
  return text;
}

std::string verdict(const trace::predict::StrategyPlan& plan) {
  if (!plan.refused.empty()) return "refused";
  return plan.fits() ? "fits" : "short by " + bytes_or_zero(-plan.spare_bytes);
}

std::string column_of(MemoryCategory category) {
  switch (category) {
    case MemoryCategory::kGatheredParameters:
      return "gathered";
    case MemoryCategory::kCommunication:
      return "comm.";
    default:
      return std::string(trace::model::to_string(category));
  }
}

TextTable table_of(const trace::predict::Plan& plan,
                   const std::vector<MemoryCategory>& categories) {
  const bool has_nodes = plan.request.nodes > 1;
  const bool has_host = std::ranges::any_of(
      plan.strategies, [](const auto& each) { return each.memory.host_bytes > 0; });
  std::vector<TextTable::Column> columns{{"strategy"}};
  for (const auto category : categories) columns.push_back({column_of(category), Align::kRight});
  columns.push_back({"peak", Align::kRight});
  if (has_host) columns.push_back({"host", Align::kRight});
  columns.push_back({""});
  columns.push_back({"largest batch", Align::kRight});
  columns.push_back({"sent per step", Align::kRight});
  if (has_nodes) columns.push_back({"between nodes", Align::kRight});
  TextTable table(std::move(columns));
  for (const auto& each : plan.strategies) {
    const bool known = each.refused.empty();
    const auto cell = [&](std::int64_t bytes) {
      return known ? bytes_or_zero(bytes) : std::string(ui::present::kUnknown);
    };
    std::vector<std::string> row{std::string(each.name())};
    for (const auto category : categories) {
      row.push_back(cell(each.memory.at_peak[static_cast<std::size_t>(category)]));
    }
    row.push_back(cell(each.memory.total()));
    if (has_host) row.push_back(cell(each.memory.host_bytes));
    row.push_back(verdict(each));
    row.push_back(
        !known ? std::string(ui::present::kUnknown)
               : (each.largest_batch == 0 ? "none" : trace::base::grouped(each.largest_batch)));
    row.push_back(cell(each.traffic.bytes()));
    if (has_nodes) row.push_back(cell(each.traffic.between_nodes()));
    table.add_row(std::move(row));
  }
  return table;
}

std::string refusals(const trace::predict::Plan& plan) {
  std::string text;
  for (const auto& each : plan.strategies) {
    if (!each.refused.empty()) {
      text += std::string(each.name()) + " is refused: " + each.refused + "\n";
    }
  }
  return text.empty() ? text : "\n" + text;
}

std::string way_out(const PlanReport& report) {
  const auto plan =
      std::ranges::find(report.plan.strategies, report.plan.request.settings.sharding_strategy,
                        &trace::predict::StrategyPlan::strategy);
  if (plan == report.plan.strategies.end() || plan->fits() || !plan->refused.empty()) return "";
  const std::string chosen(plan->name());
  if (report.remedies.empty()) {
    return "\n" + chosen +
           " does not fit, nor does any pair of changes to strategy, recomputation, "
           "batch, offload and precision. Plan for more or larger GPUs.\n";
  }
  TextTable table({{"", Align::kLeft, 100}, {"", Align::kRight}});
  for (const auto& remedy : report.remedies) {
    table.add_row({remedy.text(), bytes_or_zero(remedy.peak_bytes)});
  }
  return "\n" + chosen + " does not fit. With one of these it would, at an estimated peak of:\n" +
         table.text("  ", false);
}

}  // namespace

PlanReport report_of(trace::predict::Plan plan, std::string gpu) {
  auto remedies = trace::predict::changes_that_would_fit(plan);
  return {std::move(plan), std::move(gpu), std::move(remedies)};
}

std::string plan_text(const PlanReport& report) {
  const trace::predict::Plan& plan = report.plan;
  return heading(report) + "\nMemory per rank at the step's peak, and bytes that a rank sends:\n" +
         table_of(plan, ui::present::planned_categories(plan)).text() + refusals(plan) +
         way_out(report) +
         "\nEstimated from the model's shape; --json has every figure's formula.\n";
}

}  // namespace shardlens::app::report
