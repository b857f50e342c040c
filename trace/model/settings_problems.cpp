// What is wrong with a combination of settings, although each value alone is valid.
#include <algorithm>

#include "trace/model/schedule.h"
#include "trace/model/settings.h"

namespace shardlens::trace {

namespace {

void check_grammars(const Settings& s, std::vector<SettingProblem>& problems) {
  if (auto parsed = parse_record_schedule(s.record); !parsed) {
    problems.push_back({"record", parsed.error().message});
  }
  if (auto parsed = parse_simulated_link(s.simulate_link); !parsed) {
    problems.push_back({"simulate_link", parsed.error().message});
  } else if (parsed->has_value() && s.device == "cuda") {
    problems.push_back({"simulate_link", "simulate_link works on the CPU only; use device: cpu."});
  }
  auto injections = parse_injections(s.inject);
  if (!injections) {
    problems.push_back({"inject", injections.error().message});
    return;
  }
  for (const Injection& injection : *injections) {
    if (injection.rank >= s.ranks) {
      problems.push_back({"inject", "inject names rank " + std::to_string(injection.rank) +
                                        ", but there are only " + std::to_string(s.ranks) +
                                        " ranks, counted from 0."});
    }
  }
}

void check_data_parallel(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.static_graph && s.find_unused_parameters) {
    problems.push_back({"find_unused_parameters",
                        "static_graph already finds unused parameters in the first step; turn "
                        "find_unused_parameters off."});
  }
  if (s.communication == "none" && s.communication_hook != "none") {
    problems.push_back({"communication_hook",
                        "communication: none sends nothing that a hook could compress; use "
                        "communication_hook: none."});
  }
  if (s.communication == "none" && s.find_unused_parameters) {
    problems.push_back({"find_unused_parameters",
                        "communication: none reduces nothing that an unused parameter could hold "
                        "up; turn find_unused_parameters off."});
  }
  if (s.static_graph && (!s.overlap_comm || s.communication == "none")) {
    problems.push_back({"static_graph",
                        "static_graph changes when buckets are reduced, which overlap_comm: false "
                        "and communication: none do themselves; turn static_graph off."});
  }
  if (s.static_graph && s.gradient_accumulation_steps > 1 && !s.sync_each_batch) {
    problems.push_back({"static_graph",
                        "PyTorch does not support accumulation without synchronising under "
                        "static_graph; use sync_each_batch: true or static_graph: false."});
  }
  if (s.sync_each_batch && s.gradient_accumulation_steps == 1) {
    problems.push_back({"sync_each_batch",
                        "sync_each_batch needs gradient_accumulation_steps of at least 2; with 1 "
                        "every micro-batch is reduced anyway."});
  }
}

void check_lengths(const Settings& s, std::vector<SettingProblem>& problems) {
  if (s.epochs == 0 && s.warmup_steps > s.steps) {
    problems.push_back({"warmup_steps", "warmup_steps (" + std::to_string(s.warmup_steps) +
                                            ") is more than steps (" + std::to_string(s.steps) +
                                            ")."});
  }
  if (s.evaluate_every > 0 && s.evaluation_fraction == 0) {
    problems.push_back(
        {"evaluate_every", "evaluate_every needs held-out text; set evaluation_fraction above 0."});
  }
}

}  // namespace

std::vector<SettingProblem> problems_of(const Settings& settings) {
  std::vector<SettingProblem> problems;
  check_grammars(settings, problems);
  check_data_parallel(settings, problems);
  check_lengths(settings, problems);
  return problems;
}

Result<void> validate(const Settings& settings) {
  const auto problems = problems_of(settings);
  if (problems.empty()) return {};
  std::string message;
  for (const SettingProblem& problem : problems) {
    message += (message.empty() ? "" : "\n") + problem.message;
  }
  return fail(ErrorKind::kUsage, std::move(message));
}

}  // namespace shardlens::trace
