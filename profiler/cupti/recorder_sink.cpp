#include "profiler/cupti/recorder_sink.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace shardlens::profiler {
namespace {

template <typename T>
trace::Event to_event(const T& activity, trace::StringId name) {
  trace::Event event;
  event.start_ns = activity.start_ns;
  event.duration_ns = activity.end_ns - activity.start_ns;
  event.name = name;
  event.correlation = activity.correlation;
  return event;
}

}  // namespace

std::string readable_name(std::string_view mangled_name) {
  const std::string name(mangled_name);
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? std::string(text.get()) : name;
}

void RecorderSink::kernel(const KernelActivity& kernel) {
  if (on_kernel_) on_kernel_(kernel, name_id(kernel.name));
  if (!recorder_.wanted_detail_at(kernel.start_ns)) return;
  trace::Event event = to_event(kernel, name_id(kernel.name));
  event.flags = trace::kEventCompute;
  if (kernel.name.find("nccl") != std::string_view::npos) event.flags = 0;
  recorder_.add_event(stream_lane(trace::LaneKind::kCompute, kernel.stream),
                      trace::EventKind::kKernel, event);
}

void RecorderSink::copy(const CopyActivity& copy) {
  if (!recorder_.wanted_detail_at(copy.start_ns)) return;
  trace::Event event = to_event(copy, name_id(copy.name));
  event.value = copy.bytes;
  recorder_.add_event(stream_lane(trace::LaneKind::kCopies, copy.stream), trace::EventKind::kCopy,
                      event);
}

void RecorderSink::launch(const LaunchActivity& launch) {
  if (!recorder_.wanted_detail_at(launch.start_ns)) return;
  recorder_.add_event(launch_lane(launch.thread), trace::EventKind::kLaunch,
                      to_event(launch, name_id(launch.name)));
}

void RecorderSink::collective(std::uint64_t handle, const KernelActivity& kernel) {
  recorder_.start_collective(handle, stream_lane(trace::LaneKind::kCommunication, kernel.stream),
                             kernel.start_ns);
  recorder_.end_collective(handle, kernel.end_ns);
}

void RecorderSink::overhead(std::int64_t ns) { recorder_.add_callback_cost(ns); }

void RecorderSink::bad_timestamps() { recorder_.count_lost("CUPTI record without true times", 1); }

int RecorderSink::stream_lane(trace::LaneKind kind, const StreamKey& stream) {
  const std::pair key{kind, stream};
  if (const auto found = stream_lanes_.find(key); found != stream_lanes_.end())
    return found->second;
  const int lane = recorder_.add_lane(kind, "stream " + std::to_string(stream.stream));
  return stream_lanes_.emplace(key, lane).first->second;
}

int RecorderSink::launch_lane(std::uint32_t thread) {
  if (const auto found = launch_lanes_.find(thread); found != launch_lanes_.end())
    return found->second;
  const int lane = recorder_.add_lane(trace::LaneKind::kOperators,
                                      "launches of thread " + std::to_string(thread));
  return launch_lanes_.emplace(thread, lane).first->second;
}

trace::StringId RecorderSink::name_id(std::string_view mangled_name) {
  if (const auto found = names_.find(mangled_name); found != names_.end()) return found->second;
  const auto id = recorder_.intern(readable_name(mangled_name));
  return names_.emplace(mangled_name, id).first->second;
}

}  // namespace shardlens::profiler
