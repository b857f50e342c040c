#include "ui/inspect/tabs/statistics_text.h"

#include <algorithm>

#include "ui/present/format.h"

namespace shardlens::ui::inspect {

using trace::timeline::StatisticsTable;

std::string_view table_title(StatisticsTable table) {
  switch (table) {
    case StatisticsTable::kKernels:
      return "Kernels";
    case StatisticsTable::kOperators:
      return "Operators";
    case StatisticsTable::kCollectives:
      return "Collectives";
    case StatisticsTable::kCopies:
      return "Copies";
    case StatisticsTable::kLaunches:
      return "Launches";
  }
  return "";
}

std::string counted(std::int64_t count, StatisticsTable table) {
  std::string word;
  switch (table) {
    case StatisticsTable::kKernels:
      word = "kernel";
      break;
    case StatisticsTable::kOperators:
      word = "operator";
      break;
    case StatisticsTable::kCollectives:
      word = "collective";
      break;
    case StatisticsTable::kCopies:
      return present::format_integer(count) + (count == 1 ? " copy" : " copies");
    case StatisticsTable::kLaunches:
      return present::format_integer(count) + (count == 1 ? " launch" : " launches");
  }
  return present::format_integer(count) + " " + word + (count == 1 ? "" : "s");
}

std::string_view group_title(trace::timeline::GroupBy group_by) {
  switch (group_by) {
    case trace::timeline::GroupBy::kName:
      return "by name";
    case trace::timeline::GroupBy::kClass:
      return "by class";
    case trace::timeline::GroupBy::kShape:
      return "by size";
    case trace::timeline::GroupBy::kUnit:
      return "by unit";
  }
  return "";
}

std::string searched_name(StatisticsTable table, const std::string& name) {
  constexpr std::string_view kBetween = " · ";
  const std::size_t at = name.find(kBetween);
  const bool has_tag = table == StatisticsTable::kCollectives && at != std::string::npos;
  return has_tag ? name.substr(at + kBetween.size()) : name;
}

std::string collective_title(std::string_view name) {
  // "reduce_scatter · blocks.6 reduce": the tag stays as it was recorded.
  std::string title(name);
  const std::size_t end = std::min(title.find(' '), title.size());
  std::replace(title.begin(), title.begin() + static_cast<std::ptrdiff_t>(end), '_', '-');
  if (!title.empty() && title.front() >= 'a' && title.front() <= 'z') {
    title.front() = static_cast<char>(title.front() - 'a' + 'A');
  }
  return title;
}

}  // namespace shardlens::ui::inspect
