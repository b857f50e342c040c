// A file of settings that was dropped or named on the command line. Reads a file of at most 1 MiB;
// interface thread.
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "trace/base/result.h"
#include "trace/job/settings/settings.h"

namespace shardlens::app::session {

struct DroppedSettings {
  trace::job::Settings settings;
  std::string notice;  // that they are taken over, and which keys are not
};

// By suffix and content: YAML of ours, a ds_config.json, Accelerate's YAML. Nothing of any other
// file, as a trace in JSON. What the latter two do not speak of, as the model, is as in `next`.
std::optional<trace::base::Result<DroppedSettings>> read_dropped_settings(
    const std::filesystem::path& file, const trace::job::Settings& next);

}  // namespace shardlens::app::session
