#include "trace/store/upkeep/redaction.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "trace/model/packed.h"
#include "trace/model/untold.h"

namespace shardlens::trace::store {

namespace {

using model::kLeftOut;

// Shorter words of a command line are in any text.
constexpr std::size_t kShortestWord = 4;
constexpr std::size_t kShortestHost = 3;
constexpr std::int64_t kLowestTellingProcess = 100;

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '-'; }

// Every whole word `word` of `text` becomes `instead`.
void replace_word(std::string& text, std::string_view word, std::string_view instead) {
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at)) {
    const auto after = at + word.size();
    const bool begins = at == 0 || !is_word(text[at - 1]);
    const bool ends = after == text.size() || !is_word(text[after]);
    if (begins && ends) text.replace(at, word.size(), instead);
    at += begins && ends ? instead.size() : 1;
  }
}

// "host-1:812:830 [0]", as NCCL begins its lines.
void leave_out_processes_behind(std::string& text, std::string_view host) {
  for (auto at = text.find(host); at != text.npos; at = text.find(host, at + 1)) {
    auto end = at + host.size();
    while (end + 1 < text.size() && text[end] == ':' &&
           std::isdigit(static_cast<unsigned char>(text[end + 1]))) {
      const auto first = end + 1;
      for (end = first; end < text.size() && std::isdigit(static_cast<unsigned char>(text[end]));) {
        ++end;
      }
      text.replace(first, end - first, "0");
      end = first + 1;
    }
  }
}

bool is_space_or(std::string_view others, char c) {
  return std::isspace(static_cast<unsigned char>(c)) || others.find(c) != others.npos;
}
bool may_precede_path(char c) { return is_space_or("'\"`=:([{,;<>|@/\\*!?&+#", c); }
bool ends_path(char c) { return is_space_or("'\"`:,;()[]{}<>|", c); }

// "-I/data/include", as compilers take folders.
bool is_option(std::string_view text) {
  return text.size() >= 2 && text[text.size() - 2] == '-' &&
         std::isupper(static_cast<unsigned char>(text.back())) &&
         (text.size() == 2 || is_space_or("'\",", text[text.size() - 3]));
}

bool begins_path(std::string_view text, std::size_t at) {
  if (text[at] != '/' || at + 1 == text.size()) return false;
  // Folders of people, whatever stands before: "\n/home/name" in a text that was quoted.
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("/home/") || rest.starts_with("/Users/")) return true;
  const char next = text[at + 1];
  const bool is_name = is_word(next) || next == '.' || static_cast<unsigned char>(next) >= 0x80;
  return is_name && (at == 0 || may_precede_path(text[at - 1]) || is_option(text.substr(0, at)));
}

// Absolute paths within a text; one in quotes goes to their end.
std::string without_paths(std::string_view text) {
  std::string result;
  std::size_t at = 0;
  while (at < text.size()) {
    if (!begins_path(text, at)) {
      result += text[at++];
      continue;
    }
    const char before = at == 0 ? ' ' : text[at - 1];
    const bool is_quoted = (before == '\'' || before == '"') && text.find(before, at) != text.npos;
    std::size_t end = at;
    while (end < text.size() && (is_quoted ? text[end] != before : !ends_path(text[end]))) ++end;
    result += model::packed_path(text.substr(at, end - at));
    at = end;
  }
  return result;
}

template <auto function>
void call(sqlite3_context* context, int, sqlite3_value** values) {
  const auto& redaction = *static_cast<const Redaction*>(sqlite3_user_data(context));
  if (sqlite3_value_type(values[0]) != SQLITE_TEXT) return sqlite3_result_value(context, values[0]);
  const auto* begin = reinterpret_cast<const char*>(sqlite3_value_text(values[0]));
  const std::string_view text(begin, static_cast<std::size_t>(sqlite3_value_bytes(values[0])));
  const std::string result = function(redaction, text);
  sqlite3_result_text64(context, result.data(), result.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}

base::Result<void> add_function(Database& connection, const Redaction& redaction, const char* name,
                                void (*function)(sqlite3_context*, int, sqlite3_value**)) {
  return connection.check(sqlite3_create_function_v2(connection.get(), name, 1, SQLITE_UTF8,
                                                     const_cast<Redaction*>(&redaction), function,
                                                     nullptr, nullptr, nullptr));
}

// Values of options and further arguments; not the options' names.
std::vector<std::string> words_of_command(std::string_view command) {
  std::vector<std::string> words;
  std::string word;
  for (std::size_t i = 0; i <= command.size(); ++i) {
    const bool ends = i == command.size() || is_space_or("=,'\"", command[i]);
    if (!ends) {
      word += command[i];
      continue;
    }
    if (word.size() >= kShortestWord && !word.starts_with("--")) words.push_back(word);
    word.clear();
  }
  return words;
}

}  // namespace

