// The tables that SQL sees over the chunks: one per kind of event, with what each column is. Any
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/events.h"
#include "trace/store/sql/event_scan.h"
#include "trace/store/table/schema.h"

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
struct EventColumnTraits {
  std::string_view name;
  std::string_view description;      // one line for help texts
  std::vector<EventField> fields{};  // of an event, that it is made of
  bool is_text = false;              // else an integer
};
const EventColumnTraits& traits_of(EventColumn column);

struct EventTable {
  std::string name;
  model::EventKind kind = model::EventKind::kKernel;
  std::string description;  // one line
  std::vector<EventColumn> columns;
};
const std::vector<EventTable>& event_tables();
// As SQL declares it.
TableSchema schema_of(const EventTable& table);

// Adds what a scan must provide for this column.
void require_column(EventColumn column, EventScanPlan& plan);
// Of the scan's current row, all columns that are not text; nothing: not known.
std::optional<std::int64_t> integer_of(const EventScan& scan, EventColumn column);
const std::string& text_of(const EventScan& scan, EventColumn column);

}  // namespace shardlens::trace::store
