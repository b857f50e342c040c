#include "trainer/tokenizer/pre_tokenizer.h"

#include "trainer/tokenizer/byte_alphabet.h"
#include "trainer/tokenizer/metaspace.h"
#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/unicode.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::Result;

namespace {

class PatternSplit final : public TextDivider {
 public:
  PatternSplit(TextPattern pattern, SplitBehavior behavior, bool invert)
      : pattern_(std::move(pattern)), behavior_(behavior), invert_(invert) {}

  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      pattern_.find_all(piece.text, pieces.matches);
      cover_matches(piece.text, pieces.matches, pieces.cover);
      for (MatchedRange& part : pieces.cover) part.matches = part.matches != invert_;
      pieces.add_parts(piece, behavior_);
    });
  }

 private:
  TextPattern pattern_;
  SplitBehavior behavior_;
  bool invert_;
};

class CharacterSplit final : public TextDivider {
 public:
  CharacterSplit(bool (*matches)(char32_t), SplitBehavior behavior)
      : matches_(matches), behavior_(behavior) {}

  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      cover_characters(piece.text, matches_, pieces.cover);
      pieces.add_parts(piece, behavior_);
    });
  }

 private:
  bool (*matches_)(char32_t);
  SplitBehavior behavior_;
};

class DelimiterSplit final : public TextDivider {
 public:
  explicit DelimiterSplit(char32_t delimiter) : delimiter_(delimiter) {}

  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      cover_characters(
          piece.text, [&](char32_t c) { return c == delimiter_; }, pieces.cover);
      pieces.add_parts(piece, SplitBehavior::kRemoved);
    });
  }

 private:
  char32_t delimiter_;
};

// \w+|[^\w\s]+, and what lies between is left out.
class WordRuns final : public TextDivider {
 public:
  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      std::size_t begin = 0;
      Kind kind = Kind::kSpace;
      for (std::size_t at = 0; at < piece.text.size();) {
        const std::size_t character = at;
        const Kind next = kind_of(next_code_point(piece.text, at));
        if (next == kind) continue;
        if (kind != Kind::kSpace) pieces.add(piece.part({begin, character}));
        begin = character;
        kind = next;
      }
      if (kind != Kind::kSpace) pieces.add(piece.part({begin, piece.text.size()}));
    });
  }

 private:
  enum class Kind { kSpace, kWord, kOther };
  static Kind kind_of(char32_t c) {
    return is_word(c) ? Kind::kWord : is_white_space(c) ? Kind::kSpace : Kind::kOther;
  }
};

class PrefixSpace final : public TextDivider {
 public:
  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      if (piece.text.starts_with(' ')) return pieces.add(piece);
      NormalizedText text{.text = std::string(piece.text), .from_start = piece.from_start};
      prepend(" ", text);
      pieces.add({.text = pieces.store(std::move(text.text)), .from_start = text.from_start});
    });
  }
};

class SpelledBytes final : public TextDivider {
 public:
  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      const std::size_t from_start = spelled_bytes(piece.text.substr(0, piece.from_start)).size();
      pieces.add({.text = pieces.store(spelled_bytes(piece.text)), .from_start = from_start});
    });
  }
};

class MetaspaceSplit final : public TextDivider {
 public:
  explicit MetaspaceSplit(Metaspace metaspace)
      : metaspace_(std::move(metaspace)), pattern_(metaspace_.replacement) {}

  void divide(TextPieces& pieces) const override {
    pieces.divide([&](const TextPiece& piece) {
      NormalizedText text = replaced(piece, pieces.matches);
      const bool starts = text.text.starts_with(metaspace_.replacement);
      const bool wanted = metaspace_.scheme == PrependScheme::kAlways ||
                          (metaspace_.scheme == PrependScheme::kFirst && text.from_start > 0);
      if (wanted && !starts) prepend(metaspace_.replacement, text);
      const TextPiece whole{.text = pieces.store(std::move(text.text)),
                            .from_start = text.from_start};
      if (!metaspace_.split) return pieces.add(whole);
      pattern_.find_all(whole.text, pieces.matches);
      cover_matches(whole.text, pieces.matches, pieces.cover);
      pieces.add_parts(whole, SplitBehavior::kMergedWithNext);
    });
  }

 private:
  NormalizedText replaced(const TextPiece& piece, std::vector<TextRange>& matches) const {
    NormalizedText text{.text = std::string(piece.text),
                        .from_start = piece.from_start,
                        .limit = grow_limit(piece.text.size())};
    matches.clear();
    for (std::size_t at = text.text.find(' '); at != std::string::npos;
         at = text.text.find(' ', at + 1)) {
      matches.push_back({at, at + 1});
    }
    replace_matches(matches, metaspace_.replacement, text);
    return text;
  }

