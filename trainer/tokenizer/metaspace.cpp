#include "trainer/tokenizer/metaspace.h"

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::Result;

namespace {

Result<PrependScheme> parse_scheme(const Definition& definition) {
  TRY_ASSIGN(const std::string name, definition.text_or("prepend_scheme", "always"));
  if (name == "always") return PrependScheme::kAlways;
  if (name == "never") return PrependScheme::kNever;
  if (name == "first") return PrependScheme::kFirst;
  return definition.error("has the prepend_scheme '" + name.substr(0, 40) +
                          "'; known are always, never and first");
}

}  // namespace

Result<Metaspace> parse_metaspace(const Definition& definition) {
  Metaspace metaspace;
  TRY_ASSIGN(const Definition at, definition.at("replacement"));
  TRY_ASSIGN(const char32_t replacement, at.character());
  append_utf8(replacement, metaspace.replacement);
  TRY_ASSIGN(metaspace.scheme, parse_scheme(definition));
  TRY_ASSIGN(metaspace.split, definition.flag_or("split", true));
  // Of files older than prepend_scheme.
  TRY_ASSIGN(const bool prefix, definition.flag_or("add_prefix_space", true));
  if (!prefix && metaspace.scheme != PrependScheme::kNever) {
    return definition.error("has add_prefix_space false and a prepend_scheme that is not never");
  }
  return metaspace;
}

}  // namespace shardlens::trainer
