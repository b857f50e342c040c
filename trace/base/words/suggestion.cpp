#include "trace/base/words/suggestion.h"

#include <algorithm>
#include <cctype>
#include <tuple>
#include <utility>

namespace shardlens::trace::base {

namespace {

int lower(char letter) { return std::tolower(static_cast<unsigned char>(letter)); }

// The least number of insertions, deletions, substitutions and swaps of neighbours, with no letter
// touched twice (optimal string alignment); of ASCII letters whatever their case.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  before = above;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(above, row);
  }
  return above.back();
}

// Of the name's beginnings and of the parts of which it is made.
std::size_t nearest_part(std::string_view written, std::string_view name) {
  std::size_t least = edit_distance(written, name);
  for (std::size_t start = 0; start < name.size();) {
    const auto end = std::min(name.find_first_of("_- ", start), name.size());
    least = std::min(least, edit_distance(written, name.substr(start, end - start)));
    // As much of the rest as was written, and a letter more or less.
    for (const int more : {-1, 0, 1}) {
      const auto length = static_cast<std::ptrdiff_t>(written.size()) + more;
      if (length < 2 || start + static_cast<std::size_t>(length) > name.size()) continue;
      const auto part = name.substr(start, static_cast<std::size_t>(length));
      least = std::min(least, edit_distance(written, part));
    }
    start = end + 1;
  }
  return least;
}

}  // namespace

std::vector<std::string_view> nearest_names(std::string_view written,
                                            std::span<const std::string_view> names,
                                            std::size_t count) {
  std::vector<std::tuple<std::size_t, std::size_t, std::size_t>> order;
  for (std::size_t i = 0; i < names.size(); ++i) {
    order.emplace_back(nearest_part(written, names[i]), edit_distance(written, names[i]), i);
  }
  const auto shown = std::min(count, order.size());
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end());
  std::vector<std::string_view> nearest;
  for (std::size_t i = 0; i < shown; ++i) nearest.push_back(names[std::get<2>(order[i])]);
  return nearest;
}

bool is_near(std::string_view written, std::string_view name) {
  return nearest_part(written, name) * 3 <= std::min(written.size(), name.size());
}

}  // namespace shardlens::trace::base
