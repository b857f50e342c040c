#include "ui/inspect/tabs/statistics_text.h"

#include <algorithm>
#include <array>

#include "trace/base/text.h"
#include "ui/present/format.h"
#include "ui/state/view_preferences.h"

namespace shardlens::ui::inspect {

using trace::timeline::StatisticsTable;

namespace {

struct TableWords {
  std::string_view one, many;
};

const TableWords& words_of(StatisticsTable table) {
  static constexpr std::array<TableWords, 5> kWords{{{"kernel", "kernels"},
                                                     {"operator", "operators"},
                                                     {"collective", "collectives"},
                                                     {"copy", "copies"},
                                                     {"launch", "launches"}}};
  return kWords[static_cast<std::size_t>(table)];
}

}  // namespace

std::string_view table_title(StatisticsTable table) {
  return state::tab_title(static_cast<state::InspectTab>(table));
}

std::string counted(std::int64_t count, StatisticsTable table) {
  const TableWords& words = words_of(table);
  return present::format_integer(count) + " " + std::string(count == 1 ? words.one : words.many);
}

std::string_view group_title(trace::timeline::GroupBy group_by) {
  using trace::timeline::GroupBy;
  constexpr std::array<std::string_view, 4> kTitles{"by name", "by class", "by size", "by unit"};
  return trace::base::enum_name<GroupBy::kUnit>(kTitles, group_by);
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
