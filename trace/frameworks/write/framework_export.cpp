#include "trace/frameworks/write/framework_export.h"

#include "trace/frameworks/pytorch_code.h"
#include "trace/frameworks/write/accelerate_config.h"
#include "trace/frameworks/write/deepspeed_config.h"

namespace shardlens::trace::frameworks {

std::optional<ExportFormat> find_export_format(std::string_view name) {
  if (name == "pytorch") return ExportFormat::kPyTorch;
  if (name == "deepspeed") return ExportFormat::kDeepSpeed;
  if (name == "accelerate") return ExportFormat::kAccelerate;
  return std::nullopt;
}

std::string_view usual_file_name(ExportFormat format) {
  switch (format) {
    case ExportFormat::kPyTorch:
      return "parallel.py";
    case ExportFormat::kDeepSpeed:
      return "ds_config.json";
    case ExportFormat::kAccelerate:
      return "accelerate.yaml";
  }
  return "";
}

FrameworkFile framework_export(ExportFormat format, const TunedJob& job) {
  switch (format) {
    case ExportFormat::kPyTorch:
      return pytorch_code(job);
    case ExportFormat::kDeepSpeed:
      return deepspeed_config(job);
    case ExportFormat::kAccelerate:
      return accelerate_config(job);
  }
  return {};
}

}  // namespace shardlens::trace::frameworks
