// The texts of a checkpoint's headers and of what ranks tell each other.
#include <charconv>
#include <sstream>

#include "trace/base/checksum.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trainer/checkpoint/checkpoint_plan.h"

namespace shardlens::trainer::checkpoint {

namespace {

// The number at the beginning of `text`, which is then cut off together with `separator`.
std::optional<std::int64_t> take_number(std::string_view& text, char separator) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto used = static_cast<std::size_t>(end - text.data());
  if (error != std::errc() || number < 0) return std::nullopt;
  if (separator != '\0' && (used == text.size() || text[used] != separator)) return std::nullopt;
  text.remove_prefix(used + (separator == '\0' ? 0 : 1));
  return number;
}

std::optional<PieceDescription> piece_from_line(const std::string& line) {
  std::istringstream in(line);
  PieceDescription piece;
  for (std::optional<DataType>& type : piece.types) {
    std::string name;
    in >> name;
    type = data_type_from(name);
  }
  std::string steps;
  std::size_t dimensions = 0;
  in >> piece.begin >> piece.end >> steps >> dimensions;
  for (std::size_t i = 0; in && i < dimensions; ++i) in >> piece.sizes.emplace_back();
  in.ignore(1);
  std::getline(in, piece.name);
  const auto taken = trace::base::number_from<decltype(piece.optimizer_steps)>(steps);
  if (in.fail() || !taken) return std::nullopt;
  piece.optimizer_steps = *taken;
  return piece;
}

}  // namespace

std::string_view suffix_of(Slot slot) {
  switch (slot) {
    case Slot::kValue:
      return "";
    case Slot::kFirstMoment:
      return ".first_moment";
    case Slot::kSecondMoment:
      return ".second_moment";
  }
  return "";
}

std::string pieces_to_text(std::span<const PieceDescription> pieces) {
  std::string text;
  for (const PieceDescription& piece : pieces) {
    for (const auto& type : piece.types) text += std::string(type ? name_of(*type) : "-") + " ";
    text += std::to_string(piece.begin) + " " + std::to_string(piece.end) +
            trace::base::formatted(" %.17g ", piece.optimizer_steps) +
            std::to_string(piece.sizes.size());
    for (const std::int64_t size : piece.sizes) text += " " + std::to_string(size);
    text += " " + piece.name + "\n";
  }
  return text;
}

trace::base::Result<std::vector<PieceDescription>> pieces_from_text(const std::string& text) {
  std::vector<PieceDescription> pieces;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    auto piece = piece_from_line(line);
    if (!piece) {
      return trace::base::fail(trace::base::ErrorKind::kFailed,
                               "another rank describes its part of the checkpoint as '" + line +
                                   "': start all ranks with the same program");
    }
    pieces.push_back(std::move(*piece));
  }
  return pieces;
}

StoredName parse_stored_name(std::string_view name, bool in_optimizer_file) {
  StoredName stored;
  if (const std::size_t at = name.rfind('@'); at != std::string_view::npos) {
    std::string_view range = name.substr(at + 1);
    const auto begin = take_number(range, ':');
    const auto end = begin ? take_number(range, '\0') : std::nullopt;
    if (begin && end && range.empty()) {
      stored.range = {*begin, *end};
      name = name.substr(0, at);
    }
  }
  for (const Slot slot : {Slot::kFirstMoment, Slot::kSecondMoment}) {
    if (!in_optimizer_file || !name.ends_with(suffix_of(slot))) continue;
    stored.slot = slot;
    name.remove_suffix(suffix_of(slot).size());
    break;
  }
  stored.parameter = name;
  return stored;
}

std::string checksums_to_text(std::span<const ChecksumRange> ranges) {
  return trace::base::joined(ranges, " ", [](const ChecksumRange& range) {
    return std::to_string(range.begin) + "-" + std::to_string(range.end) + ":" +
           trace::base::checksum_text(range.checksum);
  });
}

std::optional<std::vector<ChecksumRange>> checksums_from_text(std::string_view text,
                                                              std::int64_t numel) {
  constexpr std::size_t kDigits = 16;
  std::vector<ChecksumRange> ranges;
  std::int64_t at = 0;
  while (!text.empty()) {
    const auto begin = take_number(text, '-');
    const auto end = begin ? take_number(text, ':') : std::nullopt;
    if (!end || *begin != at || *end <= *begin) return std::nullopt;
    const auto checksum = trace::base::checksum_from_text(text.substr(0, kDigits));
    if (!checksum) return std::nullopt;
    text.remove_prefix(kDigits);
    if (text.starts_with(' ') && text.size() > 1) text.remove_prefix(1);
    ranges.push_back({*begin, *end, *checksum});
    at = *end;
  }
  if (at != numel) return std::nullopt;
  return ranges;
}

}  // namespace shardlens::trainer::checkpoint
