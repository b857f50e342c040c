// Puts joined GPU activities into the recorder: a lane per stream, per stream that the host waits
// for and per launching thread that has no lane of operators. What began outside of the steps that
// are recorded in detail is left out. The flush thread only, which waits for the recorder where a
// backlog is longer than its queues.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/cupti/api/activity_sink.h"
#include "profiler/recorder/recorder.h"
#include "profiler/recorder/string_interner.h"

namespace shardlens::profiler::cupti {

using KernelObserver = std::function<void(const KernelActivity&, trace::model::StringId name)>;

class RecorderSink final : public ActivitySink {
 public:
  explicit RecorderSink(recorder::Recorder& recorder, KernelObserver on_kernel = {})
      : recorder_(recorder), on_kernel_(std::move(on_kernel)) {}

  void kernel(const KernelActivity& kernel) override;
  void copy(const CopyActivity& copy) override;
  void launch(const LaunchActivity& launch) override;
  void wait(const WaitActivity& wait) override;
  void launched_kernel(std::uint64_t launch, const KernelActivity& kernel) override;
  void replayed_kernel(const ReplayedKernel& replay) override;
  void bad_timestamps() override;
  void unmatched(std::int64_t count) override;

 private:
  int stream_lane(trace::model::LaneKind kind, const StreamKey& stream);
  // What belongs to one host thread, or to one stream that is waited for.
  enum class Owner : std::uint8_t { kLaunches, kWaits };
  int lane_of(Owner owner, std::uint32_t number);
  // Before anything is put into the recorder.
  void make_room();
  trace::model::StringId name_id(std::string_view mangled_name);

  // Each puts three records into a queue at most: far less than half of the smallest.
  static constexpr int kCallsPerLook = 256;
  int calls_ = 0;

  recorder::Recorder& recorder_;
  const KernelObserver on_kernel_;
  std::map<std::pair<trace::model::LaneKind, StreamKey>, int> stream_lanes_;
  std::map<std::pair<Owner, std::uint32_t>, int> lanes_;
  std::unordered_map<std::string, trace::model::StringId, recorder::TextHash, std::equal_to<>>
      names_;
};

// "void f<int>(int*)" from "_Z1fIiEvPT_"; the name itself where it is not mangled.
std::string readable_name(std::string_view mangled_name);

}  // namespace shardlens::profiler::cupti
