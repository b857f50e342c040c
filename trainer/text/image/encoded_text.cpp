#include "trainer/text/image/encoded_text.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <utility>

#include "trace/base/checksum.h"

namespace shardlens::trainer::text {

namespace {

constexpr std::int64_t kWordBits = 64;
// More than any disk holds; keeps sums of sizes within 64 bits.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 48;

tl::unexpected<trace::base::Error> damaged(std::string what) {
  return trace::base::fail(trace::base::ErrorKind::kDamaged, std::move(what));
}

std::uint64_t checksum_of(const TokenHeader& header) {
  return trace::base::checksum_of(
      std::as_bytes(std::span(&header, 1)).first(offsetof(TokenHeader, checksum)));
}

trace::base::Result<void> check(const TokenHeader& header, std::uint64_t key,
                                std::uint64_t file_bytes) {
  if (header.magic != kTokenMagic) return damaged("it is not a file of tokens");
  if (header.version != kTokenVersion) return damaged("it is of another version");
  if (header.checksum != checksum_of(header)) return damaged("its header is damaged");
  if (header.key != key) return damaged("it was made of something else");
  const bool is_sane = (header.token_bytes == 2 || header.token_bytes == 4) &&
                       header.kind <= TextKind::kLabeled && header.tokens < kMostElements &&
                       header.examples < kMostElements && header.notes_bytes < kMostElements &&
                       header.messages_bytes <= header.notes_bytes;
  if (!is_sane || header.file_bytes() != file_bytes) return damaged("its size is wrong");
  return {};
}

template <typename Element>
std::span<const Element> section(std::span<const std::byte> bytes, std::uint64_t begin,
                                 std::uint64_t count) {
  return {reinterpret_cast<const Element*>(bytes.data() + begin), static_cast<std::size_t>(count)};
}

// Each ends with a zero byte; an empty one ends a list.
std::vector<std::string> read_list(std::string_view& notes) {
  std::vector<std::string> list;
  while (!notes.empty()) {
    const std::string_view entry = notes.substr(0, notes.find('\0'));
    notes.remove_prefix(std::min(notes.size(), entry.size() + 1));
    if (entry.empty()) break;
    list.emplace_back(entry);
  }
  return list;
}

std::uint64_t bits_below(std::int64_t count) {
  return count >= kWordBits ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1;
}

}  // namespace

std::string_view to_string(TextKind kind) {
  switch (kind) {
    case TextKind::kPlain:
      return "text";
    case TextKind::kCompletion:
      return "prompt and completion";
    case TextKind::kChat:
      return "messages";
    case TextKind::kLabeled:
      return "text and label";
  }
  return "";
}

trace::base::Result<EncodedText> EncodedText::from(MappedImage image, std::uint64_t key) {
  EncodedText text;
  text.image_ = std::make_shared<const MappedImage>(std::move(image));
  const auto bytes = text.image_->bytes();
  if (bytes.size() < kTokensBegin) return damaged("it is cut off");
  std::memcpy(&text.header_, bytes.data(), sizeof text.header_);
  TRY(check(text.header_, key, bytes.size()));
  TRY(text.bind());
  return text;
}

trace::base::Result<void> EncodedText::bind() {
  const auto bytes = image_->bytes();
  const TokenHeader& h = header_;
  if (has_mask()) mask_ = section<std::uint64_t>(bytes, h.mask_begin(), (h.tokens + 63) / 64);
  offsets_ = section<std::uint64_t>(bytes, h.offsets_begin(), h.examples + 1);
  if (h.has_labels()) labels_ = section<std::int32_t>(bytes, h.labels_begin(), h.examples);
  const auto notes = section<char>(bytes, h.notes_begin(), h.notes_bytes);
  std::string_view rest(notes.data(), notes.size());
  label_names_ = read_list(rest);
  bad_lines_ = read_list(rest);
  if (offsets_.front() != 0 || offsets_.back() != h.tokens || !std::ranges::is_sorted(offsets_)) {
    return damaged("its examples do not follow each other");
  }
  return {};
}

trace::base::Result<void> EncodedText::check_content() const {
  const auto bytes = image_->bytes();
  const auto messages = bytes.subspan(header_.messages_begin());
  if (trace::base::checksum_of(header_.content_of(bytes)) == header_.content &&
      trace::base::checksum_of(messages) == header_.messages) {
    return {};
  }
  return damaged("its tokens are not those that were written");
}

void EncodedText::copy(std::int64_t begin, std::int64_t count, std::int64_t* out) const {
  const std::byte* tokens = image_->bytes().data() + kTokensBegin;
  if (header_.token_bytes == 2) {
    std::copy_n(reinterpret_cast<const std::uint16_t*>(tokens) + begin, count, out);
  } else {
    std::copy_n(reinterpret_cast<const std::uint32_t*>(tokens) + begin, count, out);
  }
}

bool EncodedText::counts(std::int64_t token) const {
  if (!has_mask()) return true;
  const std::uint64_t word = mask_[static_cast<std::size_t>(token / kWordBits)];
  return (word >> (token % kWordBits) & 1) != 0;
}

std::int64_t EncodedText::counted(std::int64_t begin, std::int64_t end) const {
  if (!has_mask()) return end - begin;
  std::int64_t count = 0;
  while (begin < end) {
    const std::int64_t first = begin % kWordBits;
    const std::int64_t bits = std::min(kWordBits - first, end - begin);
    const std::uint64_t word = mask_[static_cast<std::size_t>(begin / kWordBits)];
    count += std::popcount(word >> first & bits_below(bits));
    begin += bits;
  }
  return count;
}

}  // namespace shardlens::trainer::text
