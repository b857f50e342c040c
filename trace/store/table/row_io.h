// The three ways through a row's fields: naming its columns, binding it to an insert, and reading
// it back. Strings are text in the file, so that any SQLite tool shows them, and ids in memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "trace/base/text.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_fields.h"

namespace shardlens::trace::store {

// Ids to texts while writing, texts to ids while reading, of one rank.
class StringIndex {
 public:
  void add(model::StringId id, std::string_view text);
  std::string_view text(model::StringId id) const;
  model::StringId id(std::string_view text) const;  // 0 for an unknown one

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  std::unordered_map<std::string, model::StringId, Hash, std::equal_to<>> ids_;
  std::unordered_map<model::StringId, std::string> texts_;
};

struct Column {
  std::string name;
  std::string type;
};

// Collects the columns of a table.
class ColumnLister {
 public:
  std::vector<Column> columns;

  void integer(const char* name, const auto&) { columns.push_back({name, "INTEGER NOT NULL"}); }
  void real(const char* name, double) { columns.push_back({name, "REAL"}); }
  bool integer_if(bool is_known, const char* name, const auto&, std::int64_t = 0) {
    columns.push_back({name, "INTEGER"});
    return is_known;
  }
  void real_if(bool, const char* name, double value) { real(name, value); }
  void text(const char* name, const auto&) { columns.push_back({name, "TEXT NOT NULL"}); }
  void interned(const char* name, model::StringId id) { text(name, id); }
  void integer_list(const char* name, const auto& values) { text(name, values); }
  void enumeration(const char* name, const auto& value, auto) { text(name, value); }
  void size(const char* name, const auto& values) { integer(name, values); }
  void tag(const auto& row) {
    text("tag", row);
    text("tag_kind", row);
    integer("tag_index", row);
  }
};

template <typename Row>
std::vector<Column> columns_of_table() {
  ColumnLister lister;
  Row row;
  row_fields(lister, row);
  return lister.columns;
}

// Binds a row to parameters `first`, `first + 1`, …; the row lives until the statement has run.
class RowBinder {
 public:
  RowBinder(Statement& statement, const StringIndex& strings, int first)
      : statement_(statement), strings_(strings), next_(first) {}

  void integer(const char*, auto value) {
    statement_.bind(next_++, static_cast<std::int64_t>(value));
  }
  void real(const char*, double value) { statement_.bind_real(next_++, value); }
  bool integer_if(bool is_known, const char* name, auto value, std::int64_t = 0) {
    is_known ? integer(name, value) : statement_.bind_null(next_++);
    return is_known;
  }
  void real_if(bool is_known, const char* name, double value) {
    if (is_known) return real(name, value);
    statement_.bind_null(next_++);
  }
  void text(const char*, std::string_view value) { statement_.bind_text(next_++, value); }
  void interned(const char*, model::StringId id) {
    statement_.bind_text(next_++, strings_.text(id));
  }
  void integer_list(const char*, const std::vector<int>& values);
  void enumeration(const char*, auto value, auto) {
    statement_.bind_text(next_++, to_string(value));
  }
  void size(const char*, const auto& values) {
    statement_.bind(next_++, static_cast<std::int64_t>(values.size()));
  }
  void tag(const auto& row) { bind_tag(row.tag_kind, row.tag_index, row.tag_name); }

 private:
  void bind_tag(model::TagKind kind, int index, model::StringId name);

  Statement& statement_;
  const StringIndex& strings_;
  int next_;
  std::string scratch_;  // text made here, until the statement has run
};

// Reads a row from columns `first`, `first + 1`, … of the statement's current row.
class RowScanner {
 public:
  RowScanner(const Statement& statement, const StringIndex& strings, int first)
      : statement_(statement), strings_(strings), next_(first) {}

  template <typename T>
  void integer(const char*, T& value) {
    value = static_cast<T>(statement_.integer(next_++));
  }
  void real(const char*, double& value) { value = statement_.real(next_++); }
  template <typename T>
  bool integer_if(bool, const char* name, T& value, std::int64_t unknown = 0) {
    const bool is_known = !statement_.is_null(next_);
    integer(name, value);
    if (!is_known) value = static_cast<T>(unknown);
    return is_known;
  }
  void real_if(bool, const char* name, double& value) {
    if (!statement_.is_null(next_)) return real(name, value);
    value = 0;
    ++next_;
  }
  void text(const char*, std::string& value) { value = statement_.text(next_++); }
  void interned(const char*, model::StringId& id) { id = strings_.id(statement_.text(next_++)); }
  void integer_list(const char*, std::vector<int>& values);
  template <typename T>
  void enumeration(const char* name, T& value, T last) {
    value = parse(name, statement_.text(next_++), last);
  }
  void size(const char* name, auto& values) {
    constexpr std::int64_t kMost = 1 << 20;
    const std::int64_t count = statement_.integer(next_++);
    if (count < 0 || count > kMost) return complain(name, std::to_string(count));
    values.resize(static_cast<std::size_t>(count));
  }
  void tag(auto& row) {
    const std::string_view text = statement_.text(next_++);
    row.tag_kind = parse("tag_kind", statement_.text(next_++), model::TagKind::kNamed);
    row.tag_index = static_cast<int>(statement_.integer(next_++));
    row.tag_name = tag_name(row.tag_kind, row.tag_index, text);
  }

  // "" or the first value that no version wrote.
  const std::string& problem() const { return problem_; }

 private:
  template <typename T>
  T parse(const char* name, std::string_view text, T last) {
    if (const auto value = base::enum_from_text(text, last)) return *value;
    complain(name, text);
    return last;
  }
  model::StringId tag_name(model::TagKind kind, int index, std::string_view text) const;
  void complain(const char* name, std::string_view text);

  const Statement& statement_;
  const StringIndex& strings_;
  int next_;
  std::string problem_;
};

}  // namespace shardlens::trace::store
