#include "trace/explore/row_finder.h"

#include "trace/timeline/quantity.h"

namespace shardlens::trace {

std::string share_figure(std::int64_t ns, const Step& step) {
  const auto whole = static_cast<double>(step.end_ns - step.start_ns);
  return format_percent(static_cast<double>(ns) / whole).text();
}

}  // namespace shardlens::trace
