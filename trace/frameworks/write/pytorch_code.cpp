#include <set>
#include <string_view>
#include <utility>

#include "trace/base/text.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/job/shape/strategy.h"
#include "trace/model/acting_settings.h"

namespace shardlens::trace::frameworks {

namespace {

using job::AutoBool;
using job::DataType;
using job::kAuto;
using job::Precision;
using job::Settings;
using job::WrapPolicy;

std::string reason_of(std::string_view knob, const job::StrategyTraits& strategy) {
  if (knob == "uneven_inputs") {
    if (strategy.has_units) return "fully_shard has no Join; give every rank as many sequences";
    return std::string("put the loop into torch.distributed.algorithms.join.Join([model") +
           (strategy.strategy == job::Strategy::kZero1 ? ", optimizer])" : "])");
  }
  if (knob == "sync_module_states") {
    return "load or initialise the same weights on all ranks before parallelize()";
  }
  return reason_of_knob(kPyTorchReasons, knob, "PyTorch has no such setting");
}

std::string python(bool value) { return value ? "True" : "False"; }

// Text that cannot end the string or comment it stands in.
std::string harmless(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    kept += byte < 0x20 || c == '"' || c == '\\' ? ' ' : c;
  }
  return kept;
}

class Module {
 public:
  explicit Module(const TunedJob& tuned)
      : job_(tuned), s_(tuned.settings), traits_(job::strategy_traits(s_.sharding_strategy)) {}

  FrameworkFile write() {
    add_begin();
    if (has_units()) {
      add_units();
      add_fully_shard();
    } else {
      add_distributed_data_parallel();
    }
    add_optimizer();
    add_schedule();
    add_step();
    file_.leave_out_the_rest(job_, {},
                             [&](std::string_view knob) { return reason_of(knob, traits_); });
    file_.remark_on_loss(s_);
    file_.text = heading() + imports() + body_;
    return std::move(file_);
  }

 private:
  bool has_units() const { return traits_.has_units; }
  bool on_gpu() const { return computes_on_gpu(job_); }
  // How many steps they have is known only to who has the data.
  bool counts_epochs() const { return s_.epochs > 0; }
  std::string text_of(std::string_view knob) const { return value_text(s_, *job::find_knob(knob)); }
  void needs(const std::string& line) { imports_.insert(line); }
  void line(int indent, const std::string& text) {
    body_ +=
        (text.empty() ? "" : std::string(static_cast<std::size_t>(4 * indent), ' ')) + text + "\n";
  }
  void begin_function(const std::string& signature, const std::string& says) {
    body_ += "\n\n";
    line(0, "def " + signature + ":");
    line(1, "\"\"\"" + says + "\"\"\"");
  }

  // ---- how the program is started ---------------------------------------------------------------

  std::string heading() const {
    std::string text = "\"\"\"" + std::string(traits_.name) + " " + harmless(origin_text(job_)) +
                       ", for PyTorch 2.11. Written by Shardlens.\n\n";
    text += "    " + harmless(environment_words(job_)) + torchrun_words(job_) + "train.py\n\n";
    text +=
        "In train.py, with this file beside it as parallel.py:\n\n"
        "    parallel.begin()\n"
        "    model = parallel.parallelize(model)\n"
        "    optimizer = parallel.make_optimizer(model)\n"
        "    schedule = parallel.make_schedule(optimizer";
    text +=
        counts_epochs() ? ", steps)  # as many as " + text_of("epochs") + " epochs have\n" : ")\n";
    if (job::scales_loss(s_)) text += "    scaler = parallel.make_scaler()\n";
    text += std::string("    for micro_batches in data:  # ") +
            std::to_string(s_.gradient_accumulation_steps) + " of " +
            std::to_string(s_.batch_per_rank) + " sequences\n" +
            "        loss = parallel.train_step(model, optimizer, schedule, " +
            (job::scales_loss(s_) ? "scaler, " : "") + "micro_batches, loss_of)\n";
    if (!file_.left_out.empty()) text += "\nLeft out, as it has no counterpart:\n\n";
    for (const LeftOut& each : file_.left_out) {
      text += "    " + std::string(each.knob) + ": " + harmless(each.value) + " (" + each.reason +
              ")\n";
    }
    if (!file_.remarks.empty()) text += "\nOtherwise than in the run:\n\n";
    for (const std::string& remark : file_.remarks) text += "    " + remark + "\n";
    return text + "\"\"\"\n";
  }

  std::string imports() const {
    std::string standard, others;  // of `others` those of whole modules first
    for (const std::string& each : imports_) {
      const bool is_standard = each == "import contextlib" || each == "import datetime" ||
                               each == "import math" || each == "import os";
      if (is_standard) standard += each + "\n";
    }
    for (const std::string_view kind : {"import torch", "from "}) {
      for (const std::string& each : imports_) {
        if (each.starts_with(kind)) others += each + "\n";
      }
    }
    return standard + (standard.empty() ? "" : "\n") + others;
  }

