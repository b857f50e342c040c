#include "trainer/checkpoint/checkpoint_plan.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <sstream>

#include "trace/base/checksum.h"
#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/checkpoint/checkpoint_info.h"

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

namespace {

struct Part {
  std::size_t rank = 0, piece = 0;
  std::int64_t begin = 0, end = 0;
};

// A parameter as all ranks together hold it.
struct WholeParameter {
  PieceDescription first;  // of the pieces that describe it
  std::vector<Part> parts;
  std::int64_t numel = 1;
};

tl::unexpected<trace::base::Error> cannot_save(const std::string& name, const std::string& why) {
  return fail(ErrorKind::kFailed, "cannot save a checkpoint: '" + name + "' " + why);
}

class Merge {
 public:
  Result<void> add(const PieceDescription& piece, std::size_t rank, std::size_t index) {
    const auto [at, is_new] = by_name_.try_emplace(piece.name, parameters_.size());
    if (is_new) TRY(begin_parameter(piece));
    WholeParameter& whole = parameters_[at->second];
    if (whole.first.sizes != piece.sizes) {
      return cannot_save(piece.name, "is " + trace::job::sizes_text(whole.first.sizes) +
                                         " on one rank and " + trace::job::sizes_text(piece.sizes) +
                                         " on rank " + std::to_string(rank));
    }
    if (piece.begin < 0 || piece.end < piece.begin || piece.end > whole.numel) {
      return cannot_save(piece.name, "has a range outside it on rank " + std::to_string(rank));
    }
    if (piece.begin == piece.end && whole.numel > 0) return {};
    if (whole.parts.empty()) whole.first = piece;
    if (whole.first.types != piece.types || whole.first.optimizer_steps != piece.optimizer_steps) {
      return cannot_save(piece.name, "has other types, moments or optimizer steps on rank " +
                                         std::to_string(rank) + " than on another one");
    }
    whole.parts.push_back({rank, index, piece.begin, piece.end});
    return {};
  }

  Result<std::vector<WholeParameter>> take() {
    for (WholeParameter& whole : parameters_) TRY(check_cover(whole));
    return std::move(parameters_);
  }

 private:
  Result<void> begin_parameter(const PieceDescription& piece) {
    // '@' separates a name from its range; a line describes a piece.
    if (piece.name.empty() || piece.name.find_first_of("@\n") != std::string::npos) {
      return cannot_save(piece.name, "is no name for a tensor");
    }
    WholeParameter whole;
    whole.first = piece;
    for (const std::int64_t size : piece.sizes) {
      if (size < 0 || __builtin_mul_overflow(whole.numel, size, &whole.numel)) {
        return cannot_save(piece.name, "has no shape");
      }
    }
    parameters_.push_back(std::move(whole));
    return {};
  }

  static Result<void> check_cover(WholeParameter& whole) {
    std::ranges::sort(whole.parts, {}, &Part::begin);
    std::int64_t at = 0;
    for (const Part& part : whole.parts) {
      if (part.begin < at) {
        return cannot_save(whole.first.name, "is saved twice from element " +
                                                 std::to_string(part.begin) + " on, by rank " +
                                                 std::to_string(part.rank) + " and another one");
      }
      if (part.begin > at) break;
      at = part.end;
    }
    if (at == whole.numel) return {};
    return cannot_save(whole.first.name,
                       "is saved by no rank from element " + std::to_string(at) + " on");
  }

