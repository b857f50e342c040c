#include <ATen/core/Tensor.h>
#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <new>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/pytorch/torch_sources.h"
#include "trace/base/file_system.h"
#include "trace/base/this_machine.h"

namespace shardlens::profiler::pytorch {
namespace {

// In front of the data. LibTorch's raw_allocate() wants the context to be the data pointer itself,
// so there is nowhere else to keep what the deleter must know. As large as LibTorch's alignment.
struct alignas(64) Header {
  std::int64_t bytes = 0;
  std::atomic<trace::model::MemoryCategory> category{trace::model::MemoryCategory::kOther};
};
static_assert(sizeof(Header) == 64);

// LibTorch keeps one allocator per process and calls it for as long as the process lives, so its
// counters are the process's too.
memory::AllocationTracker& tracker() {
  // Never destroyed: tensors of other statics are freed after this one would be.
  static memory::AllocationTracker& instance = *new memory::AllocationTracker;
  return instance;
}

Header* header_of(void* data) {
  return reinterpret_cast<Header*>(static_cast<std::byte*>(data) - sizeof(Header));
}

std::uint64_t address_of(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

void release(void* data) {
  if (data == nullptr) return;
  Header* header = header_of(data);
  tracker().freed(
      {address_of(data), header->bytes, 0, 0, header->category.load(std::memory_order_relaxed)});
  header->~Header();
  c10::free_cpu(header);
}

// What the kernel says of this process's memory; zeros if /proc is not there.
struct ProcessMemory {
  std::int64_t resident_bytes = 0;
  std::int64_t anonymous_bytes = 0;  // resident and not backed by a file or shared (RssAnon)
};
ProcessMemory read_process_memory() {
  // statm costs microseconds; smaps_rollup walks the page tables, which takes milliseconds.
  const trace::base::Descriptor file(open("/proc/self/statm", O_RDONLY | O_CLOEXEC));
  std::array<char, 256> text{};
  const ssize_t length = file.is_open() ? read(file.get(), text.data(), text.size() - 1) : 0;
  long long size = 0, resident = 0, shared = 0;
  if (length <= 0 || std::sscanf(text.data(), "%lld %lld %lld", &size, &resident, &shared) != 3)
    return {};
  const std::int64_t page = sysconf(_SC_PAGESIZE);
  return {resident * page, (resident - shared) * page};
}

// What the system said when it was last asked.
struct LastAnswer {
  std::atomic<std::int64_t> outside_bytes{0}, used_bytes{-1}, total_bytes{-1};
};
LastAnswer& last_answer() {
  static LastAnswer instance;
  return instance;
}

// What is outside is only known now. A peak's bytes that were freed since may still be resident in
// the heap: they are in `composition` already.
trace::model::MemorySample to_sample(const memory::CategoryBytes::Composition& composition) {
  trace::model::MemorySample sample;
  sample.time_ns = recorder::Recorder::now_ns();
  sample.bytes = composition;
  sample.reserved_bytes = sample.total_bytes();
  const std::int64_t tracked = std::max(tracker().bytes().total(), sample.reserved_bytes);
  const ProcessMemory process = read_process_memory();
  sample.device_used_bytes = process.resident_bytes;
  sample.device_total_bytes = trace::base::memory_bytes();
  sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)] =
      std::max<std::int64_t>(process.anonymous_bytes - tracked, 0);
  return sample;
}

void* allocate_or_note(std::size_t bytes) {
  try {
    return c10::alloc_cpu(bytes + sizeof(Header));
  } catch (...) {
    tracker().note_shortage(static_cast<std::int64_t>(bytes));
    throw;
  }
}

class TrackingAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    const c10::Device device(c10::DeviceType::CPU);
    if (bytes == 0) return {nullptr, nullptr, &release, device};
    void* memory = allocate_or_note(bytes);
    auto* header = new (memory) Header;
    header->bytes = static_cast<std::int64_t>(bytes);
    const trace::model::MemoryCategory category = memory::category_now();
    header->category.store(category, std::memory_order_relaxed);
    void* data = header + 1;
    tracker().allocated(
        {address_of(data), header->bytes, 0, OperatorObserver::allocating_operator(), category});
    return {data, data, &release, device};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }
};

TrackingAllocator& tracking_allocator() {
  static TrackingAllocator allocator;
  return allocator;
}

void move_cpu_category(void* data, trace::model::MemoryCategory category) {
  Header* header = header_of(data);
  const auto previous = header->category.exchange(category, std::memory_order_relaxed);
  tracker().moved(address_of(data), previous, category, header->bytes);
}

}  // namespace

trace::base::Result<void> install_cpu_memory_tracker() {
  c10::SetCPUAllocator(&tracking_allocator());
  if (c10::GetCPUAllocator() != &tracking_allocator())
    return trace::base::fail(
        trace::base::ErrorKind::kFailed,
        "Memory by category cannot be recorded: another CPU allocator with a higher "
        "priority is installed in LibTorch. Start the run without it.");
  return {};
}

memory::AllocationTracker& cpu_allocations() { return tracker(); }

trace::model::MemorySample sample_cpu_memory() {
  const trace::model::MemorySample sample = to_sample(tracker().bytes().current());
  last_answer().outside_bytes =
      sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)];
  last_answer().used_bytes = sample.device_used_bytes;
  last_answer().total_bytes = sample.device_total_bytes;
  return sample;
}

trace::model::MemorySample cpu_memory_counters() {
  trace::model::MemorySample sample;
  sample.bytes = tracker().bytes().current();
  sample.reserved_bytes = sample.total_bytes();
  sample.bytes[static_cast<std::size_t>(trace::model::MemoryCategory::kOutside)] =
      last_answer().outside_bytes;
  sample.device_used_bytes = last_answer().used_bytes;
  sample.device_total_bytes = last_answer().total_bytes;
  return sample;
}

trace::model::MemorySample take_cpu_memory_peak() {
  const memory::CategoryBytes::Peak peak = tracker().take_peak().bytes;
  trace::model::MemorySample sample = to_sample(peak.bytes);
  if (peak.time_ns > 0) sample.time_ns = peak.time_ns;
  sample.highest = peak.highest;
  return sample;
}

void recategorize(const at::Tensor& tensor, trace::model::MemoryCategory category) {
  if (!tensor.defined() || !tensor.has_storage()) return;
  const c10::DataPtr& data = tensor.storage().data_ptr();
  if (data.get_context() == nullptr) return;
  if (data.get_deleter() == &release) return move_cpu_category(data.get_context(), category);
  if (tensor.is_cuda() && gpu_allocations() != nullptr)
    gpu_allocations()->moved(address_of(data.get()), category);
}

}  // namespace shardlens::profiler::pytorch