  void add_begin() {
    needs("import datetime");
    needs("import torch");
    needs("import torch.distributed as dist");
    body_ += "\nDEVICE = \"" + std::string(on_gpu() ? "cuda" : "cpu") + "\"\n";
    begin_function("begin()", "Once in every process, before anything else here.");
    if (on_gpu()) {
      needs("import os");
      line(1, "torch.cuda.set_device(int(os.environ[\"LOCAL_RANK\"]))");
    }
    // The norm of what is offloaded is summed up on the host.
    const char* const on_gpus = s_.cpu_offload ? "cpu:gloo,cuda:nccl" : "nccl";
    line(1, std::string("dist.init_process_group(\"") + (on_gpu() ? on_gpus : "gloo") +
                "\", timeout=datetime.timedelta(seconds=" +
                std::to_string(s_.collective_timeout_s) + "))");
    file_.wrote({"collective_timeout_s", "sharding_strategy"});
  }

  // ---- what is done with the model --------------------------------------------------------------

  void add_blocks() {
    begin_function(
        "blocks_of(model)",
        "The list of the model's repeated blocks: its longest, as in the models of transformers.");
    line(1,
         "return max((m for m in model.modules() if isinstance(m, torch.nn.ModuleList)), key=len)");
  }
  void add_recomputation() {
    file_.wrote({"activation_checkpointing"});
    if (s_.activation_checkpointing == 0) return;
    needs(
        "from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import "
        "checkpoint_wrapper");
    const std::string every = std::to_string(s_.activation_checkpointing);
    line(1, "blocks = blocks_of(model)");
    line(1, "for i in range(0, len(blocks), " + every + "):");
    line(2, "blocks[i] = checkpoint_wrapper(blocks[i])");
    line(1, "if hasattr(getattr(model, \"config\", None), \"use_cache\"):");
    line(2,
         "model.config.use_cache = False  # a block that is computed again would add to it twice");
  }

  void add_distributed_data_parallel() {
    needs("import contextlib");
    needs("from torch.nn.parallel import DistributedDataParallel");
    if (s_.activation_checkpointing > 0) add_blocks();
    begin_function("parallelize(model)",
                   "The model on this rank's device, in " +
                       std::string(s_.sharding_strategy == job::Strategy::kZero1
                                       ? "DistributedDataParallel; the optimizer is sharded."
                                       : "DistributedDataParallel."));
    line(1, "model = model.to(DEVICE)");
    add_recomputation();
    line(1, "model = DistributedDataParallel(");
    line(2, "model,");
    if (on_gpu()) line(2, "device_ids=[torch.cuda.current_device()],");
    add_buckets();
    for (const std::string_view knob :
         {"gradient_as_bucket_view", "static_graph", "find_unused_parameters"}) {
      if (text_of(knob) == "true") line(2, std::string(knob) + "=True,");
    }
    file_.wrote({"gradient_as_bucket_view", "static_graph", "find_unused_parameters",
                 "sync_module_states"});
    line(1, ")");
    if (s_.communication_hook != job::CommunicationHook::kNone) {
      needs("from torch.distributed.algorithms.ddp_comm_hooks import default_hooks");
      line(1, "model.register_comm_hook(None, default_hooks." + text_of("communication_hook") +
                  "_hook)");
    }
    file_.wrote({"communication_hook"});
    line(1, "return model");
    begin_function("micro_batch(model, reduces)", "Around forward and backward.");
    line(1, "return contextlib.nullcontext() if reduces else model.no_sync()");
  }

  // Said aloud, 25 is no default: DistributedDataParallel then has no small first bucket.
  void add_buckets() {
    const double first = model::first_bucket_mb(s_.first_bucket_mb, s_.bucket_cap_mb);
    file_.wrote({"bucket_cap_mb", "first_bucket_mb"});
    if (s_.bucket_cap_mb == Settings{}.bucket_cap_mb && first == 1) return;
    const std::string cap = text_of("bucket_cap_mb");
    line(2, first == s_.bucket_cap_mb
                ? "bucket_cap_mb=" + cap + ","
                : "bucket_cap_mb_list=[" + text_of("first_bucket_mb") + ", " + cap + "],");
  }

