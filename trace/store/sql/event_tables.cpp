#include "trace/store/sql/event_tables.h"

#include "trace/base/saturated.h"

namespace shardlens::trace::store {

const EventColumnTraits& traits_of(EventColumn column) {
  using enum EventField;
  static const std::vector<EventColumnTraits> traits{
      {"rank", "global rank"},
      {"lane", "thread or stream, as in table lane"},
      {"lane_name", "the lane's name, say 'stream 7'", {}, true},
      {"step", "in which it began; -1: outside any, or the step has not ended yet"},
      {"name",
       "of the kernel, call, operator or copy; of an allocation: the operator that asked for it",
       {},
       true},
      {"start_ns", "nanoseconds since 1970", {kStart}},
      {"end_ns", "nanoseconds since 1970", {kStart, kDuration}},
      {"duration_ns", "end_ns - start_ns", {kDuration}},
      {"correlation",
       "the same for a launch, its kernel or copy, and the operator that called; null: none",
       {kCorrelation}},
      {"bytes",
       "copied or allocated; negative: freed, in another program's trace; null: not known",
       {kValue}},
      {"depth", "0 for an operator that no other called", {kFlags}},
      {"is_leaf", "1 for an operator that called no other", {kFlags}},
      {"is_compute", "1 where it counts as compute", {kFlags}},
      {"address", "in memory; null in another program's trace", {kFlags, kCorrelation}},
      {"category",
       "what the memory is for: 'activations', …; '' in another program's trace",
       {kFlags},
       true},
      {"is_older",
       "1 where it was there before the step: then start_ns is the step's; null as address",
       {kFlags}},
      {"is_freed",
       "1 where it was freed in the step; else end_ns is the step's; null as address",
       {kFlags}}};
  return traits[static_cast<std::size_t>(column)];
}

const std::vector<EventTable>& event_tables() {
  using enum EventColumn;
  static const std::vector<EventTable> tables{
      {"kernel",
       model::EventKind::kKernel,
       "kernels on a GPU",
       {kRank, kLane, kLaneName, kStep, kName, kStart, kEnd, kDuration, kCorrelation, kIsCompute}},
      {"launch",
       model::EventKind::kLaunch,
       "calls that launch them",
       {kRank, kLane, kLaneName, kStep, kName, kStart, kEnd, kDuration, kCorrelation}},
      {"op",
       model::EventKind::kOperator,
       "operators of PyTorch",
       {kRank, kLane, kLaneName, kStep, kName, kStart, kEnd, kDuration, kCorrelation, kDepth,
        kIsLeaf, kIsCompute}},
      {"copy",
       model::EventKind::kCopy,
       "copies and memsets",
       {kRank, kLane, kLaneName, kStep, kName, kStart, kEnd, kDuration, kCorrelation, kBytes}},
      {"allocation",
       model::EventKind::kAllocation,
       "memory allocated in the steps of record_allocations",
       {kRank, kLane, kLaneName, kStep, kName, kStart, kEnd, kDuration, kBytes, kAddress, kCategory,
        kIsOlder, kIsFreed}}};
  return tables;
}

TableSchema schema_of(const EventTable& table) {
  TableSchema schema{table.name, {}};
  for (const EventColumn column : table.columns) {
    const EventColumnTraits& traits = traits_of(column);
    schema.columns.push_back({std::string(traits.name), traits.is_text ? "TEXT" : "INTEGER"});
  }
  return schema;
}

void require_column(EventColumn column, EventScanPlan& plan) {
  plan.wants_step = plan.wants_step || column == EventColumn::kStep;
  plan.wants_name = plan.wants_name || column == EventColumn::kName;
  for (const EventField field : traits_of(column).fields) {
    plan.fields[static_cast<std::size_t>(field)] = true;
  }
}

namespace {

// Of an allocation: recorded by us, not a moment of another program's trace.
bool has_life(const EventScan& scan) {
  return model::category_of(static_cast<std::uint32_t>(scan.value(EventField::kFlags))).has_value();
}

}  // namespace

std::optional<std::int64_t> integer_of(const EventScan& scan, EventColumn column) {
  const auto flag = [&](std::uint32_t bit) {
    return (scan.value(EventField::kFlags) & std::int64_t{bit}) != 0 ? 1 : 0;
  };
  const auto of_life = [&](std::int64_t value) {
    return has_life(scan) ? std::optional(value) : std::nullopt;
  };
  const auto unless_zero = [](std::int64_t value) {
    return value != 0 ? std::optional(value) : std::nullopt;
  };
  switch (column) {
    case EventColumn::kRank:
      return scan.place().rank;
    case EventColumn::kLane:
      return scan.place().lane;
    case EventColumn::kStep:
      return scan.names().step_at(scan.value(EventField::kStart));
    case EventColumn::kStart:
      return scan.value(EventField::kStart);
    case EventColumn::kEnd:
      return base::saturated_add(scan.value(EventField::kStart), scan.value(EventField::kDuration));
    case EventColumn::kDuration:
      return scan.value(EventField::kDuration);
    case EventColumn::kCorrelation:
      return unless_zero(scan.value(EventField::kCorrelation));
    case EventColumn::kAddress:
      return of_life(scan.value(EventField::kCorrelation));
    case EventColumn::kBytes:
      return unless_zero(
          scan.value(EventField::kValue));  // nothing is neither copied nor allocated
    case EventColumn::kDepth:
      return scan.value(EventField::kFlags) >> model::kEventDepthShift & 0xff;
    case EventColumn::kIsLeaf:
      return flag(model::kEventLeaf);
    case EventColumn::kIsCompute:
      return flag(model::kEventCompute);
    case EventColumn::kIsOlder:
      return of_life(flag(model::kEventOlder));
    case EventColumn::kIsFreed:
      return of_life(1 - flag(model::kEventNotFreed));
    case EventColumn::kName:
    case EventColumn::kLaneName:
    case EventColumn::kCategory:
      break;
  }
  return 0;
}

namespace {

const std::string& category_text(std::int64_t flags) {
  static const std::vector<std::string> texts = [] {
    std::vector<std::string> all(1);
    for (int i = 0; i < model::kMemoryCategoryCount; ++i) {
      all.emplace_back(model::to_string(static_cast<model::MemoryCategory>(i)));
    }
    return all;
  }();
  const auto category = model::category_of(static_cast<std::uint32_t>(flags));
  return texts[category ? static_cast<std::size_t>(*category) + 1 : 0];
}

}  // namespace

const std::string& text_of(const EventScan& scan, EventColumn column) {
  if (column == EventColumn::kCategory) return category_text(scan.value(EventField::kFlags));
  return column == EventColumn::kName ? scan.name() : scan.names().lane_name(scan.place().lane);
}

}  // namespace shardlens::trace::store
