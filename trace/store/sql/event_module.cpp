// The virtual tables of bulk events. SQLite's planner is told which conditions and orders we take
// over and what that costs; a cursor is told what was chosen.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>

#include "trace/base/text.h"
#include "trace/store/sql/event_scan.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sql/extensions.h"
#include "trace/store/sql/virtual_table.h"

namespace shardlens::trace::store {

namespace {

// Memory that grouping by name may take; beyond it SQLite sorts, on disk if need be.
constexpr double kMostGroupBytes = 512.0 * (1 << 20);
constexpr double kBytesPerField = 8;
// Of decoding an event, in terms of handing one row to SQLite.
constexpr double kDecodeCost = 0.2;
// Found by their correlation in one rank, or in a few.
constexpr double kEventsOfCorrelation = 4;
// What a condition is taken to leave when its value is not known yet.
constexpr double kRangeLeaves = 0.25, kStepLeaves = 0.01, kNameLeaves = 0.05;

char letter_of(EventColumn column) { return static_cast<char>('a' + static_cast<int>(column)); }
EventColumn column_of(char letter) { return static_cast<EventColumn>(letter - 'a'); }

bool is_ranged(EventColumn column) {
  return column == EventColumn::kRank || column == EventColumn::kLane ||
         column == EventColumn::kStep || column == EventColumn::kStart ||
         column == EventColumn::kEnd;
}

IntegerRange& range_of(EventFilter& filter, EventColumn column) {
  if (column == EventColumn::kRank) return filter.rank;
  if (column == EventColumn::kLane) return filter.lane;
  if (column == EventColumn::kStep) return filter.step;
  return column == EventColumn::kStart ? filter.start_ns : filter.end_ns;
}

std::optional<char> operation_of(sqlite3_index_info* info, int i, EventColumn column) {
  const unsigned char op = info->aConstraint[i].op;
  if (column == EventColumn::kName) {
    const bool is_binary = std::strcmp(sqlite3_vtab_collation(info, i), "BINARY") == 0;
    if (op == SQLITE_INDEX_CONSTRAINT_LIKE) return 'k';
    if (op == SQLITE_INDEX_CONSTRAINT_GLOB) return 'g';
    if (op != SQLITE_INDEX_CONSTRAINT_EQ || !is_binary) return std::nullopt;
    // All names of `name in (…)` at once: otherwise every chunk is decoded for each of them.
    return sqlite3_vtab_in(info, i, 1) ? 'i' : '=';
  }
  if (column == EventColumn::kCorrelation) {
    return op == SQLITE_INDEX_CONSTRAINT_EQ ? std::optional('=') : std::nullopt;
  }
  if (!is_ranged(column)) return std::nullopt;
  switch (op) {
    case SQLITE_INDEX_CONSTRAINT_EQ:
      return '=';
    case SQLITE_INDEX_CONSTRAINT_GT:
    case SQLITE_INDEX_CONSTRAINT_GE:
      return '>';
    case SQLITE_INDEX_CONSTRAINT_LT:
    case SQLITE_INDEX_CONSTRAINT_LE:
      return '<';
    case SQLITE_INDEX_CONSTRAINT_NE:
      return column == EventColumn::kRank ? std::optional('!') : std::nullopt;
    default:
      return std::nullopt;
  }
}

// Bounds may be looser than asked: SQLite looks at every row again.
void narrow(EventFilter& filter, EventColumn column, char operation, sqlite3_value* value) {
  const int type = sqlite3_value_numeric_type(value);
  if (type == SQLITE_NULL) filter.nothing = true;
  // Any number is less than any text.
  if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) return;
  const std::int64_t bound = sqlite3_value_int64(value);
  if (operation == '!') {
    if (type == SQLITE_INTEGER) filter.other_ranks.push_back(bound);
    return;
  }
  if (column == EventColumn::kCorrelation) {
    filter.correlation = bound;
    return;
  }
  IntegerRange& range = range_of(filter, column);
  if (operation != '<') range.at_least(bound);
  if (operation != '>') range.at_most(bound);
}

std::string text_value(sqlite3_value* value) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  return text ? std::string(text, static_cast<std::size_t>(sqlite3_value_bytes(value))) : "";
}

void add_name_condition(EventFilter& filter, char operation, sqlite3_value* value) {
  if (operation == 'i') {
    std::set<std::string> names;
    sqlite3_value* one = nullptr;
    for (int code = sqlite3_vtab_in_first(value, &one); code == SQLITE_OK && one;
         code = sqlite3_vtab_in_next(value, &one)) {
      if (sqlite3_value_type(one) != SQLITE_NULL) names.insert(text_value(one));
    }
    filter.names.push_back([names](const std::string& text) { return names.contains(text); });
    return;
  }
  if (sqlite3_value_type(value) == SQLITE_NULL) {
    filter.nothing = true;
    return;
  }
  filter.names.push_back([operation, wanted = text_value(value)](const std::string& text) {
    if (operation == 'k') return sqlite3_strlike(wanted.c_str(), text.c_str(), 0) == 0;
    if (operation == 'g') return sqlite3_strglob(wanted.c_str(), text.c_str()) == 0;
    return text == wanted;
  });
}