base::Result<Redaction> Redaction::of(const std::vector<Database*>& files) {
  Redaction redaction;
  std::set<std::string> hosts, words;
  for (Database* file : files) {
    TRY(file->for_each_row("select host, process_id from rank order by rank",
                           [&](const Statement& row) {
                             hosts.emplace(row.text(0));
                             if (row.integer(1) >= kLowestTellingProcess)
                               words.insert(std::to_string(row.integer(1)));
                           }));
    TRY(file->for_each_row("select value from meta where key = 'command'",
                           [&](const Statement& row) {
                             for (std::string& word : words_of_command(row.text(0)))
                               words.insert(std::move(word));
                           }));
  }
  for (const std::string& host : hosts) {
    if (!host.empty())
      redaction.hosts_[host] =
          std::string(model::kPackedHost) + std::to_string(redaction.hosts_.size() + 1);
  }
  // With and without its domain.
  for (const std::string& host : hosts) {
    const std::string first = host.substr(0, host.find('.'));
    if (first.size() >= kShortestHost) redaction.hosts_.emplace(first, redaction.hosts_[host]);
  }
  redaction.words_.assign(words.begin(), words.end());
  // The longest first: one may begin another.
  std::ranges::sort(redaction.words_,
                    [](const auto& a, const auto& b) { return a.size() > b.size(); });
  return redaction;
}

std::string Redaction::host(std::string_view host) const {
  const auto found = hosts_.find(host);
  return found == hosts_.end() ? std::string() : found->second;
}

std::string Redaction::name(std::string_view name) const {
  if (name == model::kClosedInOrder) return std::string(name);  // whatever a host is called
  const bool has_path = name.find('/') != name.npos;
  std::string result = has_path ? without_paths(name) : std::string(name);
  for (auto trace = model::untold_trace_name(result); !trace.empty();
       trace = model::untold_trace_name(result)) {
    result.replace(result.find(trace), trace.size(), kLeftOut);
  }
  // The longest first: one may begin another.
  for (auto each = hosts_.rbegin(); each != hosts_.rend(); ++each) {
    const auto& [host, instead] = *each;
    if (host.size() < kShortestHost || result == host || result.find(host) == result.npos) {
      continue;
    };
    replace_word(result, host, instead);
    leave_out_processes_behind(result, instead);
  }
  return result;
}

std::string Redaction::text(std::string_view text) const {
  // Words first, since a path may be one.
  std::string result(text);
  for (const std::string& word : words_) replace_word(result, word, kLeftOut);
  return name(result);
}

base::Result<void> Redaction::add_functions(Database& connection) const {
  TRY(add_function(connection, *this, "redacted_text",
                   call<[](const Redaction& by, std::string_view text) { return by.text(text); }>));
  TRY(add_function(connection, *this, "redacted_name",
                   call<[](const Redaction& by, std::string_view text) { return by.name(text); }>));
  TRY(add_function(connection, *this, "redacted_sources",
                   call<[](const Redaction& by, std::string_view text) {
                     return by.name(model::packed_sources(text));
                   }>));
  TRY(add_function(
      connection, *this, "redacted_path",
      call<[](const Redaction&, std::string_view text) { return model::packed_path(text); }>));
  return add_function(
      connection, *this, "redacted_host",
      call<[](const Redaction& by, std::string_view text) { return by.host(text); }>);
}

std::string redacted_column(std::string_view table, const Column& column) {
  const std::string& name = column.name;
  const auto by = [&](const char* function) { return std::string(function) + "(" + name + ")"; };
  if (table == "rank" && name == "process_id") return "null";
  if (!column.type.starts_with("TEXT") || name == "key") return name;
  if (table == "rank" && name == "host") return by("redacted_host");
  if (table == "rank" && name == "sources") return by("redacted_sources");
  if (table == "meta") {
    return "case key when 'command' then '' when 'imported_from' then redacted_path(value) "
           "when 'reason' then redacted_text(value) else redacted_name(value) end";
  }
  if (table == "setting") return by("redacted_path");
  const bool is_free = table == "log" || table == "lost" || name == "environment";
  return by(is_free ? "redacted_text" : "redacted_name");
}

}  // namespace shardlens::trace::store
