#include "trainer/tokenizer/token_decoder.h"

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "trainer/tokenizer/byte_alphabet.h"
#include "trainer/tokenizer/metaspace.h"
#include "trainer/tokenizer/text_normalizer.h"
#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::Result;

namespace {

using Tokens = std::vector<std::string>;

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  if (what.empty()) return;
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
}

class ByteLevelDecoder final : public TokenDecoder {
 public:
  void decode(Tokens& tokens) const override {
    std::string bytes;
    for (const std::string& token : tokens) append_bytes(token, bytes);
    tokens = {replace_invalid_utf8(bytes)};
  }

 private:
  // A token with any other character stands for itself.
  static void append_bytes(const std::string& token, std::string& bytes) {
    const std::size_t before = bytes.size();
    for (std::size_t at = 0; at < token.size();) {
      const auto byte = byte_spelled(next_code_point(token, at));
      if (!byte) {
        bytes.resize(before);
        bytes.append(token);
        return;
      }
      bytes.push_back(static_cast<char>(*byte));
    }
  }
};

class WordPieceDecoder final : public TokenDecoder {
 public:
  WordPieceDecoder(std::string prefix, bool clean) : prefix_(std::move(prefix)), clean_(clean) {}

  void decode(Tokens& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      std::string& token = tokens[i];
      if (i > 0 && token.starts_with(prefix_)) {
        token.erase(0, prefix_.size());
      } else if (i > 0) {
        token.insert(0, " ");
      }
      if (clean_) clean(token);
    }
  }

 private:
  // English typography, token by token, in the package's order.
  static void clean(std::string& token) {
    using Rule = std::pair<std::string_view, std::string_view>;
    constexpr std::array<Rule, 11> kRules{{{" .", "."},
                                           {" ?", "?"},
                                           {" !", "!"},
                                           {" ,", ","},
                                           {" ' ", "'"},
                                           {" n't", "n't"},
                                           {" 'm", "'m"},
                                           {" do not", " don't"},
                                           {" 's", "'s"},
                                           {" 've", "'ve"},
                                           {" 're", "'re"}}};
    for (const auto& [what, by] : kRules) replace_all(token, what, by);
  }

  std::string prefix_;
  bool clean_;
};

class MetaspaceDecoder final : public TokenDecoder {
 public:
  explicit MetaspaceDecoder(Metaspace metaspace) : metaspace_(std::move(metaspace)) {}

  void decode(Tokens& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool drops = i == 0 && metaspace_.scheme != PrependScheme::kNever;
      replace_all(tokens[i], metaspace_.replacement, drops ? "" : " ");
    }
  }

 private:
  Metaspace metaspace_;
};

// Tokens <0xNN> in a row are the bytes of a text, or, if they are no UTF-8, as many U+FFFD.
class ByteFallbackDecoder final : public TokenDecoder {
 public:
  void decode(Tokens& tokens) const override {
    Tokens decoded;
    std::string bytes;
    for (std::string& token : tokens) {
      if (const auto byte = byte_of(token)) {
        bytes.push_back(static_cast<char>(*byte));
        continue;
      }
      take_bytes(bytes, decoded);
      decoded.push_back(std::move(token));
    }
    take_bytes(bytes, decoded);
    tokens = std::move(decoded);
  }

 private:
  static std::optional<std::uint8_t> byte_of(std::string_view token) {
    if (token.size() != 6 || !token.starts_with("<0x") || token.back() != '>') return {};
    std::uint8_t byte = 0;
    // Rust's from_str_radix takes a plus sign.
    const char* begin = token.data() + (token[3] == '+' ? 4 : 3);
    const auto read = std::from_chars(begin, token.data() + 5, byte, 16);
    if (read.ec != std::errc() || read.ptr != token.data() + 5) return {};
    return byte;
  }

  static void take_bytes(std::string& bytes, Tokens& decoded) {
    if (bytes.empty()) return;
    if (is_utf8(bytes)) {
      decoded.push_back(bytes);
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        append_utf8(kReplacementCharacter, decoded.emplace_back());
      }
    }
    bytes.clear();
  }
};

class FuseDecoder final : public TokenDecoder {
 public:
  void decode(Tokens& tokens) const override {
    std::string text;
    for (const std::string& token : tokens) text += token;
    tokens = {std::move(text)};
  }
};

class StripDecoder final : public TokenDecoder {
 public:
  StripDecoder(std::string content, std::uint64_t start, std::uint64_t stop)
      : content_(std::move(content)), start_(start), stop_(stop) {}

  void decode(Tokens& tokens) const override {
    for (std::string& token : tokens) {
      std::size_t begin = 0, end = token.size();
      for (std::uint64_t i = 0; i < start_ && token.compare(begin, content_.size(), content_) == 0;
           ++i) {
        begin += content_.size();
      }
      for (std::uint64_t i = 0;
           i < stop_ && end >= begin + content_.size() &&
           token.compare(end - content_.size(), content_.size(), content_) == 0;
           ++i) {
        end -= content_.size();
      }
      token = token.substr(begin, end - begin);
    }
  }

