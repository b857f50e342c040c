// The tables that SQL sees over the chunks: one per kind of event, with what each column is. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"
#include "trace/store/sql/event_scan.h"

namespace shardlens::trace::store {

enum class EventColumn : std::uint8_t {
  kRank,
  kLane,
  kLaneName,
  kStep,
  kName,
  kStart,
  kEnd,
  kDuration,
  kCorrelation,
  kBytes,
  kDepth,
  kIsLeaf,
  kIsCompute,
  kAddress,
  kCategory,
  kIsOlder,
  kIsFreed
};
std::string_view to_string(EventColumn column);
bool is_text(EventColumn column);
std::string_view describe(EventColumn column);  // one line for help texts

struct EventTable {
  std::string name;
  model::EventKind kind = model::EventKind::kKernel;
  std::string description;  // one line
  std::vector<EventColumn> columns;
};
const std::vector<EventTable>& event_tables();

// Adds what a scan must provide for this column.
void require_column(EventColumn column, EventScanPlan& plan);
// Of the scan's current row, all columns that are not text; nothing: not known.
std::optional<std::int64_t> integer_of(const EventScan& scan, EventColumn column);
const std::string& text_of(const EventScan& scan, EventColumn column);

}  // namespace shardlens::trace::store
