#include "trace/analysis/figures/labels.h"

namespace shardlens::trace::analysis {

std::string ranks_text(const std::vector<int>& ranks) {
  std::vector<std::string> numbers;
  for (const int rank : ranks) numbers.push_back(std::to_string(rank));
  return (ranks.size() == 1 ? "rank " : "ranks ") + base::listed(numbers);
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
