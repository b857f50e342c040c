// SentencePiece's way with spaces: they become a visible character, "▁" as a rule. What the
// pre-tokenizer and the decoder of that name share. Any thread.
#pragma once

#include <string>

#include "trainer/tokenizer/definition.h"

namespace shardlens::trainer {

enum class PrependScheme { kAlways, kNever, kFirst };

struct Metaspace {
  std::string replacement;  // one character
  PrependScheme scheme = PrependScheme::kAlways;
  bool split = true;
};

trace::Result<Metaspace> parse_metaspace(const Definition& definition);

}  // namespace shardlens::trainer
