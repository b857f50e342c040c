// Which names a pattern means. RE2 takes time linear in the text, whatever the expression. Any
// thread.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "trace/base/result.h"
#include "trace/timeline/values/name_hits.h"

namespace re2 {
class RE2;
}

namespace shardlens::trace::explore {

class NameMatcher {
 public:
  // Errors: kUsage, in words for who typed it.
  static base::Result<NameMatcher> compile(const timeline::NamePattern& pattern);

  // An expression anywhere in the name, a plain pattern the whole of it. No text matches nothing.
  bool matches(std::string_view name) const;
  bool is_plain() const { return expression_ == nullptr; }

 private:
  NameMatcher() = default;

  std::string plain_;
  std::shared_ptr<const re2::RE2> expression_;  // none: a plain pattern
};

}  // namespace shardlens::trace::explore