  void add_units() {
    if (s_.wrap_policy == WrapPolicy::kTransformerBlock || s_.activation_checkpointing > 0)
      add_blocks();
    begin_function("units_of(model)",
                   "What is gathered and reduced as one, inner ones first; the rest is the root.");
    file_.wrote({"wrap_policy"});
    switch (s_.wrap_policy) {
      case WrapPolicy::kTransformerBlock:
        line(1, "return list(blocks_of(model))");
        return;
      case WrapPolicy::kWholeModel:
        line(1, "return []");
        return;
      case WrapPolicy::kSize:
        break;
    }
    file_.wrote({"min_num_params"});
    line(1,
         "owners = [parameter for module in model.modules() for parameter in "
         "module.parameters(recurse=False)]");
    line(1, "shared = {p for p in owners if sum(p is other for other in owners) > 1}");
    line(1, "units = []");
    line(0, "");
    line(1, "def visit(module):");
    line(2, "\"\"\"How many values there are in it, and in units.\"\"\"");
    line(2, "inner = [visit(child) for child in module.children()]");
    line(2, "own = sum(p.numel() for p in module.parameters(recurse=False) if p not in shared)");
    line(2, "values, wrapped = own + sum(v for v, _ in inner), sum(w for _, w in inner)");
    line(2, "is_list = isinstance(module, (torch.nn.ModuleList, torch.nn.ModuleDict))");
    line(2, "if values - wrapped < " + text_of("min_num_params") +
                " or is_list or module is model or shared & set(module.parameters()):");
    line(3, "return values, wrapped");
    line(2, "units.append(module)");
    line(2, "return values, values");
    line(0, "");
    line(1, "visit(model)");
    line(1, "return units");
  }

  void add_fully_shard() {
    needs("import contextlib");
    needs("from torch.distributed.device_mesh import init_device_mesh");
    // A model that needs it has no room on one device.
    begin_function("parallelize(model)",
                   "Divided by fully_shard, which moves it to this rank's device unit by unit.");
    add_recomputation();
    add_mesh();
    std::string options = "mesh=mesh" + policies();
    needs("from torch.distributed.fsdp import " + base::joined(fsdp_names_));
    line(1, "units = units_of(model)");
    line(1, "for unit in units:");
    line(2, "fully_shard(unit, " + options +
                ", reshard_after_forward=" + python(traits_.frees_after_forward) + ")");
    line(1, "# The root is kept until backward has used it.");
    line(1, "fully_shard(model, " + options + ", reshard_after_forward=False)");
    file_.wrote({"reshard_after_forward", "forward_prefetch"});
    if (s_.forward_prefetch) {
      line(1, "for unit, following in zip(units, units[1:]):");
      line(2, "unit.set_modules_to_forward_prefetch([following])");
    }
    line(1, "return model");
    body_ += "\n\n@contextlib.contextmanager";
    body_ += "\ndef micro_batch(model, reduces):\n";
    line(1, "\"\"\"Around forward and backward.\"\"\"");
    line(1, "model.set_requires_gradient_sync(reduces)");
    if (!traits_.frees_after_forward) line(1, "model.set_reshard_after_backward(reduces)");
    line(1, "yield");
  }

  void add_mesh() {
    const std::string ranks = std::to_string(s_.ranks);
    file_.wrote({"shard_group_size"});
    if (!traits_.has_groups && traits_.shards_parameters) {
      line(1, "mesh = init_device_mesh(DEVICE, (" + ranks + ",))");
      return;
    }
    const std::int64_t group = job::shard_group_size(s_, s_.ranks, s_.ranks / job_.nodes);
    line(1, "mesh = init_device_mesh(DEVICE, (" + std::to_string(s_.ranks / group) + ", " +
                std::to_string(group) + "), mesh_dim_names=(\"replicate\", \"shard\"))");
  }

  std::string policies() {
    std::string types;
    for (const std::string_view knob : {"param_dtype", "reduce_dtype"}) {
      const std::string type = text_of(knob);
      if (type != "auto")
        types += (types.empty() ? "" : ", ") + std::string(knob) + "=" + torch_type(type);
    }
    file_.wrote({"param_dtype", "reduce_dtype", "buffer_dtype", "cpu_offload"});
    if (s_.buffer_dtype != DataType::kAuto) {
      line(1, "for buffer in model.buffers():");
      line(2, "if buffer.is_floating_point():");
      line(3, "buffer.data = buffer.to(" + torch_type(text_of("buffer_dtype")) + ")");
    }
    std::string options;
    if (!types.empty()) {
      fsdp_names_.push_back("MixedPrecisionPolicy");
      line(1, "policy = MixedPrecisionPolicy(" + types + ")");
      options += ", mp_policy=policy";
    }
    if (s_.cpu_offload) {
      fsdp_names_.push_back("CPUOffloadPolicy");
      options +=
          std::string(", offload_policy=CPUOffloadPolicy(pin_memory=") + python(on_gpu()) + ")";
    }
    fsdp_names_.push_back("fully_shard");
    return options;
  }

