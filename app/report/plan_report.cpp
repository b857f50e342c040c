#include "app/report/plan_report.h"

#include <algorithm>
#include <cctype>
#include <utility>
#include <vector>

#include "app/report/report_json.h"
#include "app/report/text_table.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "ui/present/format.h"
#include "ui/present/tables/plan_table.h"

namespace shardlens::app::report {
namespace {

using trace::model::MemoryCategory;
using ui::present::bytes_or_zero;

Json bytes_by_category(const trace::predict::MemoryPrediction::Bytes& bytes) {
  Json json = Json::object();
  for (int i = 0; i < trace::model::kMemoryCategoryCount; ++i) {
    const auto category = static_cast<MemoryCategory>(i);
    // What a GPU holds beside tensors is in `reserved_bytes`.
    if (category == MemoryCategory::kOutside) continue;
    json[std::string(trace::model::to_string(category))] = bytes[static_cast<std::size_t>(i)];
  }
  return json;
}

Json memory_json(const trace::predict::MemoryPrediction& memory) {
  Json terms = array_of(memory.terms, [](const auto& term) -> Json {
    return {{"category", trace::model::to_string(term.category)},
            {"bytes", term.bytes},
            {"formula", term.formula}};
  });
  return {{"total_bytes", memory.total()},
          {"peak_in", memory.peak_place},
          {"by_category", bytes_by_category(memory.at_peak)},
          {"peak_by_category", bytes_by_category(memory.category_peaks)},
          {"terms", std::move(terms)},
          {"host_bytes", memory.host_bytes},
          {"host_formula", text_or_null(memory.host_formula)}};
}

Json traffic_json(const trace::predict::TrafficPrediction& traffic) {
  Json terms = array_of(traffic.terms, [](const auto& term) -> Json {
    return {{"function", trace::model::to_string(term.function)},
            {"what", term.what},
            {"bytes", term.bytes},
            {"between_nodes_bytes", term.between_nodes},
            {"formula", term.formula}};
  });
  return {{"bytes_per_rank_and_step", traffic.bytes()},
          {"between_nodes_bytes", traffic.between_nodes()},
          {"terms", std::move(terms)}};
}

Json strategy_json(const trace::predict::StrategyPlan& plan,
                   const trace::predict::PlanRequest& request) {
  const bool is_planned = plan.refused.empty();
  const std::int64_t samples = request.ranks() * request.settings.gradient_accumulation_steps;
  return {{"strategy", plan.name()},
          {"refused", text_or_null(plan.refused)},
          {"fits", plan.fits()},
          {"spare_bytes", known(is_planned, plan.spare_bytes)},
          {"memory", known(is_planned, memory_json(plan.memory))},
          {"traffic", known(is_planned, traffic_json(plan.traffic))},
          {"largest_batch_per_rank", known(is_planned, plan.largest_batch)},
          {"effective_batch", known(is_planned, samples * request.settings.batch_per_rank)}};
}

Json settings_of_plan(const trace::predict::PlanRequest& request) {
  trace::job::Settings settings = request.settings;
  settings.ranks = request.ranks();
  settings.device = trace::job::DeviceChoice::kCuda;
  settings.model = request.shape.name;
  return settings_json(settings);
}

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

// "Peak of tensors" as headings here are written.
std::string heading_of(const ui::present::PlanColumn& column) {
  std::string text = column.title;
  text.front() = static_cast<char>(std::tolower(text.front()));
  return text;
}

std::string table_text(const ui::present::PlanTable& shown) {
  std::vector<TextTable::Column> columns{{"strategy"}};
  for (const auto& column : shown.columns) columns.push_back({heading_of(column), Align::kRight});
  TextTable table(std::move(columns));
  for (const auto& row : shown.rows) {
    std::vector<std::string> cells{row.strategy};
    for (const auto& cell : row.cells) cells.push_back(cell.text);
    cells.resize(shown.columns.size() + 1, std::string(ui::present::kUnknown));
    table.add_row(std::move(cells));
  }
  return table.text();
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

Json plan_json(const PlanReport& report) {
  const trace::predict::PlanRequest& request = report.plan.request;
  Json strategies = array_of(report.plan.strategies,
                             [&](const auto& each) { return strategy_json(each, request); });
  Json changes = Json::array();
  for (const auto& remedy : report.remedies) {
    Json settings = Json::object();
    for (const auto& change : remedy.changes) settings[change.knob] = change.value;
    changes.push_back({{"changes", std::move(settings)}, {"peak_bytes", remedy.peak_bytes}});
  }
  return {{"schema", 1},
          {"model",
           {{"name", request.shape.name},
            {"parameters", report.plan.parameters},
            {"layers", request.shape.layers},
            {"width", request.shape.width},
            {"vocabulary", request.shape.vocabulary}}},
          {"gpu",
           {{"name", text_or_null(report.gpu)},
            {"memory_bytes", request.memory_bytes},
            {"reserved_bytes", request.reserved_bytes},
            {"usable_bytes", request.usable_bytes()}}},
          {"nodes", request.nodes},
          {"gpus_per_node", request.gpus_per_node},
          {"ranks", request.ranks()},
          {"settings", settings_of_plan(request)},
          {"strategies", std::move(strategies)},
          {"changes_that_would_fit", std::move(changes)}};
}

PlanReport report_of(trace::predict::Plan plan, std::string gpu) {
  auto remedies = trace::predict::changes_that_would_fit(plan);
  return {std::move(plan), std::move(gpu), std::move(remedies)};
}

std::string plan_text(const PlanReport& report) {
  const trace::predict::Plan& plan = report.plan;
  return heading(report) + "\nMemory per rank at the step's peak, and bytes that a rank sends:\n" +
         table_text(ui::present::plan_table(plan)) + refusals(plan) + way_out(report) +
         "\nEstimated from the model's shape; --json has every figure's formula.\n";
}

}  // namespace shardlens::app::report
