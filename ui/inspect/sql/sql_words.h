// A query as words with their kinds, to be coloured. Free of ImGui; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace shardlens::ui::inspect {

enum class SqlWordKind : std::uint8_t { kOther, kKeyword, kText, kNumber, kComment };

struct SqlWord {
  std::size_t offset = 0, length = 0;  // bytes; together all of the query but white space
  SqlWordKind kind = SqlWordKind::kOther;
};

std::vector<SqlWord> sql_words(std::string_view query);
// Of names and numbers, in ASCII.
bool is_word_character(char c);

}  // namespace shardlens::ui::inspect
