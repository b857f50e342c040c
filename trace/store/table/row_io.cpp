#include "trace/store/table/row_io.h"

#include "trace/base/printable.h"

namespace shardlens::trace::store {

void StringIndex::add(model::StringId id, std::string_view text) {
  texts_.insert_or_assign(id, std::string(text));
  ids_.try_emplace(std::string(text), id);
}

std::string_view StringIndex::text(model::StringId id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? std::string_view() : std::string_view(found->second);
}

model::StringId StringIndex::id(std::string_view text) const {
  if (text.empty()) return 0;
  const auto found = ids_.find(text);
  return found == ids_.end() ? 0 : found->second;
}

void RowBinder::integer_list(const char*, const std::vector<int>& values) {
  scratch_ = base::joined(values, ",");
  statement_.bind_text(next_++, scratch_);
}

void RowBinder::bind_tag(model::TagKind kind, int index, model::StringId name) {
  scratch_.clear();
  switch (kind) {
    case model::TagKind::kNone:
      break;
    case model::TagKind::kBucket:
      scratch_ = "bucket " + std::to_string(index);
      break;
    case model::TagKind::kUnit:
      scratch_ = "unit " + (name ? std::string(strings_.text(name)) : std::to_string(index));
      break;
    case model::TagKind::kNamed:
      scratch_ = strings_.text(name);
      break;
  }
  statement_.bind_text(next_++, scratch_);
  statement_.bind_text(next_++, model::to_string(kind));
  statement_.bind(next_++, std::int64_t{index});
}

model::StringId RowScanner::tag_name(model::TagKind kind, int index, std::string_view text) const {
  constexpr std::string_view kUnit = "unit ";
  switch (kind) {
    case model::TagKind::kNone:
    case model::TagKind::kBucket:
      return 0;
    case model::TagKind::kUnit:
      if (!text.starts_with(kUnit)) return 0;
      text.remove_prefix(kUnit.size());
      return text == std::to_string(index) ? 0 : strings_.id(text);
    case model::TagKind::kNamed:
      return strings_.id(text);
  }
  return 0;
}

void RowScanner::integer_list(const char* name, std::vector<int>& values) {
  const std::string_view text = statement_.text(next_++);
  values.clear();
  const char* position = text.data();
  const char* end = position + text.size();
  while (position != end) {
    int value = 0;
    const auto [after, error] = std::from_chars(position, end, value);
    if (error != std::errc() || (after != end && *after != ',')) return complain(name, text);
    values.push_back(value);
    position = after == end ? end : after + 1;
  }
}

void RowScanner::complain(const char* name, std::string_view text) {
  if (!problem_.empty()) return;
  problem_ = std::string(name) + " has the unknown value '" +
             base::printable_line(text.substr(0, 60)) + "'";
}

}  // namespace shardlens::trace::store
