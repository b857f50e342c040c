// The functions of CUPTI that are used, resolved at run time: a process without CUPTI works, and a
// library inside another program takes the CUPTI that is there. Any thread.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "trace/base/result.h"

namespace shardlens::profiler::cupti {

struct CuptiApi {
  decltype(&cuptiGetVersion) get_version = nullptr;
  decltype(&cuptiGetTimestamp) get_timestamp = nullptr;
  decltype(&cuptiGetResultString) get_result_string = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks = nullptr;
  decltype(&cuptiActivityEnable) enable = nullptr;
  decltype(&cuptiActivityDisable) disable = nullptr;
  decltype(&cuptiActivityFlushAll) flush_all = nullptr;
  decltype(&cuptiActivityGetNextRecord) get_next_record = nullptr;
  decltype(&cuptiActivityGetNumDroppedRecords) get_dropped = nullptr;
  decltype(&cuptiActivityPushExternalCorrelationId) push_external_id = nullptr;
  decltype(&cuptiActivityPopExternalCorrelationId) pop_external_id = nullptr;
  // Not in every version; may be null.
  decltype(&cuptiActivityEnableDriverApi) enable_driver_api = nullptr;
  decltype(&cuptiActivityEnableRuntimeApi) enable_runtime_api = nullptr;
  decltype(&cuptiActivityEnableAllSyncRecords) enable_all_sync_records = nullptr;
  decltype(&cuptiActivitySetAttribute) set_attribute = nullptr;
  decltype(&cuptiSubscribe) subscribe = nullptr;
  decltype(&cuptiUnsubscribe) unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) enable_callback = nullptr;
  decltype(&cuptiGetGraphNodeId) get_graph_node_id = nullptr;

  std::filesystem::path library;  // where it was found
};

// The CUPTI that the process has loaded already, else `library` if it is not empty, else what the
// loader finds. kMissing with what was tried. It is never unloaded.
trace::base::Result<CuptiApi> load_cupti(const std::filesystem::path& library = {});

// Whether its records begin as those that decode() reads: CUDA 12.0 to 13.x. kFailed with what it
// is instead.
trace::base::Result<std::uint32_t> check_version(const CuptiApi& api);

// "… (35)"
std::string result_text(const CuptiApi& api, CUptiResult result);

// What can be done about a refusal; "" if nothing is known.
std::string advice_on(CUptiResult result);

}  // namespace shardlens::profiler::cupti
