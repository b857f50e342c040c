#include "trace/advice/facts/words.h"

#include <cstdlib>

#include "trace/base/number_text.h"
#include "trace/base/words/quantity.h"

namespace shardlens::trace::advice {

std::string time_words(double ns) { return base::format_duration(ns).text(); }

std::string size_words(std::int64_t bytes) { return base::bytes_text(bytes); }

std::string percent_words(double fraction) { return base::format_percent(fraction).text(); }

std::string count_words(std::int64_t count, std::string_view one) {
  return base::counted(count, one);
}

std::string mib_value(double mib) { return base::format_plain(mib); }

std::string memory_words(std::int64_t more_bytes) {
  if (more_bytes == 0) return "";
  return size_words(std::abs(more_bytes)) + (more_bytes > 0 ? " more" : " less") + " per rank";
}

}  // namespace shardlens::trace::advice
