#include <utility>

#include "app/report/plan_report.h"
#include "trace/predict/plan/gpu_table.h"

namespace shardlens::app::report {
namespace {

using trace::model::MemoryCategory;

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
  if (!plan.refused.empty()) {
    return {{"strategy", plan.name()},
            {"refused", plan.refused},
            {"fits", false},
            {"spare_bytes", nullptr},
            {"memory", nullptr},
            {"traffic", nullptr},
            {"largest_batch_per_rank", nullptr},
            {"effective_batch", nullptr}};
  }
  const std::int64_t samples = request.ranks() * request.settings.gradient_accumulation_steps;
  return {{"strategy", plan.name()},
          {"refused", nullptr},
          {"fits", plan.fits()},
          {"spare_bytes", plan.spare_bytes},
          {"memory", memory_json(plan.memory)},
          {"traffic", traffic_json(plan.traffic)},
          {"largest_batch_per_rank", plan.largest_batch},
          {"effective_batch", samples * request.settings.batch_per_rank}};
}

Json settings_of_plan(const trace::predict::PlanRequest& request) {
  trace::job::Settings settings = request.settings;
  settings.ranks = request.ranks();
  settings.device = trace::job::DeviceChoice::kCuda;
  settings.model = request.shape.name;
  return settings_json(settings);
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

}  // namespace shardlens::app::report
