// A job's settings for any framework that can be exported to, by name. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "trace/frameworks/framework_file.h"

namespace shardlens::trace::frameworks {

enum class ExportFormat : std::uint8_t { kPyTorch, kDeepSpeed, kAccelerate };

// "pytorch", "deepspeed" or "accelerate"; nothing of any other name.
std::optional<ExportFormat> find_export_format(std::string_view name);
// What such a file is called: "parallel.py", "ds_config.json", "accelerate.yaml".
std::string_view usual_file_name(ExportFormat format);

// Of PyTorch no `start` and `written`: its module has its own heading.
FrameworkFile framework_export(ExportFormat format, const TunedJob& job);

}  // namespace shardlens::trace::frameworks