std::optional<EventOrder::Key> order_key(EventColumn column) {
  if (column == EventColumn::kRank) return EventOrder::Key::kRank;
  if (column == EventColumn::kLane) return EventOrder::Key::kLane;
  if (column == EventColumn::kName) return EventOrder::Key::kName;
  return std::nullopt;
}

// What the conditions leave, as far as it can be known before the query runs.
class PlanEstimate {
 public:
  void add(sqlite3_index_info* info, int i, EventColumn column, char operation) {
    if (column == EventColumn::kName) {
      name_factor_ *= kNameLeaves;
      return;
    }
    sqlite3_value* value = nullptr;
    const bool is_known = sqlite3_vtab_rhs_value(info, i, &value) == SQLITE_OK && value;
    if (operation == '!' && !is_known) return;
    if (column == EventColumn::kCorrelation) {
      looks_up_ = true;
      return;
    }
    if (is_known && column != EventColumn::kStep) return narrow(known_, column, operation, value);
    const bool is_point = operation == '=';
    if (is_point && column == EventColumn::kRank) {
      one_rank_ = true;
    } else if (is_point && column == EventColumn::kLane) {
      one_lane_ = true;
    } else {
      factor_ *= is_point && column == EventColumn::kStep ? kStepLeaves : kRangeLeaves;
    }
  }

  void apply(const std::vector<ChunkEntry>& chunks) {
    std::set<int> ranks;
    std::set<std::pair<int, int>> lanes;
    for (const ChunkEntry& place : chunks) {
      if (!known_.may_hold(place)) continue;
      events += static_cast<double>(place.header.count);
      ranks.insert(place.rank);
      lanes.insert({place.rank, place.lane});
    }
    const auto count = static_cast<double>(one_lane_ ? lanes.size() : ranks.size());
    if (one_lane_ || one_rank_) factor_ /= std::max(1.0, count);
    events = looks_up_ ? kEventsOfCorrelation : events * factor_;
    rows = events * name_factor_;
  }

  bool looks_up() const { return looks_up_; }

  double events = 0;  // to decode
  double rows = 0;

 private:
  EventFilter known_;
  bool one_rank_ = false, one_lane_ = false, looks_up_ = false;
  double factor_ = 1, name_factor_ = 1;
};

// "" unless the whole order is ours to give and fits into memory.
std::string order_text(const sqlite3_index_info& info, const EventTable& table,
                       const EventScanPlan& needs, double rows) {
  std::string text;
  bool by_name = false;
  for (int i = 0; i < info.nOrderBy; ++i) {
    const int index = info.aOrderBy[i].iColumn;
    if (index < 0) return "";
    const EventColumn column = table.columns[static_cast<std::size_t>(index)];
    const auto key = order_key(column);
    if (!key) return "";
    by_name = by_name || key == EventOrder::Key::kName;
    text += {letter_of(column), info.aOrderBy[i].desc ? '-' : '+'};
  }
  const auto fields = static_cast<double>(std::ranges::count(needs.fields, true)) + 1;
  return by_name && rows * fields * kBytesPerField > kMostGroupBytes ? "" : text;
}

EventScanPlan needs_of(const EventTable& table, std::uint64_t columns) {
  EventScanPlan plan;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (columns >> i & 1) require_column(table.columns[i], plan);
  }
  return plan;
}

// xBestIndex. What a cursor is told is a text: columns in hexadecimal, then orders and conditions
// of two letters each, as "3f|n+r-|a=e>". `chunks`: all of the table's kind.
int plan_events(sqlite3_index_info* info, const EventTable& table,
                const std::vector<ChunkEntry>& chunks) {
  PlanEstimate estimate;
  std::string conditions;
  int arguments = 0;
  for (int i = 0; i < info->nConstraint; ++i) {
    const auto& constraint = info->aConstraint[i];
    if (!constraint.usable || constraint.iColumn < 0) continue;
    const EventColumn column = table.columns[static_cast<std::size_t>(constraint.iColumn)];
    const auto operation = operation_of(info, i, column);
    if (!operation) continue;
    info->aConstraintUsage[i].argvIndex = ++arguments;
    conditions += {letter_of(column), *operation};
    estimate.add(info, i, column, *operation);
  }
  estimate.apply(chunks);
  const EventScanPlan needs = needs_of(table, info->colUsed);
  const std::string order =
      estimate.looks_up() ? "" : order_text(*info, table, needs, estimate.rows);
  info->orderByConsumed = order.empty() ? 0 : 1;
  info->estimatedRows = static_cast<sqlite3_int64>(std::max(1.0, estimate.rows));
  info->estimatedCost = 10 + kDecodeCost * estimate.events + estimate.rows;
  char columns[17];
  const auto end = std::to_chars(columns, columns + 16, info->colUsed, 16).ptr;
  const std::string text = std::string(columns, end) + "|" + order + "|" + conditions;
  info->idxStr = sqlite3_mprintf("%s", text.c_str());
  info->needToFreeIdxStr = 1;
  return info->idxStr ? SQLITE_OK : SQLITE_NOMEM;
}

