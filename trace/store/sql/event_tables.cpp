#include "trace/store/sql/event_tables.h"

#include "trace/base/saturated.h"

namespace shardlens::trace::store {

std::string_view to_string(EventColumn column) {
  constexpr std::string_view kNames[] = {
      "rank",       "lane",        "lane_name",   "step",     "name",    "start_ns",
      "end_ns",     "duration_ns", "correlation", "bytes",    "depth",   "is_leaf",
      "is_compute", "address",     "category",    "is_older", "is_freed"};
  return kNames[static_cast<std::size_t>(column)];
}

bool is_text(EventColumn column) {
  return column == EventColumn::kName || column == EventColumn::kLaneName ||
         column == EventColumn::kCategory;
}

std::string_view describe(EventColumn column) {
  constexpr std::string_view kTexts[] = {
      "global rank",
      "thread or stream, as in table lane",
      "the lane's name, say 'stream 7'",
      "in which it began; -1: outside any, or the step has not ended yet",
      "of the kernel, call, operator or copy; of an allocation: the operator that asked for it",
      "nanoseconds since 1970",
      "nanoseconds since 1970",
      "end_ns - start_ns",
      "the same for a launch, its kernel or copy, and the operator that called; null: none",
      "copied or allocated; negative: freed, in another program's trace; null: not known",
      "0 for an operator that no other called",
      "1 for an operator that called no other",
      "1 where it counts as compute",
      "in memory; null in another program's trace",
      "what the memory is for: 'activations', …; '' in another program's trace",
      "1 where it was there before the step: then start_ns is the step's; null as address",
      "1 where it was freed in the step; else end_ns is the step's; null as address"};
  return kTexts[static_cast<std::size_t>(column)];
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

void require_column(EventColumn column, EventScanPlan& plan) {
  const auto field = [&](EventField which) { plan.fields[static_cast<std::size_t>(which)] = true; };
  switch (column) {
    case EventColumn::kRank:
    case EventColumn::kLane:
    case EventColumn::kLaneName:
      return;
    case EventColumn::kStep:
      plan.wants_step = true;
      return;
    case EventColumn::kName:
      plan.wants_name = true;
      return;
    case EventColumn::kEnd:
      field(EventField::kDuration);
      [[fallthrough]];
    case EventColumn::kStart:
      return field(EventField::kStart);
    case EventColumn::kDuration:
      return field(EventField::kDuration);
    case EventColumn::kCorrelation:
      return field(EventField::kCorrelation);
    case EventColumn::kAddress:
      field(EventField::kFlags);
      return field(EventField::kCorrelation);
    case EventColumn::kBytes:
      return field(EventField::kValue);
    case EventColumn::kDepth:
    case EventColumn::kIsLeaf:
    case EventColumn::kIsCompute:
    case EventColumn::kCategory:
    case EventColumn::kIsOlder:
    case EventColumn::kIsFreed:
      return field(EventField::kFlags);
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
