// What is wrong with a combination of settings, although each value alone is valid.
#include <algorithm>
#include <array>
#include <span>

#include "trace/base/number_text.h"
#include "trace/base/text.h"
#include "trace/job/settings/grammars.h"
#include "trace/job/settings/settings.h"
#include "trace/job/shape/lora.h"
#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/strategy.h"

namespace shardlens::trace::job {

namespace {

void check_nodes(const Settings& s, std::int64_t nodes, std::vector<SettingProblem>& problems) {
  if (s.ranks % nodes != 0) {
    problems.push_back({"simulate_link", "simulate_link has " + std::to_string(nodes) +
                                             " nodes, among which " +
                                             base::counted(s.ranks, "rank") +
                                             " cannot be divided evenly; use a divisor."});
    return;
  }
  const std::int64_t on_node = s.ranks / nodes, group = s.shard_group_size;
  const bool has_groups = strategy_traits(s.sharding_strategy).has_groups && group > 0;  // not auto
  if (has_groups && on_node % group != 0 && group % on_node != 0) {
    problems.push_back({"shard_group_size",
                        "shard_group_size " + std::to_string(group) + " neither divides the " +
                            std::to_string(on_node) +
                            " ranks of a node nor takes several nodes whole; use one that does."});
  }
}

void check_grammars(const Settings& s, std::vector<SettingProblem>& problems) {
  if (auto parsed = parse_record_schedule(s.record); !parsed) {
    problems.push_back({"record", parsed.error().message});
  }
  if (auto parsed = parse_allocation_schedule(s.record_allocations); !parsed) {
    problems.push_back({"record_allocations", parsed.error().message});
  }
  const auto parsed = parse_simulated_link(s.simulate_link);
  if (!parsed) {
    problems.push_back({"simulate_link", parsed.error().message});
  } else if (parsed->has_value() && s.device == DeviceChoice::kCuda) {
    problems.push_back({"simulate_link", "simulate_link works on the CPU only; use device: cpu."});
  }
  if (parsed && *parsed && (*parsed)->nodes > 0) check_nodes(s, (*parsed)->nodes, problems);
  auto injections = parse_injections(s.inject);
  if (!injections) {
    problems.push_back({"inject", injections.error().message});
    return;
  }
  for (const Injection& injection : *injections) {
    if (injection.rank >= s.ranks) {
      problems.push_back({"inject", "inject names rank " + std::to_string(injection.rank) +
                                        ", but the job has " + base::counted(s.ranks, "rank") +
                                        ", counted from 0."});
    }
  }
}

void check_accumulation(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.sync_each_batch && s.gradient_accumulation_steps == 1) {
    problems.push_back({"sync_each_batch",
                        "sync_each_batch needs gradient_accumulation_steps of at least 2; with 1 "
                        "every micro-batch is reduced anyway."});
  }
}

void check_buckets(const Settings& s, std::vector<SettingProblem>& problems) {
  if (strategy_traits(s.sharding_strategy).has_units) return;
  if (s.static_graph && s.find_unused_parameters) {
    problems.push_back({"find_unused_parameters",
                        "static_graph already finds unused parameters in the first step; turn "
                        "find_unused_parameters off."});
  }
  if (s.communication == Communication::kNone && s.communication_hook != CommunicationHook::kNone) {
    problems.push_back({"communication_hook",
                        "communication: none sends nothing that a hook could compress; use "
                        "communication_hook: none."});
  }
  if (s.find_unused_parameters && s.activation_checkpointing > 0) {
    problems.push_back({"find_unused_parameters",
                        "find_unused_parameters walks the graph, and takes what "
                        "activation_checkpointing computes again only in backward for unused, as "
                        "PyTorch does; turn one of them off."});
  }
  if (s.communication == Communication::kNone && s.find_unused_parameters) {
    problems.push_back({"find_unused_parameters",
                        "communication: none reduces nothing that an unused parameter could hold "
                        "up; turn find_unused_parameters off."});
  }
  if (s.static_graph && (!s.overlap_comm || s.communication == Communication::kNone)) {
    problems.push_back({"static_graph",
                        "static_graph changes when buckets are reduced, which overlap_comm: false "
                        "and communication: none do themselves; turn static_graph off."});
  }
  if (s.static_graph && s.gradient_accumulation_steps > 1 && !s.sync_each_batch) {
    problems.push_back({"static_graph",
                        "PyTorch does not support accumulation without synchronising under "
                        "static_graph; use sync_each_batch: true or static_graph: false."});
  }
}

void check_sharding(const Settings& s, std::vector<SettingProblem>& problems) {
  const StrategyTraits& traits = strategy_traits(s.sharding_strategy);
  const std::string strategy(traits.name);
  if (s.communication == Communication::kNone && s.sharding_strategy != Strategy::kDdp) {
    problems.push_back(
        {"communication", "communication: none works with sharding_strategy: ddp only; " +
                              strategy + " cannot compute without its collectives."});
  }
  if (s.cpu_offload && !traits.shards_parameters) {
    problems.push_back({"cpu_offload", "cpu_offload moves shards, and " + strategy +
                                           " has none; use shard_grad_op, full_shard or a hybrid "
                                           "strategy, or cpu_offload: false."});
  }
  const bool wants_free = s.reshard_after_forward == AutoBool::kTrue;
  if (traits.has_units && s.reshard_after_forward != AutoBool::kAuto &&
      wants_free != traits.frees_after_forward) {
    problems.push_back({"reshard_after_forward",
                        "reshard_after_forward: " + chosen<&Settings::reshard_after_forward>(s) +
                            " contradicts " + strategy + ", which says it already; use auto, or " +
                            (wants_free ? "full_shard." : "shard_grad_op.")});
  }
  if (!s.use_orig_params) {
    problems.push_back({"use_orig_params",
                        "use_orig_params is always true: the optimizer sees every parameter by "
                        "its own name. Leave it out."});
  }
  if (traits.has_groups && s.shard_group_size != kAuto && s.ranks % s.shard_group_size != 0) {
    problems.push_back(
        {"shard_group_size", "shard_group_size " + std::to_string(s.shard_group_size) +
                                 " does not divide ranks (" + std::to_string(s.ranks) +
                                 "); choose one that does."});
  }
}

void check_precision(const Settings& s, std::vector<SettingProblem>& problems) {
  const bool has_units = strategy_traits(s.sharding_strategy).has_units;
  if (has_units && s.param_dtype != DataType::kAuto && s.precision != Precision::kFp32) {
    problems.push_back(
        {"param_dtype", "precision: " + chosen<&Settings::precision>(s) +
                            " computes in 16 bits by autocast, " +
                            "param_dtype by gathering in that type; set only one of them."});
  }
  if (scales_loss(s) && s.device == DeviceChoice::kCpu) {
    const char* knob = s.precision == Precision::kFp16 ? "precision" : "param_dtype";
    problems.push_back({knob, std::string(knob) + ": fp16 needs a GPU; use bf16 on the CPU."});
  }
}

void check_adapters(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.lora_rank == 0) {
    if (s.base_dtype == BaseType::kNf4) {
      problems.push_back({"base_dtype",
                          "base_dtype: nf4 keeps weights that are not trained in 4 bits, beside "
                          "which adapters are trained; set lora_rank, or base_dtype: auto."});
    } else if (s.base_dtype != BaseType::kAuto && s.base_dtype != BaseType::kFp32 &&
               s.frozen_blocks == 0) {
      problems.push_back(
          {"base_dtype", "base_dtype: " + chosen<&Settings::base_dtype>(s) +
                             " is for weights that are not trained, and all are; "
                             "set lora_rank or frozen_blocks, or base_dtype: auto."});
    }
    if (s.merge_lora) {
      problems.push_back({"merge_lora",
                          "merge_lora has no adapters to merge; set lora_rank, or merge_lora: "
                          "false."});
    }
    return;
  }
  if (s.frozen_blocks > 0) {
    problems.push_back({"frozen_blocks",
                        "With lora_rank every weight of the model but a classifier's head is "
                        "frozen; use frozen_blocks: 0, or lora_rank: 0."});
  }
  const auto shape = find_model_preset(s.model);
  if (!shape) return;  // the rank will say
  if (auto targets = adapted_layers(*shape, s.lora_target_modules); !targets) {
    problems.push_back({"lora_target_modules", targets.error().message});
  }
}

