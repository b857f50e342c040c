#include "trace/store/sql/event_module.h"

#include <memory>
#include <string>

#include "trace/store/sql/event_plan.h"
#include "trace/store/sql/event_scan.h"
#include "trace/store/sql/event_tables.h"

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

struct EventVirtualTable : sqlite3_vtab {
  EventModuleData* module = nullptr;
};

struct EventCursor : sqlite3_vtab_cursor {
  explicit EventCursor(EventModuleData& module)
      : scan(*module.source, module.table->kind, module.index) {}
  EventScan scan;
  sqlite3_int64 row_id = 0;
};

EventVirtualTable& table_of(sqlite3_vtab_cursor* cursor) {
  return *static_cast<EventVirtualTable*>(cursor->pVtab);
}

int tell_error(sqlite3_vtab& table, const base::Error& error) {
  sqlite3_free(table.zErrMsg);
  table.zErrMsg = sqlite3_mprintf("%s", error.message.c_str());
  switch (error.kind) {
    case base::ErrorKind::kDamaged:
      return SQLITE_CORRUPT;
    case base::ErrorKind::kFailed:
      return SQLITE_INTERRUPT;
    default:
      return SQLITE_IOERR;
  }
}

int connect_events(sqlite3* connection, void* data, int, const char* const*, sqlite3_vtab** result,
                   char** message) {
  auto& module = *static_cast<EventModuleData*>(data);
  std::string sql = "create table x(";
  for (const EventColumn column : module.table->columns) {
    if (sql.back() != '(') sql += ", ";
    sql += std::string(to_string(column)) + (is_text(column) ? " TEXT" : " INTEGER");
  }
  const int code = sqlite3_declare_vtab(connection, (sql + ")").c_str());
  if (code != SQLITE_OK) {
    *message = sqlite3_mprintf("%s", sqlite3_errmsg(connection));
    return code;
  }
  auto table = std::make_unique<EventVirtualTable>();
  table->module = &module;
  *result = table.release();
  return SQLITE_OK;
}

int disconnect_events(sqlite3_vtab* table) {
  delete static_cast<EventVirtualTable*>(table);
  return SQLITE_OK;
}

int choose_event_plan(sqlite3_vtab* base, sqlite3_index_info* info) {
  auto& table = *static_cast<EventVirtualTable*>(base);
  const auto chunks = table.module->source->chunks(table.module->table->kind);
  // Of a query that cannot be planned SQLite keeps the words and forgets the code, so that a
  // damaged file would look like wrong SQL: xFilter meets the same error and tells it.
  if (!chunks) return plan_events(info, *table.module->table, {});
  return plan_events(info, *table.module->table, **chunks);
}

int open_events(sqlite3_vtab* base, sqlite3_vtab_cursor** result) {
  *result = std::make_unique<EventCursor>(*static_cast<EventVirtualTable*>(base)->module).release();
  return SQLITE_OK;
}

int close_events(sqlite3_vtab_cursor* cursor) {
  delete static_cast<EventCursor*>(cursor);
  return SQLITE_OK;
}

int filter_events(sqlite3_vtab_cursor* base, int, const char* plan, int count,
                  sqlite3_value** values) {
  auto& cursor = *static_cast<EventCursor*>(base);
  EventVirtualTable& table = table_of(base);
  const auto started = cursor.scan.start(scan_plan(*table.module->table, plan, count, values));
  return started ? SQLITE_OK : tell_error(table, started.error());
}

int next_event(sqlite3_vtab_cursor* base) {
  auto& cursor = *static_cast<EventCursor*>(base);
  ++cursor.row_id;
  const auto moved = cursor.scan.next();
  return moved ? SQLITE_OK : tell_error(*base->pVtab, moved.error());
}

int events_at_end(sqlite3_vtab_cursor* cursor) {
  return static_cast<EventCursor*>(cursor)->scan.at_end() ? 1 : 0;
}

int event_column(sqlite3_vtab_cursor* base, sqlite3_context* context, int index) {
  const EventScan& scan = static_cast<EventCursor*>(base)->scan;
  const EventColumn column = table_of(base).module->table->columns[static_cast<std::size_t>(index)];
  if (is_text(column)) {
    // Lives as long as the source.
    const std::string& text = text_of(scan, column);
    sqlite3_result_text64(context, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
  } else if (const auto value = integer_of(scan, column)) {
    sqlite3_result_int64(context, *value);
  } else {
    sqlite3_result_null(context);
  }
  return SQLITE_OK;
}

int event_row_id(sqlite3_vtab_cursor* cursor, sqlite3_int64* result) {
  *result = static_cast<EventCursor*>(cursor)->row_id;
  return SQLITE_OK;
}

// Without xCreate a module is a table by itself and can be no other.
const sqlite3_module& event_module() {
  static const sqlite3_module module = [] {
    sqlite3_module m{};
    m.iVersion = 1;
    m.xConnect = connect_events;
    m.xBestIndex = choose_event_plan;
    m.xDisconnect = disconnect_events;
    m.xOpen = open_events;
    m.xClose = close_events;
    m.xFilter = filter_events;
    m.xNext = next_event;
    m.xEof = events_at_end;
    m.xColumn = event_column;
    m.xRowid = event_row_id;
    return m;
  }();
  return module;
}

}  // namespace

base::Result<void> create_event_tables(Database& connection, EventSource& source,
                                       std::string_view prefix) {
  for (const EventTable& table : event_tables()) {
    const std::string name = std::string(prefix) + table.name;
    auto data = std::make_unique<EventModuleData>(table, source);
    const auto forget = [](void* module) { delete static_cast<EventModuleData*>(module); };
    // Takes the data, also where it fails.
    const int code = sqlite3_create_module_v2(connection.get(), name.c_str(), &event_module(),
                                              data.release(), forget);
    if (code != SQLITE_OK) {
      return tl::make_unexpected(sqlite_error(connection.get(), code, connection.file(), "use"));
    }
    // Such a table is declared when it is first named, which an authorizer set later would deny.
    TRY(connection.execute("pragma table_info(" + name + ")"));
  }
  return {};
}

}  // namespace shardlens::trace::store
