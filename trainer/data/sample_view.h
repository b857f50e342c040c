// An encoded text as samples: cut into full blocks, or one example each. Immutable; any thread.
#pragma once

#include <cstdint>
#include <vector>

#include "trainer/text/image/encoded_text.h"

namespace shardlens::trainer::data {

// Where a sample lies: its inputs are tokens [begin, begin + inputs), of which a truncated one has
// `tail` more at `tail_begin`. A language model's targets are one token further.
struct SampleRange {
  std::int64_t begin = 0, inputs = 0;
  std::int64_t tail_begin = 0, tail = 0;
  std::int64_t width() const { return inputs + tail; }
};

struct SampleCounts {
  std::int64_t cut = 0;       // examples longer than a sequence
  std::int64_t left_out = 0;  // examples without anything to learn, also because of the cut
};

class SampleView {
 public:
  // Packed: examples one after another, cut into blocks of `length` inputs; a tail shorter than a
  // block and the target after it is not used. The first token of an example is learnt from the
  // example before, if it counts at all, and attention sees that example too (TRL's packing
  // strategy "wrapped"). Else each example is a sample: at most its first `length` inputs, of a
  // classifier with what the tokenizer puts behind every text; examples without a target that
  // counts are left out.
  SampleView(text::EncodedText text, std::int64_t length, bool is_packed);

  std::int64_t count() const { return count_; }
  bool is_packed() const { return is_packed_; }
  const SampleCounts& counts() const { return counts_; }
  const text::EncodedText& text() const { return text_; }

  SampleRange range(std::int64_t sample) const;
  // How many targets count; of a classifier 1.
  std::int64_t counted_targets(std::int64_t sample) const;
  // Of a classifier.
  std::int64_t label(std::int64_t sample) const { return text_.label(example_of(sample)); }

 private:
  std::int64_t example_of(std::int64_t sample) const {
    return examples_.empty() ? sample : examples_[static_cast<std::size_t>(sample)];
  }
  SampleRange range_of_example(std::int64_t example) const;
  std::int64_t counted_in(const SampleRange& range) const;
  void choose_examples();

  text::EncodedText text_;
  std::int64_t length_;
  bool is_packed_;
  std::int64_t count_ = 0;
  std::vector<std::int64_t> examples_;  // those that are samples; empty: all
  SampleCounts counts_;
};

}  // namespace shardlens::trainer::data
