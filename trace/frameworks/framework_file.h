// What is taken home of a run, the file of another framework that it becomes with what that has no
// place for, and the command that starts it. Plain values, any thread.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

// The settings of a run, and where it ran.
struct TunedJob {
  job::Settings settings;
  std::string run;         // its name, for the first line; "": they are for the next one
  std::int64_t nodes = 1;  // `settings.ranks` are spread over them evenly; at least 1
  bool on_gpu = false;     // what `device: auto` stood for
  std::string changed{};   // what is not as in that run: "bucket_cap_mb=4"
};
// "as in the run 'base', but bucket_cap_mb=4"
std::string origin_text(const TunedJob& job);

bool computes_on_gpu(const TunedJob& job);

// What NCCL, CUDA and OpenMP read, each with a space behind it as a shell takes it: "NCCL_ALGO=Ring
// OMP_NUM_THREADS=4 "; "" where the settings say nothing.
std::string environment_words(const TunedJob& job);
// PyTorch's launcher for all ranks, up to the program: "torchrun --standalone --nproc-per-node 2 ".
std::string torchrun_words(const TunedJob& job);
// The knobs that the environment says, or that there is nothing to say of.
std::vector<std::string_view> knobs_of_environment(const TunedJob& job);

struct LeftOut {
  std::string_view knob;
  std::string value;   // as in YAML
  std::string reason;  // no full stop
};

// Why a knob has no place, in tables of each framework.
struct KnobReason {
  std::string_view knob, text;
};
std::string reason_of_knob(std::span<const KnobReason> reasons, std::string_view knob,
                           std::string_view otherwise);

struct FrameworkFile {
  std::string text;
  std::string start;                      // the command line that trains with it, as "train.py"
  std::vector<LeftOut> left_out;          // settings that the file cannot say
  std::vector<std::string> remarks;       // what that framework does otherwise; no full stop
  std::vector<std::string_view> written;  // knobs that the file says, at their defaults, too

  void wrote(std::initializer_list<std::string_view> knobs);
  void remark(const std::string& sentence) { remarks.push_back(sentence); }
  // Where sequences may have different numbers of targets, by which the run weighs them.
  void remark_on_loss(const job::Settings& settings);
  // Of what parallelises, fits into memory and optimises: what is not at its default, is obeyed by
  // the strategy and by the other settings, and is neither written nor said `elsewhere` or by the
  // environment, with the reason. Data, checkpoints and recording belong to the program around it
  // and are never left out; adapters and frozen blocks are, with what to do to the model.
  void leave_out_the_rest(const TunedJob& job, const std::vector<std::string_view>& elsewhere,
                          const std::function<std::string(std::string_view)>& reason);
};

// `start`, what is left out and the remarks, a line each.
std::string remarks_text(const FrameworkFile& file);

}  // namespace shardlens::trace::frameworks
