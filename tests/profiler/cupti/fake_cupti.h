// CUPTI as a table of functions with records of the test's choice: fills the buffers that it asks
// for, as CUPTI does. One at a time. For tests.
#pragma once

#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "profiler/cupti/api/cupti_api.h"
#include "profiler/cupti/buffer_pool.h"
#include "profiler/recorder/recorder.h"

namespace shardlens::profiler::cupti {

class FakeCupti {
 public:
  FakeCupti() { instance_ = this; }
  ~FakeCupti() { instance_ = nullptr; }
  FakeCupti(const FakeCupti&) = delete;
  FakeCupti& operator=(const FakeCupti&) = delete;

  std::uint32_t version = CUPTI_API_VERSION;
  std::int64_t clock_offset_ns = 0;
  std::size_t buffer_limit = SIZE_MAX;               // records per buffer
  std::map<CUpti_ActivityKind, CUptiResult> refuse;  // what enabling a kind answers
  CUptiResult refuse_callbacks = CUPTI_SUCCESS;
  CUpti_CallbackId first_unknown_runtime_call = CUPTI_RUNTIME_TRACE_CBID_SIZE;
  std::size_t dropped = 0;

  std::set<CUpti_ActivityKind> enabled;
  std::set<CUpti_CallbackId> enabled_calls;  // of the driver
  std::set<CUpti_CallbackId> enabled_runtime_calls;
  std::map<CUpti_ActivityAttribute, int> attributes;  // as set before callbacks were registered
  std::vector<std::uint64_t> pushed;                  // of this process's threads, in order
  int popped = 0;
  int forced_flushes = 0;
  int refused_buffers = 0;

  CUptiResult refuse_subscriber = CUPTI_SUCCESS;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> refuse_callback;
  bool has_subscriber = false;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> wanted_callbacks;

  // As CUPTI does on the thread that builds a graph. Nodes stand for themselves: their address is
  // their id.
  void call_back_node(CUpti_CallbackIdResource what, std::uint64_t node, std::uint64_t original = 0,
                      CUgraphNodeType type = CU_GRAPH_NODE_TYPE_KERNEL) {
    CUpti_GraphData graph{};
    graph.node = reinterpret_cast<CUgraphNode>(node);
    graph.originalNode = reinterpret_cast<CUgraphNode>(original);
    graph.nodeType = type;
    CUpti_ResourceData resource{};
    resource.resourceDescriptor = &graph;
    call_back(CUPTI_CB_DOMAIN_RESOURCE, what, &resource);
  }
  void call_back(CUpti_CallbackDomain domain, CUpti_CallbackId what, const void* data = nullptr) {
    if (has_subscriber && wanted_callbacks.contains({domain, what}))
      callback_(callback_argument_, domain, what, data);
  }

  // As CUPTI does on the job's threads, at any time.
  std::uint8_t* request_buffer() {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, max_records = 0;
    request_(&buffer, &size, &max_records);
    return size == 0 ? nullptr : buffer;
  }
  void complete_buffer(std::uint8_t* buffer, std::size_t used) {
    complete_(nullptr, 0, buffer, CuptiBufferPool::kBufferBytes, used);
  }

  // Delivered with the next flush. `bytes` of it: less than its size stands for an older CUPTI.
  template <typename Record>
  void add(const Record& record, std::size_t bytes = sizeof(Record)) {
    const std::lock_guard lock(mutex_);
    const auto* begin = reinterpret_cast<const std::uint8_t*>(&record);
    records_.emplace_back(begin, begin + bytes);
  }

  static CuptiApi api() {
    CuptiApi api;
    set_answers(api);
    set_choice_of_records(api);
    set_delivery(api);
    set_external_ids(api);
    set_callbacks(api);
    api.library = "libcupti of the test";
    return api;
  }

 private:
  // CUPTI's records know their length from their kind; these are preceded by it.
  struct Header {
    std::uint64_t bytes = 0;
  };

