#include "tests/ui/inspect/testing/sample_memory.h"

#include <algorithm>
#include <utility>

#include "tests/ui/inspect/testing/sample_run.h"
#include "trace/model/activity.h"

namespace shardlens::ui::inspect {

namespace {

using trace::base::Phase;
using trace::model::MemoryCategory;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kMiB = 1 << 20;
constexpr int kLayers = 12;
constexpr std::int64_t kForwardEnd = 30, kBackwardEnd = 90, kStepEnd = 110;

struct Builder {
  trace::timeline::StepAllocations step{
      kSampleStart,
      kSampleStart + kStepEnd* kMillisecond,
      {},
      {"", "aten::linear", "aten::_scaled_dot_product_flash_attention", "aten::gelu", "aten::mm",
       "aten::lerp_"}};

  void add(double from_ms, double to_ms, std::int64_t bytes, MemoryCategory category,
           std::uint32_t name = 0) {
    trace::timeline::StepAllocation one;
    one.start_ns = kSampleStart + static_cast<std::int64_t>(from_ms * kMillisecond);
    one.end_ns = kSampleStart + static_cast<std::int64_t>(to_ms * kMillisecond);
    one.bytes = bytes;
    one.category = category;
    one.name = name;
    one.is_older = from_ms == 0;
    one.outlives = to_ms == kStepEnd;
    one.address = 0x7f00'0000'0000 + step.all.size() * 0x20'0000;
    step.all.push_back(one);
  }
};

trace::timeline::StepAllocations sample_step() {
  Builder b;
  for (int layer = 0; layer < kLayers; ++layer) {
    b.add(0, kStepEnd, 27 * kMiB, MemoryCategory::kParameters);
    b.add(0, kStepEnd, 54 * kMiB, MemoryCategory::kOptimizer);
  }
  const double forward = double{kForwardEnd} / kLayers;
  const double backward = double{kBackwardEnd - kForwardEnd} / kLayers;
  for (int layer = 0; layer < kLayers; ++layer) {
    const double from = 0.2 + forward * layer;
    const double to = kBackwardEnd - backward * layer - 0.3;
    b.add(from, to, 24 * kMiB, MemoryCategory::kActivations, 1);
    b.add(from + 0.4, to - 0.4, 18 * kMiB, MemoryCategory::kActivations, 2);
    b.add(from + 0.9, to - 0.9, 32 * kMiB, MemoryCategory::kActivations, 3);
    for (int i = 0; i < 40; ++i) {
      b.add(from + 0.01 * i, from + 0.01 * i + 0.9, 4096, MemoryCategory::kActivations, 1);
    }
    b.add(to - 3, to, 40 * kMiB, MemoryCategory::kActivations, 4);
    b.add(to - 1.5, kStepEnd - 1, 27 * kMiB, MemoryCategory::kGradients, 4);
    b.add(kBackwardEnd + 1.2 * layer, kBackwardEnd + 1.2 * layer + 0.8, 27 * kMiB,
          MemoryCategory::kOther, 5);
  }
  std::ranges::stable_sort(b.step.all, {}, &trace::timeline::StepAllocation::start_ns);
  return std::move(b.step);
}

}  // namespace

std::shared_ptr<const trace::timeline::StepMemory> sample_memory(bool hides_constant) {
  auto memory = std::make_shared<trace::timeline::StepMemory>();
  memory->request.hides_constant = hides_constant;
  memory->recorded = {{0, {4, 8}}, {1, {4, 8}}};
  memory->rank = 0;
  memory->step = 4;
  auto step = sample_step();
  memory->peak = trace::timeline::find_peak(step.all);
  memory->counted_peak_bytes = memory->peak.bytes;
  memory->reserved_bytes = memory->peak.bytes + 140 * kMiB;
  memory->flame = std::make_shared<const trace::timeline::MemoryFlame>(
      trace::timeline::layout_flame(step, {.hides_constant = hides_constant}));
  memory->allocations = std::make_shared<const trace::timeline::StepAllocations>(std::move(step));
  std::int64_t from = 0;
  for (const auto& [phase, to] : {std::pair{Phase::kForward, kForwardEnd},
                                  {Phase::kBackward, kBackwardEnd},
                                  {Phase::kOptimizer, kStepEnd}}) {
    memory->phases.push_back({phase, trace::model::phase_class(phase),
                              kSampleStart + from * kMillisecond,
                              kSampleStart + to * kMillisecond});
    from = to;
  }
  return memory;
}

}  // namespace shardlens::ui::inspect
