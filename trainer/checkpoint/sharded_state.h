// What strategies hand to a checkpoint and take from it: named ranges of flattened parameters with
// their optimizer state, whatever the number of ranks. The training thread.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trainer/checkpoint/checkpoint_plan.h"
#include "trainer/comm/communicator.h"

namespace shardlens::trainer::checkpoint {

// Elements [begin, end) of the flattened parameter. The tensors are contiguous, of any shape and on
// any device, with end - begin elements.
struct StatePiece {
  std::string name;
  std::vector<std::int64_t> full_sizes;
  std::int64_t begin = 0, end = 0;
  torch::Tensor value;
  torch::Tensor first_moment, second_moment;  // undefined: plain SGD, frozen, or another rank's
  double optimizer_steps = 0;
  bool writes = true;  // of equal replicas, the one that is saved, moments included

  const torch::Tensor& tensor(Slot slot) const {
    if (slot == Slot::kFirstMoment) return first_moment;
    return slot == Slot::kSecondMoment ? second_moment : value;
  }
};

struct SaveOptions {
  // What the training loop knows. Parameters, files, world size, optimizer_steps and saved_ns are
  // filled in.
  trace::job::CheckpointInfo info;
  std::int64_t keep_last = 0;  // delete older ones afterwards; 0: none
  // This rank's generator (Generator::get_state()), which another number of ranks cannot go on
  // with; undefined: not kept. Either all ranks have one or none.
  torch::Tensor generator_state;
  // Called as long as the save gets on, on ranks that wait for others, too: all may take long.
  std::function<void()> on_piece{};
};

// All ranks call it; together their writing pieces must cover every parameter exactly once. Each
// rank writes what it holds: into two files of its own (info.format "sharded"), or into the two
// that all share ("full"); all must see the same file system. Holds 16 MiB beside the tensors. It
// may take longer than a collective, as long as no rank stands still.
// Until it succeeds the checkpoints that stand are untouched. An error leaves nothing behind, a
// kill a folder with ".tmp-" in its name, which the next call removes; only if older ones cannot be
// deleted the new one stands beside the error. The same result on all ranks: the checkpoint's
// folder, or an error that names the rank. Throws c10::Error when a collective fails.
trace::base::Result<std::filesystem::path> save_checkpoint(const std::filesystem::path& checkpoints,
                                                           const SaveOptions& options,
                                                           std::span<const StatePiece> pieces,
                                                           comm::Communicator& communicator);

// Fills the tensors of `wanted` that are defined, and optimizer_steps, from a checkpoint of any
// format, strategy and number of ranks, reading what overlaps and checking all that is read. Talks
// to no other rank (agree() tells all of a failure). After an error the tensors have any values.
// kUsage names parameters that are missing or of another shape, and moments that were not saved;
// kDamaged names file and tensor. Parameters that nobody wants are check_resume()'s to find.
// `on_piece`: after each few MiB, as all may take long.
trace::base::Result<void> load_checkpoint(const trace::job::CheckpointInfo& info,
                                          std::span<StatePiece> wanted,
                                          const std::function<void()>& on_piece = nullptr);

// The generator state that this rank saved; undefined if none was kept or if the number of ranks
// was another one.
trace::base::Result<torch::Tensor> load_generator_state(const trace::job::CheckpointInfo& info,
                                                        int rank, int world_size);

}  // namespace shardlens::trainer::checkpoint