  static void set_answers(CuptiApi& api) {
    api.get_version = [](std::uint32_t* version) {
      *version = instance_->version;
      return CUPTI_SUCCESS;
    };
    api.get_timestamp = [](std::uint64_t* time) {
      *time = static_cast<std::uint64_t>(recorder::Recorder::now_ns() + instance_->clock_offset_ns);
      return CUPTI_SUCCESS;
    };
    api.get_result_string = [](CUptiResult, const char** text) {
      *text = "CUPTI_ERROR_OF_THE_TEST";
      return CUPTI_SUCCESS;
    };
    api.set_attribute = [](CUpti_ActivityAttribute attribute, std::size_t* bytes, void* value) {
      if (*bytes != 1) return CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT;
      if (instance_->request_ == nullptr)
        instance_->attributes[attribute] = *static_cast<const std::uint8_t*>(value);
      return CUPTI_SUCCESS;
    };
  }
  static void set_choice_of_records(CuptiApi& api) {
    api.enable = [](CUpti_ActivityKind kind) {
      const auto found = instance_->refuse.find(kind);
      if (found != instance_->refuse.end()) return found->second;
      instance_->enabled.insert(kind);
      return CUPTI_SUCCESS;
    };
    api.disable = [](CUpti_ActivityKind kind) {
      instance_->enabled.erase(kind);
      return CUPTI_SUCCESS;
    };
    api.enable_driver_api = [](CUpti_CallbackId call, std::uint8_t enable) {
      return choose(instance_->enabled_calls, call, enable != 0);
    };
    api.enable_runtime_api = [](CUpti_CallbackId call, std::uint8_t enable) {
      if (call >= instance_->first_unknown_runtime_call) return CUPTI_ERROR_INVALID_PARAMETER;
      return choose(instance_->enabled_runtime_calls, call, enable != 0);
    };
  }
  static CUptiResult choose(std::set<CUpti_CallbackId>& calls, CUpti_CallbackId call,
                            bool is_wanted) {
    if (is_wanted) {
      calls.insert(call);
    } else {
      calls.erase(call);
    }
    return CUPTI_SUCCESS;
  }
  static void set_delivery(CuptiApi& api) {
    api.register_callbacks = [](CUpti_BuffersCallbackRequestFunc request,
                                CUpti_BuffersCallbackCompleteFunc complete) {
      instance_->request_ = request;
      instance_->complete_ = complete;
      return instance_->refuse_callbacks;
    };
    api.flush_all = [](std::uint32_t flag) { return instance_->flush(flag); };
    api.get_next_record = [](std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
      return instance_->next_record(buffer, bytes, record);
    };
    api.get_dropped = [](CUcontext, std::uint32_t, std::size_t* count) {
      *count = std::exchange(instance_->dropped, 0);
      return CUPTI_SUCCESS;
    };
  }
  static void set_external_ids(CuptiApi& api) {
    api.push_external_id = [](CUpti_ExternalCorrelationKind, std::uint64_t id) {
      instance_->pushed.push_back(id);
      return CUPTI_SUCCESS;
    };
    api.pop_external_id = [](CUpti_ExternalCorrelationKind, std::uint64_t* id) {
      *id = instance_->pushed.empty() ? 0 : instance_->pushed.back();
      ++instance_->popped;
      return CUPTI_SUCCESS;
    };
  }

  static void set_callbacks(CuptiApi& api) {
    api.subscribe = [](CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                       void* argument) {
      if (instance_->refuse_subscriber != CUPTI_SUCCESS) return instance_->refuse_subscriber;
      instance_->has_subscriber = true;
      instance_->callback_ = callback;
      instance_->callback_argument_ = argument;
      *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(instance_);
      return CUPTI_SUCCESS;
    };
    api.unsubscribe = [](CUpti_SubscriberHandle) {
      instance_->has_subscriber = false;
      return CUPTI_SUCCESS;
    };
    api.enable_callback = [](std::uint32_t, CUpti_SubscriberHandle, CUpti_CallbackDomain domain,
                             CUpti_CallbackId what) {
      if (instance_->refuse_callback.contains({domain, what})) return CUPTI_ERROR_INVALID_PARAMETER;
      instance_->wanted_callbacks.insert({domain, what});
      return CUPTI_SUCCESS;
    };
    api.get_graph_node_id = [](CUgraphNode node, std::uint64_t* id) {
      *id = reinterpret_cast<std::uint64_t>(node);
      return CUPTI_SUCCESS;
    };
  }

  CUptiResult flush(std::uint32_t flag) {
    const std::lock_guard lock(mutex_);
    if ((flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0) ++forced_flushes;
    std::size_t next = 0;
    while (next < records_.size()) {
      std::uint8_t* buffer = nullptr;
      std::size_t size = 0, max_records = 0, used = 0, count = 0;
      request_(&buffer, &size, &max_records);
      if (buffer == nullptr) {
        ++refused_buffers;
        break;
      }
      for (; next < records_.size() && count < buffer_limit; ++next, ++count) {
        const auto& record = records_[next];
        if (used + sizeof(Header) + record.size() > size) break;
        const Header header{record.size()};
        std::memcpy(buffer + used, &header, sizeof header);
        std::memcpy(buffer + used + sizeof header, record.data(), record.size());
        used += (sizeof header + record.size() + 7) / 8 * 8;
      }
      complete_(nullptr, 0, buffer, size, used);
    }
    records_.clear();
    return CUPTI_SUCCESS;
  }

  CUptiResult next_record(std::uint8_t* buffer, std::size_t bytes, CUpti_Activity** record) {
    std::uint8_t* at = buffer;
    if (*record != nullptr) {
      at = reinterpret_cast<std::uint8_t*>(*record);
      Header header;
      std::memcpy(&header, at - sizeof header, sizeof header);
      at += (sizeof header + header.bytes + 7) / 8 * 8 - sizeof header;
    }
    if (at + sizeof(Header) >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = reinterpret_cast<CUpti_Activity*>(at + sizeof(Header));
    return CUPTI_SUCCESS;
  }

  static inline FakeCupti* instance_ = nullptr;
  CUpti_BuffersCallbackRequestFunc request_ = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete_ = nullptr;
  CUpti_CallbackFunc callback_ = nullptr;
  void* callback_argument_ = nullptr;
  std::mutex mutex_;
  std::vector<std::vector<std::uint8_t>> records_;
};

}  // namespace shardlens::profiler::cupti
