// Which bytes of a checkpoint are where, and who writes them: the same on every rank. Plain values,
// no LibTorch, any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trainer/checkpoint/safetensors.h"

namespace shardlens::trainer::checkpoint {

// What is kept of a parameter: its value, in the model's files, and the optimizer's two moments.
enum class Slot { kValue, kFirstMoment, kSecondMoment };
inline constexpr std::array kSlots = {Slot::kValue, Slot::kFirstMoment, Slot::kSecondMoment};
std::string_view suffix_of(Slot slot);  // "", ".first_moment", ".second_moment"

// A range of a parameter that one rank writes.
struct PieceDescription {
  std::string name;
  std::vector<std::int64_t> sizes;  // of the whole parameter
  std::int64_t begin = 0, end = 0;
  double optimizer_steps = 0;
  std::array<std::optional<DataType>, kSlots.size()> types;  // by slot; none: it has no such tensor
};
// One line per piece, for the other ranks.
std::string pieces_to_text(std::span<const PieceDescription> pieces);
trace::base::Result<std::vector<PieceDescription>> pieces_from_text(const std::string& text);

// What is written, checked and hashed at once: elements [begin, end) of a tensor of a file.
struct PlannedChunk {
  std::size_t tensor = 0;
  std::int64_t begin = 0, end = 0;
  std::size_t rank = 0, piece = 0;  // from whose piece,
  Slot slot = Slot::kValue;         // which tensor of it,
  std::int64_t piece_begin = 0;     // from which element on
  std::uint64_t checksum = 0;       // known once it is written
};
struct PlannedFile : FileLayout {
  std::size_t owner = 0;             // the rank that writes its header
  std::vector<PlannedChunk> chunks;  // in the order of their bytes

  // With the chunks' checksums in the header, which is as long whatever they are.
  void encode();
};
struct CheckpointPlan {
  std::vector<trace::job::ParameterShape> parameters;
  std::vector<PlannedFile> files;
  double optimizer_steps = 0;  // the most of any parameter
};

// kFailed unless the ranks' pieces agree and cover every parameter exactly once.
// `sharded`: two files per rank that has pieces; otherwise two in all, which the ranks write
// together.
trace::base::Result<CheckpointPlan> plan_checkpoint(
    std::span<const std::vector<PieceDescription>> pieces_of_ranks, bool sharded);

// The most that is held in memory of one tensor: 16 MiB of fp32.
inline constexpr std::int64_t kChunkElements = std::int64_t{4} << 20;

// Names in a file: a part of a tensor is "name@begin:end", one-dimensional.
struct StoredName {
  std::string parameter;
  Slot slot = Slot::kValue;
  std::optional<std::pair<std::int64_t, std::int64_t>> range;  // none: the whole tensor
};
StoredName parse_stored_name(std::string_view name, bool in_optimizer_file);
inline constexpr std::string_view kModelPrefix = "model";
inline constexpr std::string_view kOptimizerPrefix = "optimizer";
inline constexpr std::string_view kRandomFile = "random.safetensors";
inline constexpr std::string_view kStepsKey = "optimizer_steps:";  // + a parameter's name
inline constexpr std::string_view kChecksumsKey = "checksums:";    // + a tensor's name in the file

// "0-10:<checksum> 10-20:<checksum>", the ranges of elements in order.
struct ChecksumRange {
  std::int64_t begin = 0, end = 0;
  std::uint64_t checksum = 0;
};
std::string checksums_to_text(std::span<const ChecksumRange> ranges);
// Nothing unless they cover [0, numel) exactly.
std::optional<std::vector<ChecksumRange>> checksums_from_text(std::string_view text,
                                                              std::int64_t numel);

}  // namespace shardlens::trainer::checkpoint
