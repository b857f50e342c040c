// Puts joined GPU activities into the recorder: a lane per stream and per launching thread. What
// began outside of the steps that are recorded in detail is left out.
// The flush thread only.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "profiler/cupti/activity_join.h"
#include "profiler/recorder.h"
#include "profiler/string_interner.h"

namespace shardlens::profiler {

using KernelObserver = std::function<void(const KernelActivity&, trace::StringId name)>;

class RecorderSink final : public ActivitySink {
 public:
  explicit RecorderSink(Recorder& recorder, KernelObserver on_kernel = {})
      : recorder_(recorder), on_kernel_(std::move(on_kernel)) {}

  void kernel(const KernelActivity& kernel) override;
  void copy(const CopyActivity& copy) override;
  void launch(const LaunchActivity& launch) override;
  void collective(std::uint64_t handle, const KernelActivity& kernel) override;
  void overhead(std::int64_t ns) override;
  void bad_timestamps() override;

 private:
  int stream_lane(trace::LaneKind kind, const StreamKey& stream);
  int launch_lane(std::uint32_t thread);
  trace::StringId name_id(std::string_view mangled_name);

  Recorder& recorder_;
  const KernelObserver on_kernel_;
  std::map<std::pair<trace::LaneKind, StreamKey>, int> stream_lanes_;
  std::map<std::uint32_t, int> launch_lanes_;
  std::unordered_map<std::string, trace::StringId, TextHash, std::equal_to<>> names_;
};

// "void f<int>(int*)" from "_Z1fIiEvPT_"; the name itself where it is not mangled.
std::string readable_name(std::string_view mangled_name);

}  // namespace shardlens::profiler
