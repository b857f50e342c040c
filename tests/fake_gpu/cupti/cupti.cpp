#include <algorithm>
#include <atomic>
#include <bitset>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

#include "tests/fake_gpu/cuda/timeline.h"
#include "tests/fake_gpu/cupti/cupti_records.h"

namespace shardlens::fake_gpu {
namespace {

struct Waiting {
  std::int64_t end_ns;
  std::vector<std::uint8_t> record;
};

struct Cupti {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::bitset<CUPTI_ACTIVITY_KIND_COUNT> kinds;
  std::set<std::pair<CUpti_ActivityKind, CUpti_CallbackId>> calls;
  std::vector<Waiting> waiting;
  std::size_t dropped = 0;
  std::atomic<std::uint32_t> next_correlation{1};
};

// The real one's static objects end at exit(), before those of whoever was loaded first.
std::atomic<bool> has_ended{false};
struct End {
  ~End() { has_ended = true; }
};

Cupti& cupti() {
  static auto* instance = new Cupti;  // used until the process has ended
  static End end;                     // as if loaded now
  return *instance;
}

thread_local std::map<CUpti_ExternalCorrelationKind, std::vector<std::uint64_t>> external_ids;

// Each with its own size: what a reader steps over.
std::size_t bytes_of(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_DRIVER:
    case CUPTI_ACTIVITY_KIND_RUNTIME:
      return sizeof(CUpti_ActivityAPI);
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
      return sizeof(CUpti_ActivityExternalCorrelation);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(CUpti_ActivityMemcpy6);
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return sizeof(CUpti_ActivityMemset4);
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
      return sizeof(CUpti_ActivitySynchronization2);
    default:
      return sizeof(CUpti_ActivityKernel10);
  }
}

// Records that have ended by `now_ns`, in the order of their ends.
std::vector<Waiting> take_ended(Cupti& all, std::int64_t now_ns) {
  const std::lock_guard lock(all.mutex);
  const auto rest = std::ranges::stable_partition(
      all.waiting, [now_ns](const Waiting& each) { return each.end_ns <= now_ns; });
  std::vector<Waiting> ended(std::make_move_iterator(all.waiting.begin()),
                             std::make_move_iterator(rest.begin()));
  all.waiting.erase(all.waiting.begin(), rest.begin());
  std::ranges::stable_sort(ended, {}, &Waiting::end_ns);
  return ended;
}

// Into as many buffers as it takes; the records that nobody gives a buffer for are lost.
void deliver(Cupti& all, const std::vector<Waiting>& records) {
  for (std::size_t next = 0; next < records.size();) {
    std::uint8_t* buffer = nullptr;
    std::size_t size = 0, most = 0, used = 0;
    all.request(&buffer, &size, &most);
    if (buffer == nullptr) {
      const std::lock_guard lock(all.mutex);
      all.dropped += records.size() - next;
      return;
    }
    for (; next < records.size() && used + records[next].record.size() <= size; ++next) {
      std::memcpy(buffer + used, records[next].record.data(), records[next].record.size());
      used += records[next].record.size();
    }
    all.complete(nullptr, 0, buffer, size, used);
  }
}

CUptiResult want_call(CUpti_ActivityKind kind, CUpti_CallbackId call, bool is_wanted) {
  const std::lock_guard lock(cupti().mutex);
  if (is_wanted) {
    cupti().calls.insert({kind, call});
  } else {
    cupti().calls.erase({kind, call});
  }
  return CUPTI_SUCCESS;
}

}  // namespace

bool is_wanted(CUpti_ActivityKind kind) {
  const std::lock_guard lock(cupti().mutex);
  return cupti().kinds.test(kind);
}

bool is_call_wanted(CUpti_ActivityKind kind, CUpti_CallbackId call) {
  const std::lock_guard lock(cupti().mutex);
  return cupti().calls.contains({kind, call});
}

std::uint32_t next_correlation() { return cupti().next_correlation++; }

void put_record(const void* record, std::size_t bytes, std::int64_t end_ns) {
  const auto* first = static_cast<const std::uint8_t*>(record);
  const std::lock_guard lock(cupti().mutex);
  cupti().waiting.push_back({end_ns, {first, first + bytes}});
}

void put_external_ids(std::uint32_t correlation, std::int64_t end_ns) {
  for (const auto& [kind, ids] : external_ids) {
    if (ids.empty()) continue;
    CUpti_ActivityExternalCorrelation record{};
    record.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
    record.externalKind = kind;
    record.externalId = ids.back();
    record.correlationId = correlation;
    put(record, end_ns);
  }
}

}  // namespace shardlens::fake_gpu

using namespace shardlens::fake_gpu;

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  *time = static_cast<std::uint64_t>(now_ns());
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "the made-up CUPTI has no texts";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  cupti().request = request;
  cupti().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(cupti().mutex);
  cupti().kinds.set(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::lock_guard lock(cupti().mutex);
  cupti().kinds.reset(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId call, std::uint8_t enable) {
  return want_call(CUPTI_ACTIVITY_KIND_DRIVER, call, enable != 0);
}
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, std::uint8_t enable) {
  return want_call(CUPTI_ACTIVITY_KIND_RUNTIME, call, enable != 0);
}
CUptiResult cuptiActivityEnableAllSyncRecords(std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(std::uint32_t flag) {
  if (has_ended) {
    std::fputs("CUPTI is called after its end\n", stderr);
    std::abort();
  }
  if (cupti().request == nullptr) return CUPTI_SUCCESS;
  deliver(cupti(), take_ended(cupti(), (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0 ? INT64_MAX
                                                                                      : now_ns()));
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t bytes,
                                       CUpti_Activity** record) {
  std::uint8_t* at =
      *record == nullptr ? buffer : reinterpret_cast<std::uint8_t*>(*record) + bytes_of(**record);
  if (at >= buffer + bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  const std::lock_guard lock(cupti().mutex);
  *dropped = std::exchange(cupti().dropped, 0);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                   std::uint64_t id) {
  external_ids[kind].push_back(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind,
                                                  std::uint64_t* id) {
  auto& ids = external_ids[kind];
  if (ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (id != nullptr) *id = ids.back();
  ids.pop_back();
  return CUPTI_SUCCESS;
}

// PyTorch's own profiler wants these to be there when it is loaded.
CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute, std::size_t*, void*) {
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc) {
  return CUPTI_ERROR_NOT_SUPPORTED;
}
CUptiResult cuptiFinalize() { return CUPTI_ERROR_NOT_SUPPORTED; }

}  // extern "C"
