#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "profiler/memory/allocation_tracker.h"
#include "profiler/pytorch/torch_sources.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::pytorch {
namespace {

using trace::model::MemoryCategory;

std::int64_t bytes_of(const trace::model::MemorySample& sample, MemoryCategory category) {
  return sample.bytes[static_cast<std::size_t>(category)];
}
std::int64_t live(MemoryCategory category) { return bytes_of(sample_cpu_memory(), category); }

torch::Tensor floats(std::int64_t count) { return torch::empty({count}); }

struct CpuMemoryTracker : testing::Test {
  void SetUp() override {
    at::set_num_threads(1);
    const auto installed = install_cpu_memory_tracker();
    ASSERT_TRUE(installed) << installed.error().message;
    memory::set_default_category(MemoryCategory::kOther);
    take_cpu_memory_peak();
  }
};

TEST_F(CpuMemoryTracker, CountsTheExactBytesOfTensorsByCategory) {
  const auto parameters = live(MemoryCategory::kParameters);
  const auto gradients = live(MemoryCategory::kGradients);
  {
    const memory::MemoryCategoryScope scope(MemoryCategory::kParameters);
    const auto first = floats(1'000);
    EXPECT_EQ(live(MemoryCategory::kParameters), parameters + 4'000);
    const memory::MemoryCategoryScope inner(MemoryCategory::kGradients);
    const auto second = torch::empty({3}, torch::kInt64);
    EXPECT_EQ(live(MemoryCategory::kGradients), gradients + 24);
  }
  EXPECT_EQ(live(MemoryCategory::kParameters), parameters);
  EXPECT_EQ(live(MemoryCategory::kGradients), gradients);
}

TEST_F(CpuMemoryTracker, CountsAViewNotAtAllAndFreesWithTheLastReference) {
  const memory::MemoryCategoryScope scope(MemoryCategory::kActivations);
  const auto before = live(MemoryCategory::kActivations);
  auto tensor = floats(1'000);
  auto view = tensor.view({10, 100})[3];
  EXPECT_EQ(live(MemoryCategory::kActivations), before + 4'000);
  tensor.reset();
  EXPECT_EQ(live(MemoryCategory::kActivations), before + 4'000);
  view.reset();
  EXPECT_EQ(live(MemoryCategory::kActivations), before);
}

TEST_F(CpuMemoryTracker, UsesTheDefaultCategoryWhereNoScopeIsSet) {
  memory::set_default_category(MemoryCategory::kOptimizer);
  const auto before = live(MemoryCategory::kOptimizer);
  torch::Tensor from_thread;
  std::jthread([&] { from_thread = floats(10); }).join();
  EXPECT_EQ(live(MemoryCategory::kOptimizer), before + 40);
}

TEST_F(CpuMemoryTracker, MovesATensorToAnotherCategory) {
  const memory::MemoryCategoryScope scope(MemoryCategory::kActivations);
  auto tensor = floats(1'000);
  const auto activations = live(MemoryCategory::kActivations);
  const auto gradients = live(MemoryCategory::kGradients);
  recategorize(tensor.view({10, 100})[1], MemoryCategory::kGradients);
  EXPECT_EQ(live(MemoryCategory::kActivations), activations - 4'000);
  EXPECT_EQ(live(MemoryCategory::kGradients), gradients + 4'000);
  recategorize(tensor, MemoryCategory::kGradients);
  EXPECT_EQ(live(MemoryCategory::kGradients), gradients + 4'000) << "it was there already";
  tensor.reset();
  EXPECT_EQ(live(MemoryCategory::kGradients), gradients);
}

TEST_F(CpuMemoryTracker, LeavesForeignMemoryAlone) {
  std::vector<float> data(1'000);
  const auto before = sample_cpu_memory();
  auto tensor = torch::from_blob(data.data(), {1'000});
  recategorize(tensor, MemoryCategory::kGradients);
  recategorize(torch::Tensor(), MemoryCategory::kGradients);
  EXPECT_EQ(live(MemoryCategory::kGradients), bytes_of(before, MemoryCategory::kGradients));
}

TEST_F(CpuMemoryTracker, WorksWithRawAllocationEmptyAndResizedTensors) {
  c10::Allocator* allocator = c10::GetAllocator(c10::kCPU);
  const auto before = live(MemoryCategory::kOther);
  void* raw = allocator->raw_allocate(100);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(raw) % 64, 0u);
  EXPECT_EQ(live(MemoryCategory::kOther), before + 100);
  allocator->raw_deallocate(raw);
  auto empty = floats(0);
  EXPECT_EQ(live(MemoryCategory::kOther), before);
  empty.resize_({50});
  EXPECT_EQ(live(MemoryCategory::kOther), before + 200);
  const auto copy = empty.clone();
  EXPECT_EQ(live(MemoryCategory::kOther), before + 400);
}

// Two ways to one number: what was counted while it ran, and the lives of single allocations.
TEST_F(CpuMemoryTracker, RecordsAllocationsThatAddUpToTheCountedPeak) {
  RecordedRun run;
  const OperatorObserver observer(run.recorder());
  memory::AllocationTracker& tracker = cpu_allocations();
  tracker.keep_addresses(true);
  run.recorder().begin_step(0);
  const auto weight = torch::ones({64, 64}, torch::requires_grad());
  torch::Tensor sum;
  ASSERT_TRUE(tracker.begin_record());
  take_cpu_memory_peak();
  const auto step_start = recorder::Recorder::now_ns();
  {
    const memory::MemoryCategoryScope scope(MemoryCategory::kActivations);
    auto hidden = torch::ones({32, 64});
    for (int layer = 0; layer < 6; ++layer) hidden = torch::gelu(torch::linear(hidden, weight));
    sum = hidden.sum();
    sum.backward();
    recategorize(weight.grad(), MemoryCategory::kGradients);
  }
  const auto peak = take_cpu_memory_peak();
  ASSERT_EQ(tracker.end_record(step_start), 0);
  tracker.keep_addresses(false);
  const auto events = tracker.take_record();
  std::map<std::int64_t, std::int64_t> changes;
  std::set<trace::model::StringId> ids;
  bool has_gradient = false;
  for (const auto& event : events) {
    changes[event.start_ns] += event.value;
    changes[event.end_ns()] -= event.value;
    const bool is_gradient = trace::model::category_of(event.flags) == MemoryCategory::kGradients;
    has_gradient = has_gradient || (is_gradient && event.value == 64 * 64 * 4 &&
                                    (event.flags & trace::model::kEventNotFreed) != 0);
    if (event.name != 0) ids.insert(event.name);
  }
  std::int64_t live = 0, highest = 0;
  for (const auto& [time, change] : changes) highest = std::max(highest, live += change);
  EXPECT_EQ(highest, peak.allocated_bytes());
  EXPECT_GT(events.size(), 20u);
  EXPECT_TRUE(has_gradient);
  run.recorder().end_step({});
  const auto content = run.finish();
  std::set<std::string> names;
  for (const trace::model::StringId id : ids) names.insert(content.text(id));
  EXPECT_TRUE(names.contains("aten::mm"));
  EXPECT_TRUE(names.contains("aten::gelu"));
  EXPECT_FALSE(names.contains("aten::empty")) << "who called it is the one who wanted memory";
}

TEST_F(CpuMemoryTracker, CallsOutsideWhatIsResidentAndNotTracked) {
  const auto before = live(MemoryCategory::kOutside);
  const std::vector<char> heap(64 << 20, 'x');
  const auto after = live(MemoryCategory::kOutside);
  EXPECT_GT(after - before, 60 << 20);
  EXPECT_LT(after - before, 70 << 20);
  const auto tensor = torch::ones({16 << 20});
  EXPECT_NEAR(static_cast<double>(live(MemoryCategory::kOutside)), static_cast<double>(after),
              double{8 << 20})
      << "a tensor's bytes are not outside";
}

TEST_F(CpuMemoryTracker, CountsNoByteOfAPeakTwiceThatIsFreeButStillResident) {
  std::vector<torch::Tensor> tensors;
  // Small enough for the heap, which keeps what lies below memory in use.
  for (int i = 0; i < 2'000; ++i) tensors.push_back(torch::ones({15'000}));
  const auto highest = sample_cpu_memory();
  const torch::Tensor last = tensors.back();
  tensors.clear();
  const auto now = sample_cpu_memory();
  ASSERT_GT(bytes_of(now, MemoryCategory::kOutside),
            bytes_of(highest, MemoryCategory::kOutside) + (100 << 20))
      << "the heap was expected to keep what was freed";
  const auto peak = take_cpu_memory_peak();
  EXPECT_GE(bytes_of(peak, MemoryCategory::kOther), 2'000 * 60'000);
  EXPECT_LT(peak.total_bytes(), highest.total_bytes() + (8 << 20));
}

}  // namespace
}  // namespace shardlens::profiler::pytorch