  Metaspace metaspace_;
  TextPattern pattern_;  // of the replacement
};

// Of GPT-2.
constexpr std::string_view kByteLevelWords =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";

Result<SplitBehavior> parse_behavior(const Definition& definition) {
  TRY_ASSIGN(const std::string_view name, definition.text());
  if (name == "Removed") return SplitBehavior::kRemoved;
  if (name == "Isolated") return SplitBehavior::kIsolated;
  if (name == "MergedWithPrevious") return SplitBehavior::kMergedWithPrevious;
  if (name == "MergedWithNext") return SplitBehavior::kMergedWithNext;
  if (name == "Contiguous") return SplitBehavior::kContiguous;
  return definition.error("is '" + std::string(name.substr(0, 40)) +
                          "'; known are Removed, Isolated, MergedWithPrevious, MergedWithNext and "
                          "Contiguous");
}

Result<std::unique_ptr<TextDivider>> parse_split(const Definition& definition) {
  TRY_ASSIGN(TextPattern pattern, parse_pattern(definition));
  TRY_ASSIGN(const Definition behavior_at, definition.at("behavior"));
  TRY_ASSIGN(const SplitBehavior behavior, parse_behavior(behavior_at));
  TRY_ASSIGN(const bool invert, definition.flag("invert"));
  return std::make_unique<PatternSplit>(std::move(pattern), behavior, invert);
}

// Those that are one step without more ado.
Result<std::unique_ptr<TextDivider>> parse_step(const Definition& definition,
                                                std::string_view type) {
  if (type == "Split") return parse_split(definition);
  if (type == "Whitespace") return std::make_unique<WordRuns>();
  if (type == "WhitespaceSplit") {
    return std::make_unique<CharacterSplit>(is_white_space, SplitBehavior::kRemoved);
  }
  if (type == "Punctuation") {
    SplitBehavior behavior = SplitBehavior::kIsolated;
    if (const auto found = definition.find("behavior")) {
      TRY_ASSIGN(behavior, parse_behavior(*found));
    }
    return std::make_unique<CharacterSplit>(is_punctuation, behavior);
  }
  if (type == "Digits") {
    TRY_ASSIGN(const bool individual, definition.flag("individual_digits"));
    return std::make_unique<CharacterSplit>(
        is_numeric, individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous);
  }
  if (type == "CharDelimiterSplit") {
    TRY_ASSIGN(const Definition at, definition.at("delimiter"));
    TRY_ASSIGN(const char32_t delimiter, at.character());
    return std::make_unique<DelimiterSplit>(delimiter);
  }
  TRY_ASSIGN(Metaspace metaspace, parse_metaspace(definition));
  return std::make_unique<MetaspaceSplit>(std::move(metaspace));
}

}  // namespace

Result<void> PreTokenizer::add(const Definition& definition, bool last) {
  TRY_ASSIGN(
      const std::string_view type,
      type_of(definition, "pre-tokenizer",
              {"Sequence", "ByteLevel", "Split", "Whitespace", "WhitespaceSplit",
               "BertPreTokenizer", "Metaspace", "Punctuation", "Digits", "CharDelimiterSplit"}));
  if (type == "Sequence") {
    TRY_ASSIGN(const Definition list, definition.at("pretokenizers"));
    TRY_ASSIGN(const std::vector<Definition> items, list.items());
    for (const Definition& item : items) TRY(add(item, last && &item == &items.back()));
  } else if (type == "BertPreTokenizer") {
    steps_.push_back(std::make_unique<CharacterSplit>(is_white_space, SplitBehavior::kRemoved));
    steps_.push_back(std::make_unique<CharacterSplit>(is_punctuation, SplitBehavior::kIsolated));
  } else if (type == "ByteLevel") {
    TRY_ASSIGN(const bool prefix, definition.flag("add_prefix_space"));
    TRY_ASSIGN(const bool divides, definition.flag_or("use_regex", true));
    if (prefix) steps_.push_back(std::make_unique<PrefixSpace>());
    if (divides) {
      TRY_ASSIGN(RegularExpression words, RegularExpression::compile(kByteLevelWords));
      steps_.push_back(std::make_unique<PatternSplit>(TextPattern(std::move(words)),
                                                      SplitBehavior::kIsolated, false));
    }
    if (!last) steps_.push_back(std::make_unique<SpelledBytes>());
    spells_bytes_ = last;
  } else {
    TRY_ASSIGN(auto step, parse_step(definition, type));
    steps_.push_back(std::move(step));
  }
  return {};
}

Result<PreTokenizer> PreTokenizer::parse(const Definition& definition) {
  PreTokenizer made;
  TRY(made.add(definition, true));
  return made;
}

}  // namespace shardlens::trainer
