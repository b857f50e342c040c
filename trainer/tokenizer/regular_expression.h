// A regular expression of a tokenizer's file: Oniguruma, which the `tokenizers` package uses, too.
// Any thread, once compiled.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/model/result.h"

namespace shardlens::trainer {

// A part of a text, in bytes.
struct TextRange {
  std::size_t begin = 0, end = 0;
};

class RegularExpression {
 public:
  // kDamaged for a pattern that does not compile; the message shows it.
  static trace::Result<RegularExpression> compile(std::string_view pattern);

  // Replaces `matches` by all that do not overlap, from left to right. An empty match right behind
  // another one does not count. `text` is valid UTF-8. Throws std::runtime_error where the
  // expression needs more steps or memory than any sensible one does: its file could hang us else.
  void find_all(std::string_view text, std::vector<TextRange>& matches) const;

 private:
  struct Compiled;
  explicit RegularExpression(std::shared_ptr<const Compiled> compiled);

  std::shared_ptr<const Compiled> compiled_;
};

// Of the library; results may differ between versions by their Unicode data.
std::string regular_expression_version();

}  // namespace shardlens::trainer
