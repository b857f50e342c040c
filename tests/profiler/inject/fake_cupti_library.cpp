// A libcupti.so.13 for programs on machines with no GPU: tells of the kernels that a program says
// it has run. Its functions have CUPTI's names and types; what nothing here needs does nothing.
#include <cupti.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <mutex>
#include <vector>

namespace {

struct Fake {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::vector<CUpti_ActivityKernel10> kernels;
  std::vector<CUpti_ActivityExternalCorrelation> externals;
  std::uint32_t next_correlation = 1;
};
Fake& fake() {
  static auto* instance = new Fake;  // used until the process has ended
  return *instance;
}
thread_local std::vector<std::uint64_t> external_ids;

// The real one's static objects are gone, too, once its destructors have run.
bool has_ended = false;
struct End {
  ~End() { has_ended = true; }
} end;

template <typename Record>
void deliver(const std::vector<Record>& records) {
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, most = 0;
  for (std::size_t next = 0; next < records.size();) {
    fake().request(&buffer, &size, &most);
    if (buffer == nullptr) return;
    const std::size_t count = std::min(size / sizeof(Record), records.size() - next);
    std::memcpy(buffer, records.data() + next, count * sizeof(Record));
    next += count;
    fake().complete(nullptr, 0, buffer, size, count * sizeof(Record));
  }
}

std::size_t bytes_of(const CUpti_Activity& record) {
  return record.kind == CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION
             ? sizeof(CUpti_ActivityExternalCorrelation)
             : sizeof(CUpti_ActivityKernel10);
}

}  // namespace

extern "C" {

// For the program: a kernel ran from `start_ns` to `end_ns` (CLOCK_REALTIME). `name` must stay.
void fake_kernel(const char* name, std::uint64_t start_ns, std::uint64_t end_ns) {
  const std::lock_guard lock(fake().mutex);
  CUpti_ActivityKernel10 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = start_ns;
  record.end = end_ns;
  record.streamId = 7;
  record.correlationId = fake().next_correlation++;
  record.name = name;
  fake().kernels.push_back(record);
  if (external_ids.empty()) return;
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2;
  external.externalId = external_ids.back();
  external.correlationId = record.correlationId;
  fake().externals.push_back(external);
}

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetTimestamp(std::uint64_t* time) {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  *time = static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 +
          static_cast<std::uint64_t>(now.tv_nsec);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** text) {
  *text = "fake";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  fake().request = request;
  fake().complete = complete;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId, std::uint8_t) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  if (has_ended) {
    std::fputs("CUPTI is called after its end\n", stderr);
    std::abort();
  }
  std::vector<CUpti_ActivityKernel10> kernels;
  std::vector<CUpti_ActivityExternalCorrelation> externals;
  {
    const std::lock_guard lock(fake().mutex);
    kernels.swap(fake().kernels);
    externals.swap(fake().externals);
  }
  deliver(externals);
  deliver(kernels);
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
  *dropped = 0;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                   std::uint64_t id) {
  external_ids.push_back(id);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind,
                                                  std::uint64_t* id) {
  if (external_ids.empty()) return CUPTI_ERROR_QUEUE_EMPTY;
  if (id != nullptr) *id = external_ids.back();
  external_ids.pop_back();
  return CUPTI_SUCCESS;
}

}  // extern "C"
