// Steps and phases of programs by what optimizers mark and by the nodes of autograd.
#include "trace/interop/kineto_phases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "tests/trace/interop/kineto_traces.h"

namespace shardlens::trace::interop {
namespace {

using base::Phase;
using testing::ElementsAre;

class KinetoPhasesTest : public KinetoImport {
 protected:
  static std::string mark(const std::string& name, double start_us, double end_us) {
    return complete("user_annotation", name, "77", start_us, end_us - start_us);
  }
  static std::string update(double start_us, double end_us,
                            const std::string& optimizer = "FusedAdam") {
    return mark("Optimizer.step#" + optimizer + ".step", start_us, end_us);
  }
  static std::string node(double start_us, double end_us, const std::string& name) {
    return complete("cpu_op", "autograd::engine::evaluate_function: " + name, "78", start_us,
                    end_us - start_us);
  }
  void add(const std::string& event) { events_.push_back(event); }
  Run imported() {
    return open(
        import_of({trace_of(events_, "\"backend\":\"nccl\",\"rank\":0,\"world_size\":1")}).folder);
  }
  // In µs.
  std::vector<std::tuple<Phase, int, int>> phases() {
    std::vector<std::tuple<Phase, int, int>> times;
    for (const model::Batch& batch : imported().batches) {
      for (const model::Span& span : batch.spans) {
        if (span.depth != 0) continue;
        times.emplace_back(span.phase, span.start_ns / 1000, span.end_ns / 1000);
      }
    }
    return times;
  }

  std::vector<std::string> events_{complete("cpu_op", "aten::mm", "77", 0, 5)};
};

// As Lightning does: PyTorch's mark of the optimizer lies around the passes.
TEST_F(KinetoPhasesTest, OfAnOptimizerWithAClosureIsWhatLiesBehindItsPasses) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(update(100, 900, "AdamW"));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(node(310, 700, "MmBackward0"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700),
                                    std::tuple(Phase::kOptimizer, 700, 900)));
}

// Where nothing marks forward, only the nodes of autograd tell.
TEST_F(KinetoPhasesTest, OfAnOptimizerWithAClosureAreNeededNoOtherMarks) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(update(100, 900, "AdamW"));
  add(node(310, 700, "MmBackward0"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kOptimizer, 700, 900)));
}

TEST_F(KinetoPhasesTest, OfAnOptimizerBehindItsPassesAreAllOfIt) {
  add(mark("ProfilerStep#3", 0, 1000));
  add(mark("DistributedDataParallel.forward", 110, 300));
  add(node(310, 700, "MmBackward0"));
  add(update(710, 900, "AdamW"));
  EXPECT_THAT(phases(), ElementsAre(std::tuple(Phase::kForward, 110, 300),
                                    std::tuple(Phase::kBackward, 310, 700),
                                    std::tuple(Phase::kOptimizer, 710, 900)));
}

}  // namespace
}  // namespace shardlens::trace::interop
