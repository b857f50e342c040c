#include "profiler/cupti/enable_activities.h"

#include <string>

#include "profiler/cupti/api/launch_calls.h"

namespace shardlens::profiler::cupti {
namespace {

// Kernels, copies and memsets cost 1.4 % of a step of 2,200 kernels in 27 ms on an H200, launch
// calls and external ids 0.6 % more.
constexpr CUpti_ActivityKind kNeededKinds[] = {
    CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
    CUPTI_ACTIVITY_KIND_MEMCPY,
    CUPTI_ACTIVITY_KIND_MEMCPY2,
    CUPTI_ACTIVITY_KIND_MEMSET,
    CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION,
};

// Useful but not needed. Waits are few per step; their cost was not measured.
constexpr CUpti_ActivityKind kWaits = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;

trace::base::Result<void> check(const CuptiApi& api, CUptiResult result, const std::string& what) {
  if (result == CUPTI_SUCCESS) return {};
  const std::string advice = advice_on(result);
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "GPU activity cannot be recorded: " + what + " failed with " +
                               result_text(api, result) + "." +
                               (advice.empty() ? "" : " " + advice));
}

// Must come first. A CUPTI that does not know an attribute (before CUDA 12.3 the first) behaves as
// it is asked to.
void set_attributes(const CuptiApi& api) {
  const auto set = [&api](CUpti_ActivityAttribute attribute, std::uint8_t value) {
    std::size_t bytes = sizeof value;
    if (api.set_attribute != nullptr)
      static_cast<void>(api.set_attribute(attribute, &bytes, &value));
  };
  // By default CUPTI 13 fills a buffer per thread. Then kernels of one stream do not come in the
  // order of their start where several threads launch them, as in forward and backward.
  set(CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, 0);
  // The pool clears its buffers. Otherwise CUPTI does, on the thread that launches.
  set(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, 1);
}

// One by one, since RUNTIME or DRIVER in full costs up to 10 % of a step. None where CUPTI lacks
// the functions for it, as before CUDA 12.5.
trace::base::Result<void> enable_launch_calls(const CuptiApi& api) {
  if (api.enable_driver_api == nullptr) return {};
  for (const LaunchCall& call : kDriverLaunchCalls)
    TRY(check(api, api.enable_driver_api(call.id, 1),
              "cuptiActivityEnableDriverApi of " + std::string(call.name)));
  if (api.enable_runtime_api == nullptr) return {};
  // An older CUPTI does not know the newest, nor do programs of its time.
  for (const LaunchCall& call : kRuntimeLaunchCalls)
    static_cast<void>(api.enable_runtime_api(call.id, 1));
  return {};
}

void disable_launch_calls(const CuptiApi& api) {
  for (const LaunchCall& call : kDriverLaunchCalls)
    if (api.enable_driver_api != nullptr) static_cast<void>(api.enable_driver_api(call.id, 0));
  for (const LaunchCall& call : kRuntimeLaunchCalls)
    if (api.enable_runtime_api != nullptr) static_cast<void>(api.enable_runtime_api(call.id, 0));
}

trace::base::Result<void> enable_needed(const CuptiApi& api,
                                        CUpti_BuffersCallbackRequestFunc on_requested,
                                        CUpti_BuffersCallbackCompleteFunc on_completed) {
  set_attributes(api);
  TRY(check(api, api.register_callbacks(on_requested, on_completed),
            "cuptiActivityRegisterCallbacks"));
  for (const CUpti_ActivityKind kind : kNeededKinds)
    TRY(check(api, api.enable(kind), "cuptiActivityEnable of kind " + std::to_string(kind)));
  return enable_launch_calls(api);
}

// What stayed enabled would cost time and ask for buffers that nobody gives. Disabling what was not
// enabled does no harm, and a failure has no remedy.
void disable_needed(const CuptiApi& api) {
  disable_launch_calls(api);
  for (const CUpti_ActivityKind kind : kNeededKinds) static_cast<void>(api.disable(kind));
}

}  // namespace

trace::base::Result<std::string> enable_activities(const CuptiApi& api,
                                                   CUpti_BuffersCallbackRequestFunc on_requested,
                                                   CUpti_BuffersCallbackCompleteFunc on_completed) {
  if (auto enabled = enable_needed(api, on_requested, on_completed); !enabled) {
    disable_needed(api);
    return tl::make_unexpected(enabled.error());
  }
  // Questions whether something has ended are asked thousands of times by those who poll.
  if (api.enable_all_sync_records != nullptr) static_cast<void>(api.enable_all_sync_records(0));
  std::string refused = api.enable_driver_api == nullptr || api.enable_runtime_api == nullptr
                            ? "launch calls (CUPTI of CUDA 12.5 or newer does)"
                            : "";
  if (const CUptiResult result = api.enable(kWaits); result != CUPTI_SUCCESS) {
    refused += (refused.empty() ? "" : ", ") + ("waits for the GPU: " + result_text(api, result));
  }
  return refused;
}

}  // namespace shardlens::profiler::cupti
