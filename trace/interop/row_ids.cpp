#include "trace/interop/row_ids.h"

namespace shardlens::trace::interop {

namespace {

constexpr std::string_view kFurtherNames = "(one of further names)";  // beyond what a run can hold

}  // namespace

model::StringId RowIds::intern(std::string_view text) {
  if (text.empty()) return 0;
  if (strings_.size() + 2 >= model::kMostStringId && !strings_.contains(std::string(text))) {
    text = kFurtherNames;
  }
  const auto [found, is_new] =
      strings_.try_emplace(std::string(text), static_cast<model::StringId>(strings_.size() + 1));
  if (is_new) string_rows_.push_back({0, found->second, found->first});
  return found->second;
}

int RowIds::lane_of(model::LaneKind kind, const std::string& name) {
  const auto [found, is_new] = lanes_.try_emplace({kind, name}, static_cast<int>(lanes_.size()));
  if (is_new) lane_rows_.push_back({0, found->second, kind, intern(name)});
  return found->second;
}

std::optional<int> RowIds::known_lane(model::LaneKind kind, const std::string& name) const {
  const auto found = lanes_.find({kind, name});
  return found == lanes_.end() ? std::nullopt : std::optional(found->second);
}

void RowIds::move_to(model::Batch& rows) {
  rows.strings = std::move(string_rows_);
  rows.lanes = std::move(lane_rows_);
  *this = {};
}

}  // namespace shardlens::trace::interop