void check_inputs(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.uneven_inputs == UnevenInputs::kJoin && s.drop_last) {
    problems.push_back({"uneven_inputs",
                        "drop_last already gives every rank the same number of sequences; with "
                        "uneven_inputs: join set drop_last: false."});
  }
}

bool is_among(std::string_view name, std::span<const std::string_view> choices) {
  return std::ranges::any_of(choices,
                             [&](auto each) { return base::equal_but_for_case(each, name); });
}

// Of NCCL_ALGO and NCCL_PROTO: lists of names, after ^ of those that are not to be used, for all
// functions or for one: "Ring;allreduce:Tree,NVLS". NCCL warns of a name that it does not know, and
// goes on without any.
void check_names(std::string_view knob, std::string_view value,
                 std::vector<SettingProblem>& problems) {
  constexpr std::array<std::string_view, 5> kFunctions{"allreduce", "allgather", "reducescatter",
                                                       "broadcast", "reduce"};
  if (value == "auto") return;
  const auto choices = find_knob(knob)->choices.subspan(1);  // without auto
  for (std::string_view list : base::split(value, ';')) {
    if (const auto colon = list.find(':'); colon != list.npos) {
      const std::string_view function = list.substr(0, colon);
      if (!is_among(function, kFunctions)) {
        problems.push_back({knob, std::string(knob) + ": NCCL knows no function \"" +
                                      std::string(function) + "\"; use one of " +
                                      base::joined(kFunctions) + "."});
      }
      list.remove_prefix(colon + 1);
    }
    if (list.starts_with('^')) list.remove_prefix(1);
    for (const std::string_view name : base::split(list, ',')) {
      if (is_among(name, choices)) continue;
      problems.push_back({knob, std::string(knob) + ": NCCL knows no \"" + std::string(name) +
                                    "\"; use auto, or one or several of " + base::joined(choices) +
                                    ", separated by commas."});
    }
  }
}

