#include "ui/inspect/sql/sql_words.h"

#include <algorithm>
#include <array>

#include "trace/base/text.h"

namespace shardlens::ui::inspect {

namespace {

constexpr std::array<std::string_view, 57> kKeywords{
    "all",    "and",          "as",    "asc",  "avg",       "between",   "by",     "case",
    "cast",   "count",        "cross", "desc", "distinct",  "else",      "end",    "except",
    "exists", "false",        "from",  "full", "glob",      "group",     "having", "in",
    "inner",  "intersect",    "is",    "join", "lag",       "lead",      "left",   "like",
    "limit",  "materialized", "max",   "min",  "not",       "null",      "offset", "on",
    "or",     "order",        "outer", "over", "partition", "recursive", "right",  "row_number",
    "select", "sum",          "then",  "true", "union",     "using",     "when",   "where",
    "with"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool goes_on(char c) {  // of a name
  return is_word_character(c) || (static_cast<unsigned char>(c) & 0x80) != 0;
}
bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool is_keyword(std::string_view word) {
  return std::ranges::find(kKeywords, trace::base::lower_case(word)) != kKeywords.end();
}

std::size_t end_of_quote(std::string_view query, std::size_t at) {
  const std::size_t end = query.find(query[at], at + 1);
  return end == std::string_view::npos ? query.size() : end + 1;
}

std::size_t end_of_comment(std::string_view query, std::size_t at) {
  const std::string_view close = query[at] == '-' ? "\n" : "*/";
  const std::size_t end = query.find(close, at + 2);
  if (end == std::string_view::npos) return query.size();
  return query[at] == '-' ? end : end + 2;
}

template <typename Belongs>
std::size_t end_of_run(std::string_view query, std::size_t at, const Belongs& belongs) {
  while (at < query.size() && belongs(query[at])) ++at;
  return at;
}

SqlWord word_at(std::string_view query, std::size_t at) {
  const auto until = [at](std::size_t end, SqlWordKind kind) {
    return SqlWord{at, end - at, kind};
  };
  const char c = query[at];
  const std::string_view two = query.substr(at, 2);
  if (two == "--" || two == "/*") return until(end_of_comment(query, at), SqlWordKind::kComment);
  if (c == '\'') return until(end_of_quote(query, at), SqlWordKind::kText);
  if (c == '"' || c == '`') return until(end_of_quote(query, at), SqlWordKind::kOther);
  if (is_digit(c)) {
    return until(end_of_run(query, at, [](char d) { return goes_on(d) || d == '.'; }),
                 SqlWordKind::kNumber);
  }
  if (goes_on(c)) {
    const std::size_t end = end_of_run(query, at, goes_on);
    const bool keyword = is_keyword(query.substr(at, end - at));
    return until(end, keyword ? SqlWordKind::kKeyword : SqlWordKind::kOther);
  }
  return until(at + 1, SqlWordKind::kOther);
}

}  // namespace

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

std::vector<SqlWord> sql_words(std::string_view query) {
  std::vector<SqlWord> words;
  for (std::size_t at = 0; at < query.size();) {
    if (is_space(query[at])) {
      ++at;
      continue;
    }
    words.push_back(word_at(query, at));
    at += words.back().length;
  }
  return words;
}

}  // namespace shardlens::ui::inspect
