// What SQLite asks of a module of virtual tables that are only read: once for all of them.
// One thread.
#pragma once

#include <string>
#include <utility>

#include "trace/store/sqlite/sqlite.h"

namespace shardlens::trace::store {

inline int code_of(const base::Result<void>& result, sqlite3_vtab& table) {
  if (result) return SQLITE_OK;
  sqlite3_free(table.zErrMsg);
  table.zErrMsg = sqlite3_mprintf("%s", result.error().message.c_str());
  switch (result.error().kind) {
    case base::ErrorKind::kDamaged:
      return SQLITE_CORRUPT;
    case base::ErrorKind::kFailed:
      return SQLITE_INTERRUPT;
    default:
      return SQLITE_IOERR;
  }
}

namespace detail {

template <typename Table>
struct Connected : sqlite3_vtab {
  explicit Connected(Table&& from) : sqlite3_vtab{}, table(std::move(from)) {}
  Table table;
};

template <typename Table>
struct Opened : sqlite3_vtab_cursor {
  explicit Opened(Table& table) : sqlite3_vtab_cursor{}, cursor(table) {}
  typename Table::Cursor cursor;
};

template <typename Table>
typename Table::Cursor& cursor_of(sqlite3_vtab_cursor* base) {
  return static_cast<Opened<Table>*>(base)->cursor;
}

template <typename Table>
int connect(sqlite3* connection, void* data, int, const char* const* arguments,
            sqlite3_vtab** result, char** message) {
  auto table = Table::connect(data, arguments[2]);  // behind those of the module, the database
  if (!table) {
    *message = sqlite3_mprintf("no such table in a trace");
    return SQLITE_ERROR;
  }
  const int code = sqlite3_declare_vtab(connection, table->declaration().c_str());
  if (code != SQLITE_OK) {
    *message = sqlite3_mprintf("%s", message_of(connection).c_str());
    return code;
  }
  *result = new Connected<Table>(std::move(*table));
  return SQLITE_OK;
}

}  // namespace detail

// `Table` has
//   static std::optional<Table> connect(void* data, name): none if there is no such table;
//   declaration(): `create table x(…)`; choose_plan(info): xBestIndex; Cursor, made of it, with
//   start(plan, text, values), next(), at_end(), tell(context, column) and row_id.
template <typename Table>
sqlite3_module read_only_module() {
  using detail::cursor_of;
  using Connected = detail::Connected<Table>;
  using Opened = detail::Opened<Table>;
  sqlite3_module m{};
  m.iVersion = 1;
  m.xConnect = detail::connect<Table>;
  m.xBestIndex = [](sqlite3_vtab* base, sqlite3_index_info* info) {
    return static_cast<Connected*>(base)->table.choose_plan(*info);
  };
  m.xDisconnect = [](sqlite3_vtab* base) {
    delete static_cast<Connected*>(base);
    return SQLITE_OK;
  };
  m.xOpen = [](sqlite3_vtab* base, sqlite3_vtab_cursor** result) {
    *result = new Opened(static_cast<Connected*>(base)->table);
    return SQLITE_OK;
  };
  m.xClose = [](sqlite3_vtab_cursor* base) {
    delete static_cast<Opened*>(base);
    return SQLITE_OK;
  };
  m.xFilter = [](sqlite3_vtab_cursor* base, int plan, const char* text, int count,
                 sqlite3_value** values) {
    return code_of(
        cursor_of<Table>(base).start(plan, text, {values, static_cast<std::size_t>(count)}),
        *base->pVtab);
  };
  m.xNext = [](sqlite3_vtab_cursor* base) {
    return code_of(cursor_of<Table>(base).next(), *base->pVtab);
  };
  m.xEof = [](sqlite3_vtab_cursor* base) { return cursor_of<Table>(base).at_end() ? 1 : 0; };
  m.xColumn = [](sqlite3_vtab_cursor* base, sqlite3_context* context, int column) {
    cursor_of<Table>(base).tell(context, column);
    return SQLITE_OK;
  };
  m.xRowid = [](sqlite3_vtab_cursor* base, sqlite3_int64* result) {
    *result = cursor_of<Table>(base).row_id;
    return SQLITE_OK;
  };
  return m;
}

}  // namespace shardlens::trace::store
