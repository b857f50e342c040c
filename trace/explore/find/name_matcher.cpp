#include "trace/explore/find/name_matcher.h"

#include <re2/re2.h>

namespace shardlens::trace::explore {

namespace {

// How much a compiled expression may take: nobody types one by hand that needs more.
constexpr std::int64_t kMostMemory = 8 << 20;
constexpr std::size_t kLongestPattern = 4096;

}  // namespace

base::Result<NameMatcher> NameMatcher::compile(const timeline::NamePattern& pattern) {
  NameMatcher matcher;
  if (pattern.is_plain || pattern.text.empty()) {
    matcher.plain_ = pattern.text;
    return matcher;
  }
  if (pattern.text.size() > kLongestPattern) {
    return base::fail(base::ErrorKind::kUsage,
                      "The expression is too long: " + std::to_string(pattern.text.size()) +
                          " of at most " + std::to_string(kLongestPattern) + " characters");
  }
  re2::RE2::Options options;
  options.set_max_mem(kMostMemory);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_case_sensitive(!pattern.ignores_case);
  matcher.expression_ = std::make_shared<const re2::RE2>(pattern.text, options);
  if (matcher.expression_->ok()) return matcher;
  return base::fail(base::ErrorKind::kUsage,
                    "The expression cannot be read: " + matcher.expression_->error() +
                        ". Put \\ before a character that is meant literally");
}

bool NameMatcher::matches(std::string_view name) const {
  if (!expression_) return !plain_.empty() && name == plain_;
  return re2::RE2::PartialMatch(re2::StringPiece(name.data(), name.size()), *expression_);
}

}  // namespace shardlens::trace::explore
