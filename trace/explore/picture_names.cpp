#include "trace/explore/picture_names.h"

namespace shardlens::trace {

namespace {
constexpr std::uint32_t kUnknownName = UINT32_MAX;
}  // namespace

PictureNames::PictureNames(const EventStore& store)
    : store_(store), by_global_(store.global_name_count(), kUnknownName) {}

std::uint32_t PictureNames::number_of(std::string_view text) {
  const auto [found, is_new] =
      numbers_.try_emplace(std::string(text), static_cast<std::uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(text);
  return found->second;
}

std::uint32_t PictureNames::of_global(std::uint32_t name) {
  // Strings that came while the picture was made.
  if (name >= by_global_.size()) by_global_.resize(store_.global_name_count(), kUnknownName);
  if (name >= by_global_.size()) return 0;
  std::uint32_t& number = by_global_[name];
  if (number == kUnknownName) number = number_of(store_.global_text(name));
  return number;
}

std::uint32_t PictureNames::of_label(const RankSnapshot& rank, std::uint32_t label) {
  auto& numbers = by_label_[rank.rank];
  if (numbers.empty()) numbers.resize(rank.rows->labels.size(), kUnknownName);
  if (label >= numbers.size()) return 0;
  if (numbers[label] == kUnknownName) numbers[label] = number_of(rank.rows->labels[label]);
  return numbers[label];
}

void PictureNames::take_over(RowDraft& draft, const RankSnapshot* rank) {
  if (rank == nullptr) return;
  const auto renamed = [&](std::uint32_t name) {
    return draft.names_are_labels ? of_label(*rank, name) : of_global(name);
  };
  for (Piece& piece : draft.picture.pieces) piece.name = renamed(piece.name);
  for (ReadyPoint& point : draft.picture.ready) point.name = renamed(point.name);
}

}  // namespace shardlens::trace
