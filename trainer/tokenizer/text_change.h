// What normalizers that go through a text character by character share. Any thread.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

// Puts what `change` makes of it in the place of the text; what stems from the document's first
// character is as long as what `change` makes of that part alone.
template <typename Change>
void change_all(NormalizedText& text, Change&& change) {
  const std::string_view whole = text.text;
  const std::size_t from_start = change(whole.substr(0, text.from_start)).size();
  text.text = change(whole);
  text.from_start = std::min(from_start, text.text.size());
}

template <typename Keep>
std::string filtered(std::string_view text, Keep&& keep) {
  std::string kept;
  kept.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t begin = at;
    if (keep(next_code_point(text, at))) kept.append(text.substr(begin, at - begin));
  }
  return kept;
}

}  // namespace shardlens::trainer
