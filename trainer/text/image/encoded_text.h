// Examples as tokens, in a mapped file or in memory: what data sets are made of. Immutable and
// cheap to copy; any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trainer/text/image/token_file.h"
#include "trainer/text/image/token_layout.h"

namespace shardlens::trainer::text {

std::string_view to_string(TextKind kind);  // its keys: "prompt and completion"

class EncodedText {
 public:
  // Error kDamaged: not such a file, of another version, of another key, cut off or changed. The
  // tokens themselves are not read: check_content() does.
  static trace::base::Result<EncodedText> from(MappedImage image, std::uint64_t key);

  // Reads all of it, at the speed of memory. Error kDamaged: it is not what was written.
  trace::base::Result<void> check_content() const;

  TextKind kind() const { return header_.kind; }
  std::int64_t tokens() const { return static_cast<std::int64_t>(header_.tokens); }
  std::int64_t examples() const { return static_cast<std::int64_t>(header_.examples); }
  // Example i is tokens [begin(i), begin(i + 1)).
  std::int64_t begin(std::int64_t example) const {
    return static_cast<std::int64_t>(offsets_[static_cast<std::size_t>(example)]);
  }
  // Writes `count` tokens from `begin` on to `out`.
  void copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const;
  bool has_mask() const { return header_.has_mask != 0; }
  // Whether the token is one to learn.
  bool counts(std::int64_t token) const;
  // How many of the tokens [begin, end) are.
  std::int64_t counted(std::int64_t begin, std::int64_t end) const;
  std::int64_t label(std::int64_t example) const {
    return labels_[static_cast<std::size_t>(example)];
  }

  // What follows the text of every example (a [SEP]): truncation spares it.
  std::int64_t tail_tokens() const { return static_cast<std::int64_t>(header_.tail_tokens); }
  // Tokens of the tokenizer; -1: it has none.
  std::int64_t end_of_text() const { return header_.end_of_text; }
  std::int64_t padding() const { return header_.padding; }
  std::int64_t largest_token() const { return header_.largest_token; }
  std::int64_t largest_label() const { return header_.largest_label; }
  const EncodingCounts& encoding_counts() const { return header_.counts; }
  // Of labels that were names, in order of their numbers; else empty.
  const std::vector<std::string>& label_names() const { return label_names_; }
  // What was wrong with the first bad lines.
  const std::vector<std::string>& bad_lines() const { return bad_lines_; }
  // Equal for equal tokens, masks, examples and labels, wherever they come from.
  std::uint64_t content() const { return header_.content; }

 private:
  EncodedText() = default;
  trace::base::Result<void> bind();

  std::shared_ptr<const MappedImage> image_;
  TokenHeader header_;
  std::span<const std::uint64_t> mask_, offsets_;
  std::span<const std::int32_t> labels_;
  std::vector<std::string> label_names_, bad_lines_;
};

}  // namespace shardlens::trainer::text