// xFilter: what plan_events() wrote, with the values of now.
EventScanPlan scan_plan(const EventTable& table, std::string_view text,
                        std::span<sqlite3_value*> values) {
  std::uint64_t columns = 0;
  std::from_chars(text.data(), text.data() + text.size(), columns, 16);
  EventScanPlan plan = needs_of(table, columns);
  std::size_t at = text.find('|') + 1;
  for (; text[at] != '|'; at += 2) {
    const auto key = order_key(column_of(text[at]));
    plan.order.push_back({key.value_or(EventOrder::Key::kName), text[at + 1] == '-'});
  }
  ++at;
  for (sqlite3_value* const value : values) {
    const EventColumn column = column_of(text[at]);
    if (column == EventColumn::kName) {
      add_name_condition(plan.filter, text[at + 1], value);
    } else {
      narrow(plan.filter, column, text[at + 1], value);
    }
    at += 2;
  }
  return plan;
}

// What a module is registered with, one per table.
struct EventModuleData {
  EventModuleData(const EventTable& which, EventSource& from)
      : table(&which), source(&from), index(from, which.kind) {}
  const EventTable* table;
  EventSource* source;
  CorrelationIndex index;
};

class EventCursor;

struct EventVirtualTable {
  using Cursor = EventCursor;
  EventModuleData* module;

  static std::optional<EventVirtualTable> connect(void* data, std::string_view) {
    return EventVirtualTable{static_cast<EventModuleData*>(data)};
  }
  std::string declaration() const {
    const auto column_text = [](const Column& column) { return column.name + " " + column.type; };
    return "create table x(" + base::joined(schema_of(*module->table).columns, ", ", column_text) +
           ")";
  }
  int choose_plan(sqlite3_index_info& info) const {
    const auto chunks = module->source->chunks(module->table->kind);
    // Of a query that cannot be planned SQLite keeps the words and forgets the code, so that a
    // damaged file would look like wrong SQL: the cursor meets the same error and tells it.
    if (!chunks) return plan_events(&info, *module->table, {});
    return plan_events(&info, *module->table, **chunks);
  }
};

class EventCursor {
 public:
  explicit EventCursor(const EventVirtualTable& table)
      : table_(*table.module->table),
        scan_(*table.module->source, table_.kind, table.module->index) {}

  base::Result<void> start(int, const char* plan, std::span<sqlite3_value*> values) {
    return scan_.start(scan_plan(table_, plan, values));
  }
  base::Result<void> next() {
    ++row_id;
    return scan_.next();
  }
  bool at_end() const { return scan_.at_end(); }
  void tell(sqlite3_context* context, int index) const {
    const EventColumn column = table_.columns[static_cast<std::size_t>(index)];
    if (traits_of(column).is_text) {
      // Lives as long as the source.
      const std::string& text = text_of(scan_, column);
      sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
    } else if (const auto value = integer_of(scan_, column)) {
      sqlite3_result_int64(context, *value);
    } else {
      sqlite3_result_null(context);
    }
  }

  sqlite3_int64 row_id = 0;

 private:
  const EventTable& table_;
  EventScan scan_;
};

}  // namespace

base::Result<void> create_event_tables(Database& connection, EventSource& source,
                                       std::string_view prefix) {
  // Without xCreate a module is a table by itself and can be no other.
  static const sqlite3_module kModule = read_only_module<EventVirtualTable>();
  for (const EventTable& table : event_tables()) {
    const std::string name = std::string(prefix) + table.name;
    auto data = std::make_unique<EventModuleData>(table, source);
    const auto forget = [](void* module) { delete static_cast<EventModuleData*>(module); };
    // Takes the data, also where it fails.
    TRY(connection.check(sqlite3_create_module_v2(connection.get(), name.c_str(), &kModule,
                                                  data.release(), forget)));
    // Such a table is declared when it is first named, which an authorizer set later would deny.
    TRY(connection.execute("pragma table_info(" + name + ")"));
  }
  return {};
}

}  // namespace shardlens::trace::store
