// How an encoded text lies in its file: a header, then tokens, which of them count, where each
// example begins, labels and their names, one after another. Plain values. prepare/image.py
// writes all but the header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

namespace shardlens::trainer::text {

using TokenId = std::int32_t;

// Of lines of JSON; prepare/image.py knows these numbers.
enum class TextKind : std::uint32_t {
  kPlain,       // {"text"}, and files of text
  kCompletion,  // {"prompt", "completion"}
  kChat,        // {"messages"}
  kLabeled,     // {"text", "label"}
};

inline constexpr std::uint64_t kTokenMagic = 0x534e454b4f544c53u;  // "SLTOKENS"
inline constexpr std::uint32_t kTokenVersion = 3;
inline constexpr std::uint64_t kTokensBegin = 4096;  // a page for the header

// What was met while encoding; counts of examples.
struct EncodingCounts {
  std::uint64_t bad_lines = 0;           // left out, because that was asked for
  std::uint64_t binary_files = 0;        // left out
  std::uint64_t crossed_boundaries = 0;  // a token holds the end of a prompt and what follows
};

struct TokenHeader {
  std::uint64_t magic = kTokenMagic;
  std::uint32_t version = kTokenVersion;
  TextKind kind = TextKind::kPlain;
  std::uint64_t key = 0;  // of what it was made of; see token_cache.h
  std::uint32_t token_bytes = 4;
  std::uint32_t has_mask = 0;  // else every token counts
  std::uint64_t tokens = 0;
  std::uint64_t examples = 0;
  std::uint64_t notes_bytes = 0;     // names of labels, then messages
  std::uint64_t messages_bytes = 0;  // of these: what was wrong with the first bad lines
  std::uint64_t content = 0;         // hash of everything between the header and the messages
  std::uint64_t messages = 0;        // hash of these, which name files and so differ by place
  std::int64_t largest_token = -1;
  std::int64_t largest_label = -1;
  std::uint64_t tail_tokens = 0;  // at the end of each example, that outlive its truncation
  std::int64_t end_of_text = -1;  // the tokenizer's token, or -1
  std::int64_t padding = -1;      // the same
  EncodingCounts counts;
  std::uint64_t checksum = 0;  // of the header up to here

  bool is_masked_kind() const { return kind == TextKind::kCompletion || kind == TextKind::kChat; }
  bool has_labels() const { return kind == TextKind::kLabeled; }
  std::uint64_t tokens_end() const { return kTokensBegin + tokens * token_bytes; }
  std::uint64_t mask_begin() const { return aligned(tokens_end()); }
  // A bit for each token, in words of 64.
  std::uint64_t offsets_begin() const {
    return mask_begin() + (has_mask != 0 ? (tokens + 63) / 64 * 8 : 0);
  }
  std::uint64_t labels_begin() const { return offsets_begin() + (examples + 1) * 8; }
  std::uint64_t notes_begin() const {
    return labels_begin() + (has_labels() ? aligned(examples * 4) : 0);
  }
  std::uint64_t file_bytes() const { return notes_begin() + notes_bytes; }
  std::uint64_t messages_begin() const { return file_bytes() - messages_bytes; }
  std::span<const std::byte> content_of(std::span<const std::byte> file) const {
    return file.subspan(kTokensBegin, messages_begin() - kTokensBegin);
  }

 private:
  static constexpr std::uint64_t aligned(std::uint64_t position) { return (position + 7) / 8 * 8; }
};
static_assert(std::is_trivially_copyable_v<TokenHeader>);

}  // namespace shardlens::trainer::text
