// When a job saves a checkpoint and what of training goes into it, whatever the strategy. The
// training thread; all ranks call the same.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/checkpoint/checkpoint_info.h"
#include "trace/job/settings/settings.h"
#include "trainer/checkpoint/sharded_state.h"
#include "trainer/comm/communicator.h"
#include "trainer/data/batch_loader.h"
#include "trainer/optimizer/grad_scaler.h"
#include "trainer/optimizer/optimizer.h"
#include "trainer/strategy/strategy.h"

namespace shardlens::trainer::loop {

class TrainingCheckpoints {
 public:
  // What is saved and restored; outlives it.
  struct Parts {
    const trace::job::Settings& settings;
    const std::filesystem::path& run_folder;
    strategy::Strategy& strategy;
    optimizer::Optimizer& optimizer;
    data::BatchLoader& batches;
    optimizer::GradScaler& scaler;
    comm::Communicator& communicator;
    std::vector<trace::job::ParameterShape> parameters;  // that it has, of all ranks together
    std::map<std::string, std::string> meaning;          // trace::job::notes_of_meaning()
    std::vector<std::string> label_names;                // of a classifier's classes
    std::function<void()> on_piece_read;                 // on any rank, while all resume
    std::function<void()> on_piece_saved{};              // as of SaveOptions
  };
  explicit TrainingCheckpoints(Parts parts) : parts_(std::move(parts)) {}

  bool is_due(std::int64_t steps_done) const;
  // After `steps_done` steps. Returns the checkpoint's folder.
  trace::base::Result<std::filesystem::path> save(std::int64_t steps_done);

  // What the losses of is_best() are of from now on. True: the best so far was of another text,
  // which says nothing about this one, and is forgotten.
  bool forget_best_of_other_text(const std::string& text);
  // Whether an evaluation's loss, which all ranks know, is lower than any before it, those before
  // `resume` included; remembers it.
  bool is_best(double loss);
  // Why a run has no best checkpoint: "no evaluation had a lower loss than 1.2345, …", or that none
  // took place.
  std::string why_no_best() const;
  // As save(), alone in <run>/best_checkpoint.
  trace::base::Result<std::filesystem::path> save_best(std::int64_t steps_done);

  // Takes over what `resume` names: values, optimizer, data position and loss scale; random
  // numbers, too, if the number of ranks and the kind of device are the same. Returns how many
  // steps were done; 0 without `resume`. Errors, the same on all ranks: the checkpoint is damaged
  // or of another job (trace::job::check_resume).
  trace::base::Result<std::int64_t> resume();

 private:
  // What this rank needs of the checkpoint; no collective but what `on_piece` does.
  trace::base::Result<trace::job::CheckpointInfo> load(const std::function<void()>& on_piece);
  std::vector<checkpoint::StatePiece> pieces() const;
  trace::base::Result<std::filesystem::path> save_into(std::string_view folder,
                                                       std::int64_t steps_done,
                                                       std::int64_t keep_last);
  trace::job::CheckpointInfo describe(std::int64_t steps_done) const;
  trace::base::Result<void> check_labels(const trace::job::CheckpointInfo& info) const;
  void take_over(std::span<const checkpoint::StatePiece> loaded,
                 const trace::job::CheckpointInfo& info);
  // Of a job that trains adapters, whose checkpoints leave out the model they belong to. All ranks.
  const std::string& base();
  trace::base::Result<void> check_base(const trace::job::CheckpointInfo& info) const;

  Parts parts_;
  double best_loss_ = std::numeric_limits<double>::infinity();
  std::string best_text_;       // what it is of
  bool was_evaluated_ = false;  // in this run
  std::string base_;            // its fingerprint once it was asked for
};

}  // namespace shardlens::trainer::loop
