#include "trainer/text/load_text.h"

#include <array>
#include <system_error>
#include <vector>

#include "trainer/text/byte_reader.h"
#include "trainer/text/image/content_hash.h"
#include "trainer/text/prepared_text.h"
#include "trainer/text/text_source.h"

namespace shardlens::trainer::text {

namespace fs = std::filesystem;

namespace {

using ByteToken = std::uint16_t;
constexpr std::size_t kTextPiece = std::size_t{1} << 20;

// As grep and git decide it: a zero byte near the start.
bool is_binary(std::string_view text) {
  return text.substr(0, 8192).find('\0') != std::string_view::npos;
}

tl::unexpected<trace::base::Error> nothing_in(const std::string& data, bool is_binary) {
  return trace::base::fail(trace::base::ErrorKind::kUsage,
                           "The text \"" + data + (is_binary ? "\" is binary" : "\" is empty") +
                               ". Name a text file, a folder of text files, JSON Lines, or "
                               "builtin.");
}

trace::base::Result<void> check_not_stopped(const TextProgramOptions& program,
                                            const fs::path& file) {
  if (!program.is_stopped || !program.is_stopped()) return {};
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "Reading the text \"" + file.string() + "\" was stopped.");
}

// Adds an example; none for a file that is empty or binary.
trace::base::Result<void> add_bytes(const fs::path& file, const TextProgramOptions& program,
                                    TokenFile& image, TokenHeader& header) {
  TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
  TRY_ASSIGN(std::string_view piece, reader.read(kTextPiece));
  if (piece.empty()) return {};
  if (is_binary(piece)) {
    ++header.counts.binary_files;
    return {};
  }
  std::vector<ByteToken> tokens;
  while (!piece.empty()) {
    TRY(check_not_stopped(program, file));
    const auto* const bytes = reinterpret_cast<const unsigned char*>(piece.data());
    tokens.assign(bytes, bytes + piece.size());
    header.tokens += tokens.size();
    TRY(image.append(std::as_bytes(std::span(tokens))));
    TRY_ASSIGN(piece, reader.read(kTextPiece));
  }
  const ByteToken end = kEndOfBytes;
  TRY(image.append(std::as_bytes(std::span(&end, 1))));
  ++header.tokens;
  ++header.examples;
  return {};
}

// Documents as they are, which needs no other program.
trace::base::Result<MappedImage> bytes_of(const TextOptions& options, const TextSource& source,
                                          std::uint64_t key, TokenFile& image) {
  TokenHeader header;
  header.key = key;
  header.token_bytes = sizeof(ByteToken);
  header.end_of_text = kEndOfBytes;
  std::vector<std::uint64_t> offsets{0};
  for (const fs::path& file : source.files) {
    TRY(add_bytes(file, options.program, image, header));
    if (header.tokens > offsets.back()) offsets.push_back(header.tokens);
  }
  if (header.examples == 0) return nothing_in(options.data, header.counts.binary_files > 0);
  const std::vector<std::byte> padding(header.mask_begin() - header.tokens_end());
  const std::array<std::byte, 2> no_notes{};
  header.notes_bytes = no_notes.size();
  TRY(image.append(padding));
  TRY(image.append(std::as_bytes(std::span(offsets))));
  TRY(image.append(no_notes));
  return image.finish(header);
}

std::uint64_t total_bytes(const TextSource& source) {
  std::uint64_t total = 0;
  for (const fs::path& file : source.files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) total += size;
  }
  return total;
}

trace::base::Result<void> add_content(const fs::path& file, const TextProgramOptions& program,
                                      ContentHash& key) {
  TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
  ContentHash content;
  while (true) {
    TRY(check_not_stopped(program, file));
    TRY_ASSIGN(const std::string_view piece, reader.read(kTextPiece));
    if (piece.empty()) break;
    content.update(piece);
  }
  key.update_number(content.digest());
  return {};
}

// Of everything that decides about tokens; where a file lies and when it was written does not, but
// messages about bad lines name it.
trace::base::Result<std::uint64_t> key_of(const TextSource& source, const TextOptions& text) {
  const PreparationOptions& options = text.preparation;
  ContentHash key;
  TRY_ASSIGN(const std::uint64_t fingerprint, fingerprint_of(options));
  key.update_number(fingerprint);
  key.update_number(source.json_lines ? 1 : 0);
  if (source.json_lines) {
    key.update_number(options.completion_only_loss ? 1 : 0);
    key.update_number(static_cast<std::uint64_t>(options.classes));
    for (const auto& [name, number] : options.label_numbers) {
      key.update_field(name);
      key.update_number(static_cast<std::uint64_t>(number));
    }
    key.update_number(options.skip_bad_lines ? 1 : 0);
  }
  for (const fs::path& file : source.files) TRY(add_content(file, text.program, key));
  return key.digest();
}

// Whether C++ alone can prepare the text: a document of bytes.
bool needs_no_program(const TextSource& source, const PreparationOptions& options) {
  return options.tokenizer.empty() && !source.json_lines;
}

}  // namespace

trace::base::Result<EncodedText> load_text(const TextOptions& options,
                                           const TokenCache::Warn& warn) {
  TRY_ASSIGN(const TextSource source, find_text(options.data));
  if (!source.warning.empty()) warn(source.warning);
  const bool is_bytes = needs_no_program(source, options.preparation);
  // Starting the program takes longer than writing the file.
  const bool is_cached = !options.cache_folder.empty() &&
                         (!is_bytes || total_bytes(source) >= options.smallest_cached);
  std::uint64_t key = 0;
  if (is_cached) {
    TRY_ASSIGN(key, key_of(source, options));
  }
  const TokenCache cache(is_cached ? options.cache_folder : fs::path(), warn,
                         options.program.is_stopped);
  return cache.get(key, [&](TokenFile& image) {
    if (is_bytes) return bytes_of(options, source, key, image);
    return prepare_text(options.data, source, options.preparation, options.program, key, image);
  });
}

trace::base::Result<std::vector<TokenId>> load_prompt(const std::string& text,
                                                      const TextOptions& options,
                                                      const TokenCache::Warn& warn) {
  if (options.preparation.tokenizer.empty()) return byte_tokens(text);
  ContentHash hash;
  hash.update_field("prompt");
  hash.update_field(text);
  TRY_ASSIGN(const std::uint64_t fingerprint, fingerprint_of(options.preparation));
  hash.update_number(fingerprint);
  const std::uint64_t key = hash.digest();
  TRY_ASSIGN(const EncodedText encoded,
             TokenCache(options.cache_folder, warn, options.program.is_stopped)
                 .get(key, [&](TokenFile& image) {
                   return prepare_prompt(text, options.preparation, options.program, key, image);
                 }));
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(encoded.tokens()));
  encoded.copy(0, encoded.tokens(), tokens.data());
  return std::vector<TokenId>(tokens.begin(), tokens.end());
}

}  // namespace shardlens::trainer::text