 private:
  std::string content_;  // one character
  std::uint64_t start_, stop_;
};

class ReplaceDecoder final : public TokenDecoder {
 public:
  ReplaceDecoder(TextPattern pattern, std::string content)
      : pattern_(std::move(pattern)), content_(std::move(content)) {}

  void decode(Tokens& tokens) const override {
    std::vector<TextRange> matches;
    for (std::string& token : tokens) {
      if (token.empty()) continue;
      pattern_.find_all(token, matches);
      const std::size_t limit = grow_limit(token.size());
      NormalizedText text{.text = std::move(token), .limit = limit};
      replace_matches(matches, content_, text);
      token = std::move(text.text);
    }
  }

 private:
  TextPattern pattern_;
  std::string content_;
};

// Ends of words become spaces, but for the last.
class SuffixDecoder final : public TokenDecoder {
 public:
  explicit SuffixDecoder(std::string suffix) : suffix_(std::move(suffix)) {}
  void decode(Tokens& tokens) const override {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      replace_all(tokens[i], suffix_, i + 1 == tokens.size() ? "" : " ");
    }
  }

 private:
  std::string suffix_;
};

class SequenceDecoder final : public TokenDecoder {
 public:
  explicit SequenceDecoder(std::vector<std::unique_ptr<TokenDecoder>> steps)
      : steps_(std::move(steps)) {}
  void decode(Tokens& tokens) const override {
    for (const auto& step : steps_) step->decode(tokens);
  }

 private:
  std::vector<std::unique_ptr<TokenDecoder>> steps_;
};

using Made = Result<std::unique_ptr<TokenDecoder>>;

Made parse_sequence(const Definition& definition) {
  TRY_ASSIGN(const Definition list, definition.at("decoders"));
  TRY_ASSIGN(const std::vector<Definition> items, list.items());
  std::vector<std::unique_ptr<TokenDecoder>> steps;
  for (const Definition& item : items) {
    TRY_ASSIGN(auto step, parse_decoder(item));
    steps.push_back(std::move(step));
  }
  return std::make_unique<SequenceDecoder>(std::move(steps));
}

Made parse_strip(const Definition& definition) {
  TRY_ASSIGN(const Definition content, definition.at("content"));
  TRY_ASSIGN(const char32_t character, content.character());
  TRY_ASSIGN(const Definition start, definition.at("start"));
  TRY_ASSIGN(const Definition stop, definition.at("stop"));
  TRY_ASSIGN(const std::uint64_t from_start, start.count());
  TRY_ASSIGN(const std::uint64_t from_end, stop.count());
  std::string text;
  append_utf8(character, text);
  return std::make_unique<StripDecoder>(std::move(text), from_start, from_end);
}

Made parse_replace(const Definition& definition) {
  TRY_ASSIGN(TextPattern pattern, parse_pattern(definition));
  TRY_ASSIGN(const std::string_view content, definition.text("content"));
  return std::make_unique<ReplaceDecoder>(std::move(pattern), std::string(content));
}

}  // namespace

Result<std::unique_ptr<TokenDecoder>> parse_decoder(const Definition& definition) {
  TRY_ASSIGN(const std::string_view type,
             type_of(definition, "decoder",
                     {"Sequence", "ByteLevel", "WordPiece", "Metaspace", "ByteFallback", "Fuse",
                      "Strip", "Replace", "BPEDecoder"}));
  if (type == "Sequence") return parse_sequence(definition);
  if (type == "ByteLevel") return byte_level_decoder();
  if (type == "ByteFallback") return std::make_unique<ByteFallbackDecoder>();
  if (type == "Fuse") return std::make_unique<FuseDecoder>();
  if (type == "Strip") return parse_strip(definition);
  if (type == "Replace") return parse_replace(definition);
  if (type == "Metaspace") {
    TRY_ASSIGN(Metaspace metaspace, parse_metaspace(definition));
    return std::make_unique<MetaspaceDecoder>(std::move(metaspace));
  }
  if (type == "BPEDecoder") {
    TRY_ASSIGN(const std::string_view suffix, definition.text("suffix"));
    return std::make_unique<SuffixDecoder>(std::string(suffix));
  }
  TRY_ASSIGN(const std::string_view prefix, definition.text("prefix"));
  TRY_ASSIGN(const bool clean, definition.flag("cleanup"));
  return std::make_unique<WordPieceDecoder>(std::string(prefix), clean);
}

std::unique_ptr<TokenDecoder> byte_level_decoder() { return std::make_unique<ByteLevelDecoder>(); }

std::unique_ptr<TokenDecoder> word_piece_decoder() {
  return std::make_unique<WordPieceDecoder>("##", true);
}

}  // namespace shardlens::trainer
