#include "profiler/cupti/api/cupti_api.h"

#include <dlfcn.h>
#include <link.h>

#include <array>

namespace shardlens::profiler::cupti {
namespace {

constexpr std::array<const char*, 2> kNames{"libcupti.so.13", "libcupti.so.12"};

// CUPTI's own numbers (cupti_version.h): 19 is CUDA 12.0, 28 is 12.9.1, then major · 10000 + …. But
// the library of CUDA 12.1 says 18, as that of 11.8 does, which has another name.
constexpr std::uint32_t kCuda12 = 18;
constexpr std::uint32_t kAfterCuda12 = 99;
constexpr std::uint32_t kCuda13 = 130'000;
constexpr std::uint32_t kAfterCuda13 = 139'999;

void* find_library(const std::filesystem::path& library, std::string& tried) {
  for (const char* name : kNames)
    if (void* handle = dlopen(name, RTLD_NOW | RTLD_NOLOAD)) return handle;
  const auto open = [&tried](const char* name) {
    void* handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (const char* reason = handle == nullptr ? dlerror() : nullptr)
      tried += (tried.empty() ? "" : "; ") + std::string(reason);
    return handle;
  };
  if (!library.empty())
    if (void* handle = open(library.c_str())) return handle;
  for (const char* name : kNames)
    if (void* handle = open(name)) return handle;
  return nullptr;
}

std::filesystem::path path_of(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr ? map->l_name : "";
}

class Resolver {
 public:
  explicit Resolver(void* handle) : handle_(handle) {}

  template <typename Function>
  Resolver& need(Function& function, const char* name) {
    if (!find(function, name) && missing_.empty()) missing_ = name;
    return *this;
  }
  template <typename Function>
  bool find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    return function != nullptr;
  }
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

}  // namespace

trace::base::Result<CuptiApi> load_cupti(const std::filesystem::path& library) {
  std::string tried;
  void* handle = find_library(library, tried);
  if (handle == nullptr)
    return trace::base::fail(
        trace::base::ErrorKind::kMissing,
        "GPU activity cannot be recorded: CUPTI was not found (" + tried +
            "). Install the Python package nvidia-cuda-cupti of the program's CUDA "
            "version, or add the folder extras/CUPTI/lib64 of a CUDA toolkit to "
            "LD_LIBRARY_PATH.");
  CuptiApi api;
  api.library = path_of(handle);
  Resolver resolver(handle);
  resolver.need(api.get_version, "cuptiGetVersion")
      .need(api.get_timestamp, "cuptiGetTimestamp")
      .need(api.get_result_string, "cuptiGetResultString")
      .need(api.register_callbacks, "cuptiActivityRegisterCallbacks")
      .need(api.enable, "cuptiActivityEnable")
      .need(api.disable, "cuptiActivityDisable")
      .need(api.flush_all, "cuptiActivityFlushAll")
      .need(api.get_next_record, "cuptiActivityGetNextRecord")
      .need(api.get_dropped, "cuptiActivityGetNumDroppedRecords")
      .need(api.push_external_id, "cuptiActivityPushExternalCorrelationId")
      .need(api.pop_external_id, "cuptiActivityPopExternalCorrelationId");
  resolver.find(api.enable_driver_api, "cuptiActivityEnableDriverApi");
  resolver.find(api.enable_runtime_api, "cuptiActivityEnableRuntimeApi");
  resolver.find(api.enable_all_sync_records, "cuptiActivityEnableAllSyncRecords");
  resolver.find(api.set_attribute, "cuptiActivitySetAttribute");
  resolver.find(api.subscribe, "cuptiSubscribe");
  resolver.find(api.unsubscribe, "cuptiUnsubscribe");
  resolver.find(api.enable_callback, "cuptiEnableCallback");
  resolver.find(api.get_graph_node_id, "cuptiGetGraphNodeId");
  if (resolver.missing().empty()) return api;
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "GPU activity cannot be recorded: " + api.library.string() + " has no " +
                               resolver.missing() + ". CUPTI of CUDA 12 or 13 is needed.");
}

trace::base::Result<std::uint32_t> check_version(const CuptiApi& api) {
  std::uint32_t version = 0;
  const CUptiResult result = api.get_version(&version);
  if (result == CUPTI_SUCCESS && ((version >= kCuda12 && version <= kAfterCuda12) ||
                                  (version >= kCuda13 && version <= kAfterCuda13)))
    return version;
  const std::string found = result == CUPTI_SUCCESS
                                ? "has API version " + std::to_string(version)
                                : "does not tell its version: " + result_text(api, result);
  return trace::base::fail(trace::base::ErrorKind::kFailed,
                           "GPU activity cannot be recorded: CUPTI (" + api.library.string() +
                               ") " + found +
                               ". Its records are known for CUDA 12 and 13: load the CUPTI of "
                               "one of these.");
}

std::string result_text(const CuptiApi& api, CUptiResult result) {
  const char* text = nullptr;
  api.get_result_string(result, &text);
  return std::string(text == nullptr ? "unknown error" : text) + " (" + std::to_string(result) +
         ")";
}

std::string advice_on(CUptiResult result) {
  switch (result) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "Another profiler (nsys, ncu, the torch profiler) has CUPTI: run without it.";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
      return "The driver lets only administrators profile: load the kernel module nvidia with "
             "NVreg_RestrictProfilingToAdminUsers=0, or give the process (or container) the "
             "capability CAP_SYS_ADMIN.";
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED:
      return "The GPU is virtual: its host must allow profiling (vGPU's plugin parameter "
             "enable_profiling).";
    case CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED:
      return "The GPU is in confidential mode, in which this CUPTI cannot record.";
    case CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_CMP_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_SLI_DEVICE_NOT_SUPPORTED:
    case CUPTI_ERROR_WSL_DEVICE_NOT_SUPPORTED:
      return "This kind of device (MIG, CMP, SLI or WSL) cannot be recorded by this CUPTI.";
    case CUPTI_ERROR_UNKNOWN:
    case CUPTI_ERROR_NOT_INITIALIZED:
      return "Check with `shardlens doctor` that there is a GPU with a working driver.";
    default:
      return "";
  }
}

}  // namespace shardlens::profiler::cupti