void check_libraries(const Settings& s, std::vector<SettingProblem>& problems) {
  check_names("nccl_algo", s.nccl_algo, problems);
  check_names("nccl_proto", s.nccl_proto, problems);
  if (s.nccl_min_channels != kAuto && s.nccl_max_channels != kAuto &&
      s.nccl_min_channels > s.nccl_max_channels) {
    problems.push_back({"nccl_min_channels", "nccl_min_channels (" +
                                                 std::to_string(s.nccl_min_channels) +
                                                 ") is more than nccl_max_channels (" +
                                                 std::to_string(s.nccl_max_channels) +
                                                 "); lower it, or raise the other."});
  }
  const bool is_option = s.allocator_conf.find(':') != std::string::npos;
  if (s.allocator_conf != "auto" && s.allocator_conf != "none" && !is_option) {
    problems.push_back(
        {"allocator_conf", "allocator_conf: \"" + s.allocator_conf +
                               "\" is no list of options; write option:value, separated by commas, "
                               "as expandable_segments:True, or auto or none."});
  }
}

void check_lengths(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.epochs == 0 && s.warmup_steps > s.steps) {
    problems.push_back({"warmup_steps", "warmup_steps (" + std::to_string(s.warmup_steps) +
                                            ") is more than steps (" + std::to_string(s.steps) +
                                            "); lower it, or raise steps."});
  }
  if (s.evaluate_every > 0 && s.evaluation_data == "split" && s.evaluation_fraction == 0) {
    problems.push_back({"evaluate_every",
                        "evaluate_every needs held-out text; set evaluation_fraction above 0, or "
                        "evaluation_data to a file."});
  }
  const bool wants_best = s.keep_best || s.save_model == SaveModel::kBest;
  const bool is_evaluated = s.evaluate_every > 0 && (s.epochs > 0 || s.evaluate_every <= s.steps);
  if (wants_best && !is_evaluated) {
    problems.push_back(
        {s.keep_best ? "keep_best" : "save_model",
         std::string(s.keep_best ? "keep_best" : "save_model: best") +
             " goes by evaluations, of which evaluate_every: " + std::to_string(s.evaluate_every) +
             (s.evaluate_every > 0 ? ", more than steps," : "") +
             " makes none; set evaluate_every, or " +
             (s.keep_best ? "keep_best: false." : "save_model: end.")});
  }
}

}  // namespace

std::vector<SettingProblem> problems_of(const Settings& settings) {
  std::vector<SettingProblem> problems;
  check_grammars(settings, problems);
  check_accumulation(settings, problems);
  check_buckets(settings, problems);
  check_sharding(settings, problems);
  check_precision(settings, problems);
  check_adapters(settings, problems);
  check_inputs(settings, problems);
  check_lengths(settings, problems);
  check_libraries(settings, problems);
  return problems;
}

base::Result<void> validate(const Settings& settings) {
  const auto problems = problems_of(settings);
  if (problems.empty()) return {};
  return base::fail(base::ErrorKind::kUsage,
                    base::joined(problems, "\n", &SettingProblem::message));
}

}  // namespace shardlens::trace::job
