#include "trainer/text/image/token_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/base/write_error.h"

namespace shardlens::trainer {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr std::int64_t kTwoByteVocabulary = 65536;

tl::unexpected<trace::Error> unwritable(const std::string& name, int reason) {
  return trace::fail(trace::write_error_kind(reason),
                     "\"" + name + "\" cannot be written: " + std::strerror(reason) + ".");
}

// -1: there are none.
template <typename Element>
std::int64_t largest_of(std::span<const std::byte> bytes, std::uint64_t begin,
                        std::uint64_t count) {
  const std::span elements(reinterpret_cast<const Element*>(bytes.data() + begin),
                           static_cast<std::size_t>(count));
  return elements.empty() ? -1 : std::int64_t{*std::ranges::max_element(elements)};
}

std::string joined(const std::vector<std::string>& list) {
  std::string text;
  for (const std::string& entry : list) {
    // What would end the entry or the list.
    for (const char c : entry.empty() ? std::string(" ") : entry) text += c == '\0' ? ' ' : c;
    text += '\0';
  }
  return text + '\0';
}

}  // namespace

TokenWriter::TokenWriter(int descriptor, std::string name, std::int64_t vocabulary)
    : descriptor_(descriptor),
      is_on_disk_(descriptor >= 0),
      name_(std::move(name)),
      vocabulary_(vocabulary) {
  header_.token_bytes = vocabulary <= kTwoByteVocabulary ? 2 : 4;
  buffer_.reserve(kBufferBytes + sizeof(TokenId));
}

trace::Result<TokenWriter> TokenWriter::to_file(const std::filesystem::path& file,
                                                std::int64_t vocabulary) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (descriptor < 0) return unwritable(file.string(), errno);
  return TokenWriter(descriptor, file.string(), vocabulary);
}

TokenWriter TokenWriter::to_memory(std::int64_t vocabulary) {
  return TokenWriter(-1, "memory for tokens", vocabulary);
}

TokenWriter::TokenWriter(TokenWriter&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      is_on_disk_(other.is_on_disk_),
      memory_(std::move(other.memory_)),
      name_(std::move(other.name_)),
      vocabulary_(other.vocabulary_),
      header_(other.header_),
      position_(other.position_),
      buffer_(std::move(other.buffer_)),
      content_(std::move(other.content_)),
      mask_(std::move(other.mask_)),
      offsets_(std::move(other.offsets_)),
      labels_(std::move(other.labels_)) {}

TokenWriter::~TokenWriter() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void TokenWriter::set_kind(TextKind kind) {
  header_.kind = kind;
  header_.has_mask = header_.is_masked_kind() ? 1 : 0;
}

trace::Result<void> TokenWriter::append(std::span<const TokenId> tokens, bool counted) {
  for (const TokenId token : tokens) {
    if (token < 0 || token >= vocabulary_) {
      return trace::fail(trace::ErrorKind::kFailed,
                         "The tokenizer gave token " + std::to_string(token) +
                             ", which its vocabulary of " + std::to_string(vocabulary_) +
                             " does not have. Check its files.");
    }
    const auto* bytes = reinterpret_cast<const std::byte*>(&token);  // little-endian
    buffer_.insert(buffer_.end(), bytes, bytes + header_.token_bytes);
    header_.largest_token = std::max<std::int64_t>(header_.largest_token, token);
    if (buffer_.size() >= kBufferBytes) TRY(flush());
  }
  mark(counted, tokens.size());
  header_.tokens += tokens.size();
  return {};
}

void TokenWriter::mark(bool counted, std::size_t count) {
  if (header_.has_mask == 0) return;
  mask_.resize((header_.tokens + count + 63) / 64);
  if (!counted) return;
  for (std::uint64_t i = header_.tokens; i < header_.tokens + count; ++i) {
    mask_[i / 64] |= std::uint64_t{1} << (i % 64);
  }
}

void TokenWriter::end_example(std::int64_t label) {
  offsets_.push_back(header_.tokens);
  ++header_.examples;
  if (header_.has_labels()) labels_.push_back(static_cast<std::int32_t>(label));
}

trace::Result<void> TokenWriter::write_at(std::uint64_t position,
                                          std::span<const std::byte> bytes) {
  if (descriptor_ < 0) return memory_.write_at(position, bytes);
  while (!bytes.empty()) {
    const ssize_t count =
        pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(position));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return unwritable(name_, errno);
    position += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return {};
}

trace::Result<void> TokenWriter::flush() {
  content_.update(buffer_);
  TRY(write_at(position_, buffer_));
  position_ += buffer_.size();
  buffer_.clear();
  return {};
}

trace::Result<void> TokenWriter::put(std::span<const std::byte> bytes) {
  TRY(flush());
  content_.update(bytes);
  TRY(write_at(position_, bytes));
  position_ += bytes.size();
  return {};
}

trace::Result<void> TokenWriter::pad_to(std::uint64_t position) {
  TRY(flush());
  const std::vector<std::byte> zeros(position - position_);
  return put(zeros);
}

trace::Result<MappedImage> TokenWriter::finish(std::uint64_t key,
                                               const std::vector<std::string>& label_names,
                                               const std::vector<std::string>& bad_lines) {
  const std::string notes = joined(label_names) + joined(bad_lines);
  header_.key = key;
  header_.notes_bytes = notes.size();
  for (const std::int32_t label : labels_) {
    header_.largest_label = std::max<std::int64_t>(header_.largest_label, label);
  }
  TRY(pad_to(header_.mask_begin()));
  if (header_.has_mask != 0) TRY(put(std::as_bytes(std::span(mask_))));
  TRY(put(std::as_bytes(std::span(offsets_))));
  TRY(put(std::as_bytes(std::span(labels_))));
  TRY(pad_to(header_.notes_begin()));
  TRY(put(std::as_bytes(std::span(notes))));
  header_.content = content_.digest();
  TRY(write_header());
  if (descriptor_ < 0) return memory_.to_image();
  return MappedImage::of_descriptor(descriptor_, name_);
}

trace::Result<void> TokenWriter::write_header() {
  const auto bytes = std::as_bytes(std::span(&header_, 1));
  header_.checksum = content_hash(bytes.first(offsetof(TokenHeader, checksum)));
  TRY(write_at(0, bytes));
  if (is_on_disk_ && fsync(descriptor_) != 0) return unwritable(name_, errno);
  return {};
}

trace::Result<int> TokenWriter::descriptor() {
  if (descriptor_ < 0) descriptor_ = memfd_create("tokens", MFD_CLOEXEC);
  if (descriptor_ < 0) return unwritable(name_, errno);
  return descriptor_;
}

trace::Result<MappedImage> TokenWriter::finish_written(const TokenHeader& written) {
  header_ = written;
  TRY_ASSIGN(MappedImage image, MappedImage::of_descriptor(descriptor_, name_));
  const auto bytes = image.bytes();
  if (bytes.size() != header_.file_bytes()) {
    return trace::fail(trace::ErrorKind::kFailed, "\"" + name_ + "\" was not written to its end.");
  }
  header_.largest_token = header_.token_bytes == 2
                              ? largest_of<std::uint16_t>(bytes, kTokensBegin, header_.tokens)
                              : largest_of<std::uint32_t>(bytes, kTokensBegin, header_.tokens);
  if (header_.has_labels()) {
    header_.largest_label =
        largest_of<std::int32_t>(bytes, header_.labels_begin(), header_.examples);
  }
  header_.content = content_hash(bytes.subspan(kTokensBegin));
  TRY(write_header());
  return image;
}

}  // namespace shardlens::trainer
