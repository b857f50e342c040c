#include "trainer/tokenizer/regular_expression.h"

#include <oniguruma.h>

#include <array>
#include <mutex>
#include <stdexcept>

#include "trainer/tokenizer/utf8.h"

namespace shardlens::trainer {

using trace::ErrorKind;
using trace::fail;
using trace::Result;

namespace {

// Steps back in one search. Oniguruma's own default for one match; the expressions of published
// tokenizers go back a few times per character at most.
constexpr unsigned long kMostRetries = 10'000'000;
constexpr unsigned long kMostRetriesPerByte = 32;
// Entries of the stack, of about 40 bytes each.
constexpr unsigned kMostStack = 4'000'000;
constexpr std::size_t kLongestPattern = 64 << 10;

const OnigUChar* bytes(std::string_view text) {
  return reinterpret_cast<const OnigUChar*>(text.data());
}

std::string message_of(int code, OnigErrorInfo* info) {
  std::array<OnigUChar, ONIG_MAX_ERROR_MESSAGE_LEN> buffer{};
  const int length = onig_error_code_to_str(buffer.data(), code, info);
  return {reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(length)};
}

std::string shown(std::string_view pattern) {
  constexpr std::size_t kMost = 120;
  std::string text(pattern.substr(0, kMost));
  return replace_invalid_utf8(text) + (pattern.size() > kMost ? "…" : "");
}

struct RegionDeleter {
  void operator()(OnigRegion* region) const { onig_region_free(region, 1); }
};
struct LimitsDeleter {
  void operator()(OnigMatchParam* limits) const { onig_free_match_param(limits); }
};
using Region = std::unique_ptr<OnigRegion, RegionDeleter>;
using Limits = std::unique_ptr<OnigMatchParam, LimitsDeleter>;

Limits limits_for(std::size_t text_bytes) {
  Limits limits(onig_new_match_param());
  onig_initialize_match_param(limits.get());
  const unsigned long retries = kMostRetries + kMostRetriesPerByte * text_bytes;
  onig_set_retry_limit_in_match_of_match_param(limits.get(), retries);
  onig_set_retry_limit_in_search_of_match_param(limits.get(), retries);
  onig_set_match_stack_limit_size_of_match_param(limits.get(), kMostStack);
  return limits;
}

}  // namespace

struct RegularExpression::Compiled {
  Compiled() = default;
  Compiled(const Compiled&) = delete;
  Compiled& operator=(const Compiled&) = delete;
  ~Compiled() {
    if (expression != nullptr) onig_free(expression);
  }

  regex_t* expression = nullptr;
  std::string pattern;
};

RegularExpression::RegularExpression(std::shared_ptr<const Compiled> compiled)
    : compiled_(std::move(compiled)) {}

Result<RegularExpression> RegularExpression::compile(std::string_view pattern) {
  if (pattern.size() > kLongestPattern) {
    return fail(ErrorKind::kDamaged, "the regular expression is " + std::to_string(pattern.size()) +
                                         " bytes long; at most " + std::to_string(kLongestPattern) +
                                         " are taken");
  }
  // Oniguruma makes tables when first used and when it compiles, without a lock of its own.
  static std::mutex compiling;
  const std::lock_guard lock(compiling);
  static const int kReady = [] {
    std::array<OnigEncoding, 1> encodings{ONIG_ENCODING_UTF8};
    return onig_initialize(encodings.data(), 1);
  }();
  auto compiled = std::make_shared<Compiled>();
  compiled->pattern = pattern;
  OnigErrorInfo info{};
  const int code =
      kReady != ONIG_NORMAL
          ? kReady
          : onig_new(&compiled->expression, bytes(pattern), bytes(pattern) + pattern.size(),
                     ONIG_OPTION_NONE, ONIG_ENCODING_UTF8, OnigDefaultSyntax, &info);
  if (code != ONIG_NORMAL) {
    compiled->expression = nullptr;
    return fail(ErrorKind::kDamaged, "the regular expression '" + shown(pattern) +
                                         "' does not compile: " + message_of(code, &info));
  }
  return RegularExpression(std::move(compiled));
}

void RegularExpression::find_all(std::string_view text, std::vector<TextRange>& matches) const {
  matches.clear();
  const Limits limits = limits_for(text.size());
  const Region region(onig_region_new());
  const OnigUChar* begin = bytes(text);
  const OnigUChar* end = begin + text.size();
  std::size_t at = 0, last_end = std::string_view::npos;
  while (at <= text.size()) {
    const int found = onig_search_with_param(compiled_->expression, begin, end, begin + at, end,
                                             region.get(), ONIG_OPTION_NONE, limits.get());
    if (found == ONIG_MISMATCH) return;
    if (found < 0) {
      throw std::runtime_error("The tokenizer's regular expression '" + shown(compiled_->pattern) +
                               "' gave up on a text of " + std::to_string(text.size()) +
                               " bytes: " + message_of(found, nullptr) +
                               ". Use the tokenizer of the model's publisher or split the text.");
    }
    const TextRange match{.begin = static_cast<std::size_t>(region->beg[0]),
                          .end = static_cast<std::size_t>(region->end[0])};
    at = match.end;
    if (match.begin == match.end && match.end == last_end) {
      at += at < text.size() ? utf8_length(text[at]) : 1;
      continue;
    }
    last_end = match.end;
    matches.push_back(match);
  }
}

std::string regular_expression_version() { return onig_version(); }

}  // namespace shardlens::trainer
