#include "trace/explore/row_finder.h"

#include "trace/timeline/quantity.h"

namespace shardlens::trace {

std::optional<std::uint32_t> index_of(const RankRows& rows, const CollectivePart& part) {
  const auto& ids = rows.collectives.ids;
  if (part.index < ids.size() && ids[part.index] == part.row) return part.index;
  const auto found = std::ranges::find(ids, part.row);
  if (found == ids.end()) return std::nullopt;
  return static_cast<std::uint32_t>(found - ids.begin());
}

std::string share_figure(std::int64_t ns, const Step& step) {
  const auto whole = static_cast<double>(step.end_ns - step.start_ns);
  return format_percent(static_cast<double>(ns) / whole).text();
}

}  // namespace shardlens::trace