  static std::string torch_type(const std::string& type) {
    return type == "bf16" ? "torch.bfloat16" : type == "fp16" ? "torch.float16" : "torch.float32";
  }

  // ---- the step ---------------------------------------------------------------------------------

  void add_optimizer() {
    begin_function("make_optimizer(model)", "Biases and norms do not decay.");
    line(1, "trained = [p for p in model.parameters() if p.requires_grad]");
    line(1, "groups = [");
    line(2, "{\"params\": [p for p in trained if p.dim() >= 2], \"weight_decay\": " +
                text_of("weight_decay") + "},");
    line(2, "{\"params\": [p for p in trained if p.dim() < 2], \"weight_decay\": 0.0},");
    line(1, "]");
    file_.wrote(
        {"optimizer", "learning_rate", "weight_decay", "adam_beta1", "adam_beta2", "adam_epsilon"});
    const bool is_adamw = s_.optimizer == job::OptimizerChoice::kAdamW;
    std::string options = "lr=" + text_of("learning_rate");
    if (is_adamw) {
      options += ", betas=(" + text_of("adam_beta1") + ", " + text_of("adam_beta2") +
                 "), eps=" + text_of("adam_epsilon");
    }
    const std::string kind = is_adamw ? "torch.optim.AdamW" : "torch.optim.SGD";
    if (s_.sharding_strategy == job::Strategy::kZero1) {
      needs("from torch.distributed.optim import ZeroRedundancyOptimizer");
      line(1, "return ZeroRedundancyOptimizer(groups, " + kind +
                  ", parameters_as_bucket_view=True, " + options + ")");
    } else {
      line(1, "return " + kind + "(groups, " + options + ")");
    }
  }

  void add_schedule() {
    begin_function(std::string("make_schedule(optimizer, steps") +
                       (counts_epochs() ? ")" : "=" + std::to_string(s_.steps) + ")"),
                   "The learning rate, for so many optimizer steps.");
    file_.wrote({"steps", "lr_schedule", "warmup_steps", "lr_decay_steps", "lr_min_ratio",
                 "lr_cycles", "lr_power"});
    line(0, "");
    line(1, "def factor(step):");
    line(2, "\"\"\"Of the peak.\"\"\"");
    for (const std::string& each : schedule_factor(s_)) {
      if (each.find("math.") != std::string::npos) needs("import math");
      line(2, each);
    }
    line(0, "");
    line(1, "return torch.optim.lr_scheduler.LambdaLR(optimizer, factor)");
  }

  void add_step() {
    file_.wrote({"precision", "initial_loss_scale", "gradient_accumulation_steps",
                 "sync_each_batch", "max_grad_norm"});
    const bool is_scaled = job::scales_loss(s_);
    if (is_scaled) {
      begin_function("make_scaler()", "Keeps small gradients from vanishing in fp16.");
      line(1,
           "return torch.amp.GradScaler(DEVICE, init_scale=" + text_of("initial_loss_scale") + ")");
    }
    begin_function(
        std::string("train_step(model, optimizer, schedule, ") + (is_scaled ? "scaler, " : "") +
            "micro_batches, loss_of)",
        "One optimizer step; this rank's mean of loss_of(model, micro-batch), which are scalars.");
    line(1, "total = 0.0");
    line(1, "for i, batch in enumerate(micro_batches):");
    line(2, std::string("with micro_batch(model, ") +
                (s_.sync_each_batch ? "True" : "i + 1 == len(micro_batches)") + "):");
    int depth = 3;
    if (s_.precision != Precision::kFp32) {
      line(depth++, "with torch.autocast(DEVICE, dtype=" + torch_type(text_of("precision")) + "):");
    }
    line(depth, "loss = loss_of(model, batch) / len(micro_batches)");
    line(3, is_scaled ? "scaler.scale(loss).backward()" : "loss.backward()");
    line(2, "total += loss.detach()");
    if (is_scaled && s_.max_grad_norm > 0) line(1, "scaler.unscale_(optimizer)");
    if (s_.max_grad_norm > 0) {
      line(1,
           "torch.nn.utils.clip_grad_norm_(model.parameters(), " + text_of("max_grad_norm") + ")");
    }
    line(1, is_scaled ? "scaler.step(optimizer)" : "optimizer.step()");
    if (is_scaled) line(1, "scaler.update()");
    line(1, "schedule.step()");
    line(1, "optimizer.zero_grad()");
    line(1, "return total");
  }

  const TunedJob& job_;
  const Settings& s_;
  const job::StrategyTraits& traits_;
  std::string body_;
  std::set<std::string> imports_;
  std::vector<std::string> fsdp_names_;
  FrameworkFile file_;
};

}  // namespace

FrameworkFile pytorch_code(const TunedJob& job) { return Module(job).write(); }

}  // namespace shardlens::trace::frameworks