  std::map<std::string, std::size_t> by_name_;
  std::vector<WholeParameter> parameters_;
};

// Cuts one part, whose first element is `tensor_begin` of the file's last tensor, into chunks.
void add_chunks(PlannedFile& file, const Part& part, Slot slot, std::int64_t tensor_begin) {
  const std::int64_t numel = part.end - part.begin;
  for (std::int64_t at = 0; at < numel; at += kChunkElements) {
    const std::int64_t end = std::min(numel, at + kChunkElements);
    file.chunks.push_back({file.tensors.size() - 1, tensor_begin + at, tensor_begin + end,
                           part.rank, part.piece, slot, at, 0});
  }
}

// Makes of `parts`, which follow one another, one tensor per slot, with their range in its name
// unless they are the whole.
void add_parts(std::span<PlannedFile, 2> model_and_optimizer, const WholeParameter& whole,
               std::span<const Part> parts) {
  const PieceDescription& piece = whole.first;
  const std::int64_t begin = parts.front().begin, end = parts.back().end;
  for (const Slot slot : kSlots) {
    const auto type = piece.types[static_cast<std::size_t>(slot)];
    if (!type) continue;
    PlannedFile& file = model_and_optimizer[slot == Slot::kValue ? 0 : 1];
    TensorEntry tensor{piece.name + std::string(suffix_of(slot)), *type, piece.sizes};
    if (end - begin != whole.numel) {
      tensor.name += "@" + std::to_string(begin) + ":" + std::to_string(end);
      tensor.sizes = {end - begin};
    }
    file.tensors.push_back(std::move(tensor));
    for (const Part& part : parts) add_chunks(file, part, slot, part.begin - begin);
  }
  model_and_optimizer[1].metadata[std::string(kStepsKey) + piece.name] =
      trace::base::formatted("%.17g", piece.optimizer_steps);
}

// `sharded`: two files for each rank that has pieces, otherwise two in all.
std::vector<PlannedFile> files_of(std::span<const WholeParameter> parameters, std::size_t ranks,
                                  bool sharded) {
  std::vector<PlannedFile> files;
  for (std::size_t owner = 0; owner < (sharded ? ranks : 1); ++owner) {
    const std::string suffix =
        sharded ? trace::base::formatted("_rank_%05zu_of_%05zu", owner, ranks) : "";
    for (const std::string_view prefix : {kModelPrefix, kOptimizerPrefix}) {
      PlannedFile& file = files.emplace_back();
      file.name = std::string(prefix) + suffix + ".safetensors";
      file.owner = owner;
      file.metadata = {{"format", "pt"}, {"written_by", "shardlens"}};
    }
  }
  std::set<std::size_t> owners;
  for (const WholeParameter& whole : parameters) {
    const std::span<const Part> parts(whole.parts);
    const std::size_t together = sharded ? 1 : parts.size();
    for (std::size_t i = 0; i < parts.size(); i += together) {
      const std::size_t owner = sharded ? parts[i].rank : 0;
      owners.insert(owner);
      add_parts(std::span(files).subspan(2 * owner).first<2>(), whole, parts.subspan(i, together));
    }
  }
  // Who has replicas alone need not even see the disk.
  std::erase_if(files, [&](const PlannedFile& file) { return !owners.contains(file.owner); });
  return files;
}

// Texts of headers, and of what ranks tell each other.

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

void PlannedFile::encode() {
  std::vector<std::vector<ChecksumRange>> ranges(tensors.size());
  for (const PlannedChunk& chunk : chunks) {
    ranges[chunk.tensor].push_back({chunk.begin, chunk.end, chunk.checksum});
  }
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    metadata[std::string(kChecksumsKey) + tensors[i].name] = checksums_to_text(ranges[i]);
  }
  FileLayout::encode();
}

Result<CheckpointPlan> plan_checkpoint(
    std::span<const std::vector<PieceDescription>> pieces_of_ranks, bool sharded) {
  Merge merge;
  for (std::size_t rank = 0; rank < pieces_of_ranks.size(); ++rank) {
    for (std::size_t i = 0; i < pieces_of_ranks[rank].size(); ++i) {
      TRY(merge.add(pieces_of_ranks[rank][i], rank, i));
    }
  }
  TRY_ASSIGN(const std::vector<WholeParameter> parameters, merge.take());
  CheckpointPlan plan;
  for (const WholeParameter& whole : parameters) {
    plan.parameters.push_back({whole.first.name, whole.first.sizes});
    plan.optimizer_steps = std::max(plan.optimizer_steps, whole.first.optimizer_steps);
  }
  plan.files = files_of(parameters, pieces_of_ranks.size(), sharded);
  for (PlannedFile& file : plan.files) file.encode();
  return plan;
}

}  // namespace shardlens::trainer::checkpoint
