#include "trainer/text/load_text.h"

#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "trainer/text/byte_reader.h"
#include "trainer/text/byte_tokenizer.h"
#include "trainer/text/content_hash.h"
#include "trainer/text/example_parser.h"
#include "trainer/text/text_source.h"

namespace shardlens::trainer {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kTextPiece = std::size_t{1} << 20;
constexpr std::size_t kShownBadLines = 5;
// Everything but bytes is tokenized a document at a time.
constexpr std::int64_t kLargestDocument = std::int64_t{4} << 30;
// Of the rules by which examples become tokens: entries of the cache made by others are not used.
constexpr std::uint64_t kEncodingVersion = 1;

// As grep and git decide it: a zero byte near the start.
bool is_binary(std::string_view text) {
  return text.substr(0, 8192).find('\0') != std::string_view::npos;
}

// Reads a text into a writer.
class TextLoading {
 public:
  TextLoading(const TextSource& source, const TextOptions& options, const Tokenizer& tokenizer,
              TokenWriter& writer)
      : source_(source),
        options_(options),
        writer_(writer),
        encoder_(tokenizer, options.encoding, writer),
        cuts_anywhere_(dynamic_cast<const ByteTokenizer*>(&tokenizer) != nullptr) {}

  trace::Result<MappedImage> run(std::uint64_t key) {
    for (const fs::path& file : source_.files) {
      TRY(source_.json_lines ? add_lines(file) : add_document(file));
    }
    TRY(check_not_empty());
    const std::vector<std::string> names = encoder_.finish();
    return writer_.finish(key, names, bad_lines_);
  }

 private:
  trace::Result<void> add_document(const fs::path& file) {
    TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
    if (!cuts_anywhere_) return add_whole_document(file, reader);
    TRY_ASSIGN(std::string_view piece, reader.read(kTextPiece));
    if (piece.empty()) return {};
    if (is_binary(piece)) {
      ++writer_.counts().binary_files;
      return {};
    }
    while (!piece.empty()) {
      TRY(encoder_.add_piece(piece));
      TRY_ASSIGN(piece, reader.read(kTextPiece));
    }
    return encoder_.end_document();
  }

  trace::Result<void> add_whole_document(const fs::path& file, ByteReader& reader) {
    if (reader.size() > kLargestDocument) {
      return trace::fail(trace::ErrorKind::kUsage,
                         "The text \"" + file.string() + "\" has " +
                             std::to_string(reader.size() >> 20) +
                             " MiB; a document of at most 4096 MiB can be tokenized. Split it, or "
                             "write it as JSON Lines.");
    }
    TextExample document;
    TRY_ASSIGN(document.text, reader.read_rest());
    if (is_binary(document.text)) ++writer_.counts().binary_files;
    if (document.text.empty() || is_binary(document.text)) return {};
    return encoder_.add(document);
  }

  trace::Result<void> add_lines(const fs::path& file) {
    TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
    LineReader lines(std::move(reader));
    while (true) {
      TRY_ASSIGN(const bool is_line, lines.next());
      if (!is_line) return {};
      if (lines.line().find_first_not_of(" \t\r") == std::string_view::npos) continue;
      auto added = add_line(lines.line());
      if (added) continue;
      trace::Error error = std::move(added.error());
      if (error.kind != trace::ErrorKind::kUsage) return tl::make_unexpected(std::move(error));
      // Without a first line that says what the lines are there is nothing to leave one out of.
      const bool may_skip = options_.skip_bad_lines && (kind_ || !parser_.knew_no_key());
      error.message = place(file, lines.number()) + ": " + error.message;
      if (!may_skip) return refused(std::move(error), options_.skip_bad_lines);
      ++writer_.counts().bad_lines;
      if (bad_lines_.size() < kShownBadLines) bad_lines_.push_back(std::move(error.message));
    }
  }

  trace::Result<void> add_line(std::string_view line) {
    TRY_ASSIGN(const TextExample example, parser_.parse(line, kind_));
    TRY(encoder_.add(example));
    kind_ = example.kind;
    return {};
  }

