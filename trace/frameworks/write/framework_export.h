// A job's settings for other frameworks. Any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

struct ExportFormat {
  std::string_view name;        // "deepspeed"
  std::string_view usual_file;  // what such a file is called: "ds_config.json"
  FrameworkFile (*write)(const TunedJob& job);
  bool has_comments;  // in which the file itself says what is left out
};
// Of "pytorch", "deepspeed" or "accelerate"; null of any other name.
const ExportFormat* find_export_format(std::string_view name);

// A Python module for PyTorch 2.11 with the same buckets or units, precision, optimizer and
// schedule, as functions: begin(), parallelize(), make_optimizer(), make_schedule(), train_step().
// No `start`: its heading says how it is started, and all the rest.
FrameworkFile pytorch_code(const TunedJob& job);
// Its learning rate: lines of a function body in which `step`, counted from 0, and `steps` are
// known. It returns the rate as a share of its peak, as transformers 5.23 (optimization.py) defines
// the schedule of the same name. Without indentation but for what lies deeper; "math" may have to
// be imported.
std::vector<std::string> schedule_factor(const job::Settings& settings);

// One setting as a program has it that PyTorch parallelises, for whoever changes it there:
// "DistributedDataParallel(…, bucket_cap_mb=4)". `are_wrapped`: its units, by
// FullyShardedDataParallel and not by fully_shard. "": PyTorch has no such setting.
std::string pytorch_change(const job::Knob& knob, const job::Settings& settings, bool are_wrapped);

// DeepSpeed's ds_config.json. Keys, units and defaults are those of DeepSpeed 0.19.8
// (runtime/config.py, runtime/zero/config.py, runtime/lr_schedules.py). ZeRO's buckets count
// elements, whose gradients have 4 bytes here. The stages: ddp and no_shard 0, zero1 1,
// shard_grad_op and hybrid_shard_zero2 2, full_shard and hybrid_shard 3, the latter with ZeRO++'s
// secondary partition (hpZ) for its groups.
FrameworkFile deepspeed_config(const TunedJob& job);
inline constexpr std::int64_t kDeepSpeedBucketElements = 500'000'000;  // stage 0's, others' default
inline constexpr std::int64_t kDeepSpeedPrefetchElements = 50'000'000;  // stage 3's default
inline constexpr double kGradientElementsPerMiB = 1048576.0 / 4;

// YAML as `accelerate config` writes it, with the keys of Accelerate 1.15: MULTI_GPU or MULTI_CPU
// for ddp and no_shard, FSDP of version 2 for strategies with sharded units, DEEPSPEED of stage 1
// for zero1. What is left out stands in comments at its top, too.
FrameworkFile accelerate_config(const TunedJob& job);
// What Accelerate does otherwise with FSDP of version 2 (fsdp2_prepare_model, Accelerator.no_sync),
// whatever its file says.
inline constexpr std::string_view kUnitsOfAccelerate =
    "Accelerate 1.15 makes the input embedding a unit, and of the last norm and the head another "
    "one that stays gathered until backward; here both are in the root";
inline constexpr std::string_view kMicroBatchesOfAccelerate =
    "with Accelerate's no_sync micro-batches that reduce nothing free all units, and the next one "
    "gathers them again; model.set_reshard_after_backward(False) before them keeps them, as here";

// Of PyTorch and what Accelerate hands on to it.
inline constexpr KnobReason kPyTorchReasons[] = {
    {"overlap_comm", "DistributedDataParallel always reduces during backward"},
    {"backward_prefetch",
     "fully_shard always gathers the next unit before this unit's backward, as pre does"},
    {"limit_all_gathers",
     "fully_shard uses a unit's memory again in the order of its stream, and needs no limit"},
    {"separate_communicators", "fully_shard has one communicator for each mesh"},
};

}  // namespace shardlens::trace::frameworks
