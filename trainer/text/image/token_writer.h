// Writes an encoded text: tokens to the disk as they come, the rest, which is small, at the end.
// One thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trainer/text/image/content_hash.h"
#include "trainer/text/image/growing_memory.h"
#include "trainer/text/image/mapped_image.h"
#include "trainer/text/image/token_layout.h"

namespace shardlens::trainer {

class TokenWriter {
 public:
  // Replaces the file. Two bytes per token where `vocabulary` allows.
  static trace::Result<TokenWriter> to_file(const std::filesystem::path& file,
                                            std::int64_t vocabulary);
  // Memory that lives as long as its image.
  static TokenWriter to_memory(std::int64_t vocabulary);
  TokenWriter(TokenWriter&& other) noexcept;
  TokenWriter& operator=(TokenWriter&&) = delete;
  ~TokenWriter();

  // Before the first token. Only kCompletion and kChat have a mask.
  void set_kind(TextKind kind);
  void set_end_of_text(TokenId token) { header_.end_of_text = token; }
  void set_tail_tokens(std::int64_t count) { header_.tail_tokens = count; }
  // Errors: kDiskFull, kIo; kFailed for a token that is not in the vocabulary.
  trace::Result<void> append(std::span<const TokenId> tokens, bool counted = true);
  // The tokens since the last one are an example.
  void end_example(std::int64_t label = -1);
  EncodingCounts& counts() { return header_.counts; }
  std::int64_t examples() const { return static_cast<std::int64_t>(header_.examples); }
  std::int64_t tokens() const { return static_cast<std::int64_t>(header_.tokens); }

  // What it was made of, and what the reader should know; the file is whole and on the disk then.
  trace::Result<MappedImage> finish(std::uint64_t key, const std::vector<std::string>& label_names,
                                    const std::vector<std::string>& bad_lines);

  // Instead of all that, for a program that writes everything behind the header itself: the file to
  // write to, and what the header is to say of it.
  trace::Result<int> descriptor();
  trace::Result<MappedImage> finish_written(const TokenHeader& written);

 private:
  TokenWriter(int descriptor, std::string name, std::int64_t vocabulary);
  trace::Result<void> put(std::span<const std::byte> bytes);
  trace::Result<void> flush();
  trace::Result<void> write_at(std::uint64_t position, std::span<const std::byte> bytes);
  trace::Result<void> pad_to(std::uint64_t position);
  void mark(bool counted, std::size_t count);
  trace::Result<void> write_header();

  int descriptor_ = -1;  // of the file; none: it goes into memory_
  bool is_on_disk_;
  GrowingMemory memory_;
  std::string name_;
  std::int64_t vocabulary_;
  TokenHeader header_;
  std::uint64_t position_ = kTokensBegin;  // in the file, of buffer_'s first byte
  std::vector<std::byte> buffer_;
  ContentHash content_;
  std::vector<std::uint64_t> mask_;
  std::vector<std::uint64_t> offsets_{0};
  std::vector<std::int32_t> labels_;
};

}  // namespace shardlens::trainer
