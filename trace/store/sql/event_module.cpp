#include "trace/store/sql/event_module.h"

#include <memory>
#include <optional>
#include <span>
#include <string>

#include "trace/base/text.h"
#include "trace/store/sql/event_plan.h"
#include "trace/store/sql/event_scan.h"
#include "trace/store/sql/event_tables.h"
#include "trace/store/sql/virtual_table.h"

namespace shardlens::trace::store {

namespace {

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
    const auto column_text = [](EventColumn column) {
      return std::string(to_string(column)) + (is_text(column) ? " TEXT" : " INTEGER");
    };
    return "create table x(" + base::joined(module->table->columns, ", ", column_text) + ")";
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
    return scan_.start(scan_plan(table_, plan, static_cast<int>(values.size()), values.data()));
  }
  base::Result<void> next() {
    ++row_id;
    return scan_.next();
  }
  bool at_end() const { return scan_.at_end(); }
  void tell(sqlite3_context* context, int index) const {
    const EventColumn column = table_.columns[static_cast<std::size_t>(index)];
    if (is_text(column)) {
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
    const int code =
        sqlite3_create_module_v2(connection.get(), name.c_str(), &kModule, data.release(), forget);
    if (code != SQLITE_OK) {
      return tl::make_unexpected(sqlite_error(connection.get(), code, connection.file(), "use"));
    }
    // Such a table is declared when it is first named, which an authorizer set later would deny.
    TRY(connection.execute("pragma table_info(" + name + ")"));
  }
  return {};
}

}  // namespace shardlens::trace::store
