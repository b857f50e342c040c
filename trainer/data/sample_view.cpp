#include "trainer/data/sample_view.h"

#include <algorithm>
#include <utility>

namespace shardlens::trainer::data {

SampleView::SampleView(text::EncodedText text, std::int64_t length, bool is_packed)
    : text_(std::move(text)), length_(length), is_packed_(is_packed) {
  if (is_packed_) {
    count_ = std::max<std::int64_t>(0, (text_.tokens() - 1) / length_);
  } else {
    choose_examples();
  }
}

void SampleView::choose_examples() {
  for (std::int64_t i = 0; i < text_.examples(); ++i) {
    const SampleRange range = range_of_example(i);
    const std::int64_t whole = text_.begin(i + 1) - text_.begin(i);
    const std::int64_t targets = text_.kind() == text::TextKind::kLabeled ? 0 : 1;
    if (range.width() + targets < whole) ++counts_.cut;
    if (counted_in(range) > 0) {
      examples_.push_back(i);
    } else {
      ++counts_.left_out;
    }
  }
  count_ = static_cast<std::int64_t>(examples_.size());
  if (counts_.left_out == 0) std::vector<std::int64_t>().swap(examples_);
}

SampleRange SampleView::range(std::int64_t sample) const {
  if (is_packed_) return {sample * length_, length_, 0, 0};
  return range_of_example(example_of(sample));
}

SampleRange SampleView::range_of_example(std::int64_t example) const {
  const std::int64_t begin = text_.begin(example), end = text_.begin(example + 1);
  if (text_.kind() != text::TextKind::kLabeled) {
    return {begin, std::clamp<std::int64_t>(end - begin - 1, 0, length_), 0, 0};
  }
  if (end - begin <= length_) return {begin, end - begin, 0, 0};
  const std::int64_t tail = std::min(text_.tail_tokens(), length_ - 1);
  return {begin, length_ - tail, end - tail, tail};
}

std::int64_t SampleView::counted_in(const SampleRange& range) const {
  if (text_.kind() == text::TextKind::kLabeled) return 1;
  return text_.counted(range.begin + 1, range.begin + range.inputs + 1);
}

std::int64_t SampleView::counted_targets(std::int64_t sample) const {
  return counted_in(range(sample));
}

}  // namespace shardlens::trainer::data
