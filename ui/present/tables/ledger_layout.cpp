#include "ui/present/tables/ledger_layout.h"

#include <algorithm>
#include <vector>

namespace shardlens::ui::present {

namespace {

constexpr float kWidestColumn = 320, kWidestName = 250;

using Columns = std::vector<LedgerColumn>;

float sum_of(const Columns& columns) {
  float total = 0;
  for (const LedgerColumn& column : columns) total += column.width;
  return total;
}

// The first to go.
Columns::iterator last_of(Columns& columns) {
  return std::min_element(
      columns.begin() + 1, columns.end(),
      [](const LedgerColumn& a, const LedgerColumn& b) { return a.priority < b.priority; });
}

// What tells runs apart is made narrower before any of it goes.
void drop_columns(Columns& columns, float width) {
  while (columns.size() > 1 && sum_of(columns) > width &&
         last_of(columns)->priority < kTellsRunsApart) {
    columns.erase(last_of(columns));
  }
  std::vector<float> wanted;
  for (LedgerColumn& column : columns) {
    wanted.push_back(column.width);
    if (sum_of(columns) > width && column.least > 0) column.width = column.least;
  }
  while (columns.size() > 1 && sum_of(columns) > width) {
    const auto last = last_of(columns);
    wanted.erase(wanted.begin() + (last - columns.begin()));
    columns.erase(last);
  }
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const float more = wanted[i] - columns[i].width;
    columns[i].width += std::clamp(width - sum_of(columns), 0.0f, std::max(0.0f, more));
  }
}

void share_what_is_left(Columns& columns, float width) {
  for (LedgerColumn& column : columns) {
    const float wanted = std::min(column.wish, kWidestColumn) - column.width;
    column.width += std::clamp(width - sum_of(columns), 0.0f, std::max(0.0f, wanted));
  }
  const float spare = std::max(0.0f, width - sum_of(columns));
  // The name gets a third, the others share the rest, so that wide windows are not half empty.
  const float each = std::min(32.0f, spare * 0.66f / static_cast<float>(columns.size()));
  for (LedgerColumn& column : columns) column.width += each;
  columns.front().width += std::min(140.0f, std::max(0.0f, width - sum_of(columns)));
}

}  // namespace

void fit_columns(LedgerTable& table, float width) {
  Columns& columns = table.columns;
  if (columns.empty()) return;
  // A run's name comes before what matters less than what tells runs apart.
  LedgerColumn& name = columns.front();
  name.width = std::max(name.width, std::min(name.wish, kWidestName));
  drop_columns(columns, width);
  share_what_is_left(columns, width);
}

}  // namespace shardlens::ui::present
