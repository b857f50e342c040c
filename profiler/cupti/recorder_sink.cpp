#include "profiler/cupti/recorder_sink.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>

namespace shardlens::profiler::cupti {
namespace {

template <typename T>
trace::model::Event to_event(const T& activity, trace::model::StringId name) {
  trace::model::Event event;
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
  make_room();
  if (on_kernel_) on_kernel_(kernel, name_id(kernel.name));
  if (!recorder_.wanted_detail_at(kernel.start_ns)) return;
  trace::model::Event event = to_event(kernel, name_id(kernel.name));
  event.value = static_cast<std::int64_t>(kernel.graph_node);
  const bool communicates = is_communication(kernel.name);
  event.flags = communicates ? 0 : trace::model::kEventCompute;
  const auto kind =
      communicates ? trace::model::LaneKind::kCommunication : trace::model::LaneKind::kCompute;
  recorder_.add_event(stream_lane(kind, kernel.stream), trace::model::EventKind::kKernel, event);
}

void RecorderSink::copy(const CopyActivity& copy) {
  make_room();
  if (!recorder_.wanted_detail_at(copy.start_ns)) return;
  trace::model::Event event = to_event(copy, name_id(copy.name));
  event.value = copy.bytes;
  recorder_.add_event(stream_lane(trace::model::LaneKind::kCopies, copy.stream),
                      trace::model::EventKind::kCopy, event);
}

void RecorderSink::launch(const LaunchActivity& launch) {
  make_room();
  if (!recorder_.wanted_detail_at(launch.start_ns)) return;
  const auto of_operators = recorder_.lane_of_thread(launch.thread);
  recorder_.add_event(of_operators ? *of_operators : lane_of(Owner::kLaunches, launch.thread),
                      trace::model::EventKind::kLaunch, to_event(launch, name_id(launch.name)));
}

void RecorderSink::wait(const WaitActivity& wait) {
  make_room();
  if (!recorder_.wanted_detail_at(wait.start_ns)) return;
  recorder_.add_event(lane_of(Owner::kWaits, wait.stream), trace::model::EventKind::kLaunch,
                      to_event(wait, name_id(wait.name)));
}

void RecorderSink::launched_kernel(std::uint64_t launch, const KernelActivity& kernel) {
  make_room();
  recorder_.end_launch(launch, stream_lane(trace::model::LaneKind::kCommunication, kernel.stream),
                       kernel.start_ns, kernel.end_ns);
}

void RecorderSink::replayed_kernel(const ReplayedKernel& replay) {
  make_room();
  const KernelActivity& kernel = replay.kernel;
  if (!recorder_.wanted_detail_at(kernel.start_ns)) return;
  recorder_.end_replay({.launch = replay.launch,
                        .place = replay.place,
                        .number = replay.number,
                        .called_ns = replay.called_ns,
                        .lane = stream_lane(trace::model::LaneKind::kCommunication, kernel.stream),
                        .start_ns = kernel.start_ns,
                        .end_ns = kernel.end_ns});
}

void RecorderSink::make_room() {
  if (++calls_ % kCallsPerLook == 0) recorder_.wait_for_room();
}

void RecorderSink::bad_timestamps() { recorder_.count_lost("CUPTI record without true times", 1); }

void RecorderSink::unmatched(std::int64_t count) {
  recorder_.count_lost("CUPTI record without its counterpart", count);
}

int RecorderSink::stream_lane(trace::model::LaneKind kind, const StreamKey& stream) {
  const std::pair key{kind, stream};
  if (const auto found = stream_lanes_.find(key); found != stream_lanes_.end())
    return found->second;
  const int lane = recorder_.add_lane(kind, "stream " + std::to_string(stream.stream));
  return stream_lanes_.emplace(key, lane).first->second;
}

int RecorderSink::lane_of(Owner owner, std::uint32_t number) {
  const std::pair key{owner, number};
  if (const auto found = lanes_.find(key); found != lanes_.end()) return found->second;
  std::string name;
  switch (owner) {
    case Owner::kLaunches:
      name = "launches of thread " + std::to_string(number);
      break;
    case Owner::kWaits:
      name = number == WaitActivity::kNoStream ? "host waits for the GPU"
                                               : "host waits for stream " + std::to_string(number);
      break;
  }
  const int lane = recorder_.add_lane(trace::model::LaneKind::kOperators, name);
  return lanes_.emplace(key, lane).first->second;
}

trace::model::StringId RecorderSink::name_id(std::string_view mangled_name) {
  if (const auto found = names_.find(mangled_name); found != names_.end()) return found->second;
  const auto id = recorder_.intern(readable_name(mangled_name));
  return names_.emplace(mangled_name, id).first->second;
}

}  // namespace shardlens::profiler::cupti
