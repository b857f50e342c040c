// Events of PyTorch's profiler and traces of them in its JSON, made by hand.
#pragma once

#include <string>
#include <vector>

namespace shardlens::trace::interop {

inline std::string complete(const std::string& category, const std::string& name,
                            const std::string& thread, double start_us, double duration_us,
                            const std::string& arguments = "") {
  return "{\"ph\":\"X\",\"cat\":\"" + category + "\",\"name\":\"" + name +
         "\",\"pid\":" + (category == "kernel" || category == "gpu_memcpy" ? "0" : "77") +
         ",\"tid\":" + thread + ",\"ts\":" + std::to_string(start_us) +
         ",\"dur\":" + std::to_string(duration_us) + ",\"args\":{" + arguments + "}}";
}

// `events`: of a trace with this distributedInfo, "" for none.
inline std::string trace_of(const std::vector<std::string>& events, const std::string& info) {
  std::string text = "{";
  if (!info.empty()) text += "\"distributedInfo\":{" + info + "},";
  text += "\"traceEvents\":[";
  for (const auto& event : events) text += (text.back() == '[' ? "" : ",") + event;
  return text + "]}";
}

inline std::string kernel_at(const std::string& ts, const std::string& duration = "5") {
  return "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":" + ts +
         ",\"dur\":" + duration + ",\"args\":{\"device\":0,\"stream\":7}}";
}

}  // namespace shardlens::trace::interop