  static std::string place(const fs::path& file, std::int64_t line) {
    return file.string() + ":" + std::to_string(line);
  }

  static tl::unexpected<trace::Error> refused(trace::Error error, bool skips) {
    error.message += skips ? ". Mend the line."
                           : ". Mend the line, or set on_bad_lines to skip to leave out lines that "
                             "cannot be used.";
    return tl::make_unexpected(std::move(error));
  }

  trace::Result<void> check_not_empty() const {
    if (writer_.examples() > 0) return {};
    std::string why = " is empty";
    if (writer_.counts().binary_files > 0) why = " is binary";
    if (!bad_lines_.empty()) {
      why = " has no line that can be used; the first: " + bad_lines_.front();
    }
    return trace::fail(trace::ErrorKind::kUsage,
                       "The text \"" + options_.data + "\"" + why +
                           ". Set data to a text file, a folder of text files, JSON Lines, or "
                           "builtin.");
  }

  const TextSource& source_;
  const TextOptions& options_;
  TokenWriter& writer_;
  TextEncoder encoder_;
  const bool cuts_anywhere_;
  ExampleParser parser_;
  std::optional<TextKind> kind_;
  std::vector<std::string> bad_lines_;
};

std::uint64_t total_bytes(const TextSource& source) {
  std::uint64_t total = 0;
  for (const fs::path& file : source.files) {
    std::error_code error;
    const auto size = fs::file_size(file, error);
    if (!error) total += size;
  }
  return total;
}

trace::Result<void> add_content(const fs::path& file, ContentHash& key) {
  TRY_ASSIGN(ByteReader reader, ByteReader::open(file));
  ContentHash content;
  while (true) {
    TRY_ASSIGN(const std::string_view piece, reader.read(kTextPiece));
    if (piece.empty()) break;
    content.update(piece);
  }
  key.update_number(content.digest());
  return {};
}

// Of everything that decides about tokens; where a file lies and when it was written does not, but
// messages about bad lines name it.
trace::Result<std::uint64_t> key_of(const TextSource& source, const TextOptions& options,
                                    const Tokenizer& tokenizer) {
  ContentHash key;
  key.update_number(kEncodingVersion);
  key.update_field(tokenizer.fingerprint());
  key.update_number(static_cast<std::uint64_t>(tokenizer.vocabulary()));
  key.update_number(source.json_lines ? 1 : 0);
  if (source.json_lines) {
    const EncodingOptions& encoding = options.encoding;
    key.update_number(encoding.completion_only_loss ? 1 : 0);
    key.update_number(static_cast<std::uint64_t>(encoding.classes));
    for (const auto& [name, number] : encoding.label_numbers) {
      key.update_field(name);
      key.update_number(static_cast<std::uint64_t>(number));
    }
    key.update_field(encoding.render ? encoding.renderer_fingerprint : "");
    key.update_number(options.skip_bad_lines ? 1 : 0);
  }
  for (const fs::path& file : source.files) TRY(add_content(file, key));
  return key.digest();
}

}  // namespace

trace::Result<EncodedText> load_text(const TextOptions& options, const Tokenizer& tokenizer,
                                     const TokenCache::Warn& warn) {
  TRY_ASSIGN(const TextSource source, find_text(options.data));
  const bool is_cached =
      !options.cache_folder.empty() && total_bytes(source) >= options.smallest_cached;
  std::uint64_t key = 0;
  if (is_cached) {
    TRY_ASSIGN(key, key_of(source, options, tokenizer));
  }
  const TokenCache cache(is_cached ? options.cache_folder : fs::path(), warn);
  return cache.get(key, tokenizer.vocabulary(),
                   [&](TokenWriter writer) -> trace::Result<MappedImage> {
                     return TextLoading(source, options, tokenizer, writer).run(key);
                   });
}

}  // namespace shardlens::trainer
