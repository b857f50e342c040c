// Configuration files of DeepSpeed and Accelerate as settings. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::frameworks {

enum class Framework : std::uint8_t { kDeepSpeed, kAccelerate };
std::string_view to_string(Framework framework);  // "DeepSpeed", "Accelerate"

struct IgnoredKey {
  std::string key;     // "zero_optimization.sub_group_size"
  std::string value;   // as written
  std::string reason;  // no full stop
};

struct ForeignSettings {
  Framework framework = Framework::kDeepSpeed;
  job::Settings settings;              // what the file does not say, as that framework has it
  std::vector<IgnoredKey> ignored;     // keys without a counterpart, in the file's order
  std::vector<std::string> remarks;    // what is taken over, but not alike; no full stop
  std::vector<std::string_view> said;  // knobs of its keys, absent ones' defaults among them
  std::vector<std::string_view> left_to_program;  // knobs that it says or fills in, not the file
};

// By its content: nothing if `text` is neither a DeepSpeed JSON nor an Accelerate file, as settings
// of ours. Errors (kUsage) name `source`, the key and what to do: a damaged file, values of the
// wrong type or out of range, keys that contradict each other. A batch of all ranks together is
// shared out among `ranks`, unless the file says how many they are.
base::Result<std::optional<ForeignSettings>> parse_foreign_settings(
    const std::string& text, const std::string& source, std::int64_t ranks = job::Settings{}.ranks);
// `job` as such a file changes it: what neither framework's files speak of (the model, its data, a
// simulated link) stays, and what this one leaves to the program.
job::Settings changed_by(const ForeignSettings& foreign, job::Settings job);
// All of it in sentences, a line each: "ignored: steps_per_print: 10 (…)"; "" where there is
// nothing to say.
std::string remarks_text(const ForeignSettings& foreign);

}  // namespace shardlens::trace::frameworks
