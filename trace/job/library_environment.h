// The part of a rank's environment that NCCL, CUDA and LibTorch read: what knobs make of it, and
// which variables are noted with a run. Plain values, any thread.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trace/job/settings/settings.h"

namespace shardlens::trace::job {

struct EnvironmentChange {
  std::string_view name;
  std::optional<std::string> value;  // absent: the variable is taken away
};

// For ranks on GPUs. A knob that is left at `auto` changes nothing, but for `allocator_conf`, which
// then gives a default to an environment that says nothing; `is_set` asks that environment.
std::vector<EnvironmentChange> environment_changes(
    const Settings& settings, const std::function<bool(std::string_view)>& is_set);

// What of the environment is stored with a run: as lines "NAME=value", those that are set.
std::string noted_environment(const std::function<const char*(const char*)>& lookup);
// The other way round.
std::vector<std::pair<std::string, std::string>> parse_environment(std::string_view lines);

}  // namespace shardlens::trace::job
