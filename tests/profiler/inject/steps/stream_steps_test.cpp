#include "profiler/inject/steps/stream_steps.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::inject {
namespace {

// A step's kernels, each of 10 ns and one right after the other.
const std::vector<std::string>& kernels_of_a_step() {
  static const std::vector<std::string> kernels = [] {
    std::vector<std::string> names;
    for (int layer = 0; layer < 6; ++layer) {
      names.insert(names.end(), {"sm90_xmma_gemm_bf16", "vectorized_elementwise_kernel"});
    }
    for (int layer = 0; layer < 6; ++layer) {
      names.insert(names.end(), {"gelu_backward_kernel", "sm90_xmma_gemm_bf16"});
    }
    names.insert(names.end(), 2, "multi_tensor_apply_kernel<FusedAdamMathFunctor>");
    return names;
  }();
  return kernels;
}

class StreamStepsTest : public testing::Test {
 protected:
  template <typename StreamOf>
  void add_step(StreamOf stream_of, bool is_replayed) {
    std::uint64_t node = 0;
    for (const std::string& name : kernels_of_a_step()) {
      cupti::KernelActivity kernel;
      kernel.stream = {0, 1, stream_of(node)};
      kernel.start_ns = now_ns_;
      kernel.end_ns = now_ns_ + 10;
      kernel.name = name;
      ++node;
      kernel.graph_node = is_replayed ? node : 0;
      const auto id = ids_.try_emplace(name, static_cast<trace::model::StringId>(ids_.size() + 1));
      streams_.add(kernel, id.first->second);
      now_ns_ += 10;
    }
  }

  // In one stream, each of 10 µs.
  void run(const std::string& name, int count) {
    const auto id = ids_.try_emplace(name, static_cast<trace::model::StringId>(ids_.size() + 1));
    for (int i = 0; i < count; ++i) {
      cupti::KernelActivity kernel;
      kernel.stream = {0, 1, 7};
      kernel.start_ns = now_ns_;
      kernel.end_ns = now_ns_ += 10'000;
      kernel.name = name;
      streams_.add(kernel, id.first->second);
    }
  }
  void run_optimizer() { run("multi_tensor_apply_kernel<FusedAdamMathFunctor>", 2); }
  void expect_steps_of_optimizer(std::int64_t length_ns) {
    streams_.finish();
    steps_.finish();
    EXPECT_EQ(steps_.source(), StepSource::kOptimizer);
    const auto content = run_.finish();
    ASSERT_EQ(content.rows.steps.size(), 2u) << "where the first began is not known";
    for (const auto& step : content.rows.steps)
      EXPECT_EQ(step.end_ns - step.start_ns, length_ns) << step.index;
  }

  RecordedRun run_;
  FoundSteps steps_{run_.recorder()};
  StreamSteps streams_{steps_};
  std::map<std::string, trace::model::StringId> ids_;
  std::int64_t now_ns_ = 1'000;
};

// A step is warmed up in a stream of its own, and the graph's kernels run in several. On an H200
// only the warm-up was found; that this is why was not seen there.
TEST_F(StreamStepsTest, GoOnInTheReplaysOfAGraphWhateverStreamsItRunsIn) {
  constexpr int kWarmUps = 5, kReplays = 20;
  for (int i = 0; i < kWarmUps; ++i) add_step([](std::uint64_t) { return 13u; }, false);
  constexpr std::array<std::uint32_t, 3> kStreams{7, 14, 15};
  const auto last = kernels_of_a_step().size() - 2;
  for (int i = 0; i < kReplays; ++i) {
    add_step([&](std::uint64_t node) { return node < last ? kStreams[node % 2] : kStreams[2]; },
             true);
  }
  streams_.finish();
  const auto content = run_.finish();
  // The first is only known to have been one when it has ended; two replays are needed to believe
  // in them.
  EXPECT_GE(content.rows.steps.size(), static_cast<std::size_t>(kWarmUps - 1 + kReplays - 2));
  EXPECT_EQ(content.rows.steps.back().end_ns, now_ns_);
}

// The layers repeat before the first optimizer shows itself.
TEST_F(StreamStepsTest, AreNotTheLayersOfALongStep) {
  for (int step = 0; step < 3; ++step) {
    for (int layer = 0; layer < 64; ++layer) {
      run("sm90_xmma_gemm_bf16", 20);
      run("vectorized_elementwise_kernel", 40);
    }
    for (int layer = 0; layer < 64; ++layer) {
      run("gelu_backward_kernel", 90);
      run("sm90_xmma_gemm_bf16", 40);
    }
    run_optimizer();
  }
  expect_steps_of_optimizer(64 * (60 + 130) * 10'000 + 20'000);
}

TEST_F(StreamStepsTest, AreNotTheMicroBatchesOfOne) {
  for (int step = 0; step < 3; ++step) {
    for (int batch = 0; batch < 16; ++batch) {
      for (int layer = 0; layer < 10; ++layer) {
        run("sm90_xmma_gemm_bf16", 10);
        run("vectorized_elementwise_kernel", 50);
      }
      for (int layer = 0; layer < 10; ++layer) {
        run("gelu_backward_kernel", 50);
        run("sm90_xmma_gemm_bf16", 40);
      }
    }
    run_optimizer();
  }
  expect_steps_of_optimizer(16 * 1'500 * 10'000 + 20'000);
}

}  // namespace
}  // namespace shardlens::profiler::inject
