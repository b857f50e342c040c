#include "trace/analysis/figures/labels.h"

#include <array>

#include "trace/base/number_text.h"
#include "trace/base/text.h"

namespace shardlens::trace::analysis {

namespace {

std::string number_text(double value, int decimals, std::string_view unit) {
  return base::formatted("%.*f ", decimals, value) + std::string(unit);
}

}  // namespace

std::string bytes_text(std::int64_t bytes) {
  constexpr std::array<std::string_view, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return number_text(value, unit == 0 || value >= 100 ? 0 : 1, kUnits[unit]);
}

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + base::listed(numbers);
}

std::string duration_text(std::int64_t nanoseconds) {
  const auto value = static_cast<double>(nanoseconds);
  if (value >= 1e9) return number_text(value / 1e9, 2, "s");
  if (value >= 1e6) return number_text(value / 1e6, 1, "ms");
  if (value >= 1e3) return number_text(value / 1e3, value >= 1e5 ? 0 : 1, "µs");
  return number_text(value, 0, "ns");
}

std::string tag_text(model::TagKind kind, int index, std::string_view name) {
  switch (kind) {
    case model::TagKind::kNone:
      return {};
    case model::TagKind::kBucket:
      return "bucket " + std::to_string(index);
    case model::TagKind::kUnit:
      return name.empty() ? "unit " + std::to_string(index) : std::string(name);
    case model::TagKind::kNamed:
      return std::string(name);
  }
  return {};
}

std::string collective_label(const model::Collective& collective, std::string_view tag_name) {
  auto tag = tag_text(collective.tag_kind, collective.tag_index, tag_name);
  return tag.empty() ? std::string(model::to_string(collective.function)) : tag;
}

}  // namespace shardlens::trace::analysis
