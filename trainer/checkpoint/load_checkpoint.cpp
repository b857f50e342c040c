
#include <algorithm>
#include <cstring>

#include "trace/base/file_system.h"
#include "trace/base/text.h"
#include "trainer/checkpoint/checkpoint_plan.h"
#include "trainer/checkpoint/sharded_state.h"
#include "trainer/checkpoint/stored_state.h"
#include "trainer/checkpoint/tensor_bytes.h"

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::quoted;
using trace::base::Result;

namespace {

constexpr std::size_t kNamedProblems = 5;

using Shapes = std::map<std::string, const trace::job::ParameterShape*>;

// "" if the parameter is there as it is wanted.
std::string shape_problem(const Shapes& shapes, const StatePiece& piece) {
  const auto there = shapes.find(piece.name);
  if (there == shapes.end()) return "'" + piece.name + "' is not in the checkpoint";
  if (there->second->sizes != piece.full_sizes) {
    return "'" + piece.name + "' is " + trace::job::sizes_text(there->second->sizes) +
           " there and " + trace::job::sizes_text(piece.full_sizes) + " here";
  }
  const bool inside =
      piece.begin >= 0 && piece.begin <= piece.end && piece.end <= there->second->numel();
  return inside ? "" : "'" + piece.name + "' is wanted in a range outside it";
}

std::string slot_problem(const StoredState& stored, const StatePiece& piece, Slot slot) {
  const torch::Tensor& tensor = piece.tensor(slot);
  const std::string name = "'" + piece.name + std::string(suffix_of(slot)) + "'";
  if (!tensor.defined() || piece.begin == piece.end) return "";
  if (!stored.holds(piece.name, slot)) return name + " was not saved";
  const auto type = stored.type_of(piece.name, slot);
  if (!type) return type.error().message;
  if (data_type_of(tensor.scalar_type()) != *type) {
    return name + " is " + std::string(name_of(*type)) + " there and another type here";
  }
  const bool fits = tensor.is_contiguous() && tensor.numel() == piece.end - piece.begin;
  return fits ? "" : name + " is not wanted as a contiguous tensor of its range's size";
}

Result<void> refuse(const trace::job::CheckpointInfo& info,
                    const std::vector<std::string>& problems) {
  if (problems.empty()) return {};
  return fail(ErrorKind::kUsage, "cannot resume from " + quoted(info.folder) + " (model '" +
                                     info.model + "', optimizer " + info.optimizer +
                                     "): " + trace::base::some_of(problems, kNamedProblems) +
                                     ". Use the settings it was saved with, or another checkpoint");
}

Result<void> fill(const StoredState& stored, const StatePiece& piece, Slot slot,
                  const std::function<void()>& on_piece) {
  const torch::Tensor& tensor = piece.tensor(slot);
  if (!tensor.defined() || piece.begin == piece.end) return {};
  const torch::NoGradGuard no_grad;
  const torch::Tensor flat = tensor.detach().view({-1});
  const auto options = torch::TensorOptions().dtype(flat.scalar_type());
  const ElementSink sink = [&](std::int64_t first, std::span<const std::byte> bytes) {
    if (on_piece) on_piece();
    const std::int64_t count = std::ssize(bytes) / flat.element_size();
    torch::Tensor target = flat.slice(0, first - piece.begin, first - piece.begin + count);
    if (target.is_cpu()) {
      std::memcpy(target.mutable_data_ptr(), bytes.data(), bytes.size());
      return;
    }
    const torch::Tensor staged = torch::empty({count}, options);
    std::memcpy(staged.mutable_data_ptr(), bytes.data(), bytes.size());
    target.copy_(staged);
  };
  return stored.read(piece.name, slot, piece.begin, piece.end, sink);
}

}  // namespace

Result<void> load_checkpoint(const trace::job::CheckpointInfo& info, std::span<StatePiece> wanted,
                             const std::function<void()>& on_piece) {
  Shapes shapes;
  for (const trace::job::ParameterShape& parameter : info.parameters)
    shapes[parameter.name] = &parameter;
  std::vector<std::string> problems;
  const auto note = [&problems](std::string problem) {
    if (!problem.empty()) problems.push_back(std::move(problem));
  };
  for (const StatePiece& piece : wanted) note(shape_problem(shapes, piece));
  TRY(refuse(info, problems));
  TRY_ASSIGN(const StoredState stored, StoredState::open(info));
  for (const StatePiece& piece : wanted) {
    for (const Slot slot : kSlots) note(slot_problem(stored, piece, slot));
  }
  TRY(refuse(info, problems));
  for (StatePiece& piece : wanted) {
    for (const Slot slot : kSlots) TRY(fill(stored, piece, slot, on_piece));
    TRY_ASSIGN(piece.optimizer_steps, stored.optimizer_steps(piece.name));
  }
  return {};
}

Result<torch::Tensor> load_generator_state(const trace::job::CheckpointInfo& info, int rank,
                                           int world_size) {
  const auto has_name = [](const trace::job::CheckpointFile& file) {
    return file.name == kRandomFile;
  };
  const bool kept = std::ranges::any_of(info.files, has_name);
  if (!kept || info.world_size != world_size) return torch::Tensor();
  TRY_ASSIGN(const SafetensorsFile file,
             SafetensorsFile::open(info.folder / std::string(kRandomFile)));
  const std::string name = "rank_" + std::to_string(rank);
  const TensorEntry* const entry = file.find(name);
  if (!entry || entry->type != DataType::kU8) {
    return fail(ErrorKind::kDamaged, quoted(file.path()) + " has no tensor '" + name +
                                         "' of bytes; the checkpoint is damaged, use another one");
  }
  torch::Tensor state = torch::empty({entry->numel()}, torch::kUInt8);
  TRY(read_verified(
      file, *entry, 0, entry->numel(), [&](std::int64_t first, std::span<const std::byte> bytes) {
        std::memcpy(writable_bytes_of_tensor(state).data() + first, bytes.data(), bytes.size());
      }));
  return state;
}

}  // namespace shardlens::trainer::checkpoint
