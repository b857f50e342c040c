#include <ATen/Parallel.h>
#include <ATen/ThreadLocalState.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdlib.h>
#include <torch/types.h>

#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "profiler/pytorch/torch_sources.h"
#include "tests/profiler/recorded_run.h"

namespace shardlens::profiler::pytorch {
namespace {

using Content = RecordedRun::Content;

struct NamedEvent {
  std::string name;
  trace::model::Event event;
  int lane = 0;
};

std::vector<NamedEvent> events_of(const Content& content) {
  std::vector<NamedEvent> events;
  for (const auto& run : content.rows.events)
    for (const auto& event : run.events)
      events.push_back({content.text(event.name), event, run.lane});
  return events;
}

std::vector<NamedEvent> named(const Content& content, const std::string& name) {
  auto events = events_of(content);
  std::erase_if(events, [&](const NamedEvent& event) { return event.name != name; });
  return events;
}

std::string lane_name(const Content& content, int lane) {
  for (const auto& row : content.rows.lanes)
    if (row.id == lane) return content.text(row.name);
  return "";
}

bool has(const NamedEvent& event, std::uint32_t flag) { return event.event.flags & flag; }

struct TorchThreads : testing::Test {
  void SetUp() override { at::set_num_threads(1); }
};
using OperatorObserverTest = TorchThreads;

TEST_F(OperatorObserverTest, RecordsOperatorsWithDepthLeafAndCompute) {
  RecordedRun run;
  const auto bias = torch::ones({4}), input = torch::ones({3, 5}), weight = torch::ones({5, 4});
  {
    OperatorObserver observer(run.recorder());
    torch::addmm(bias, input, weight);
  }
  const auto own_lane =
      run.recorder().lane_of_thread(static_cast<std::uint32_t>(pthread_self())).value_or(-1);
  const auto content = run.finish();
  const auto outer = named(content, "aten::addmm"), inner = named(content, "aten::expand");
  ASSERT_EQ(outer.size(), 1u);
  ASSERT_EQ(inner.size(), 1u) << "addmm expands its bias";
  EXPECT_FALSE(has(outer[0], trace::model::kEventLeaf));
  EXPECT_TRUE(has(outer[0], trace::model::kEventCompute)) << "the product itself runs in addmm";
  EXPECT_FALSE(has(inner[0], trace::model::kEventCompute));
  EXPECT_EQ(outer[0].event.depth(), 0);
  EXPECT_EQ(inner[0].event.depth(), 1);
  EXPECT_LE(outer[0].event.start_ns, inner[0].event.start_ns);
  EXPECT_GE(outer[0].event.end_ns(), inner[0].event.end_ns());
  EXPECT_EQ(lane_name(content, outer[0].lane), "main thread");
  EXPECT_EQ(own_lane, outer[0].lane) << "for what CUPTI tells of this thread";
  const auto innermost = named(content, "aten::as_strided");
  ASSERT_FALSE(innermost.empty());
  EXPECT_TRUE(has(innermost[0], trace::model::kEventLeaf));
}

TEST_F(OperatorObserverTest, RecordsTheBackwardPassBelowItsNodes) {
  RecordedRun run;
  const auto weight = torch::ones({4, 4}, torch::requires_grad());
  const auto loss = torch::mm(torch::ones({4, 4}), weight).sum();
  {
    OperatorObserver observer(run.recorder());
    loss.backward();
  }
  const auto content = run.finish();
  const auto products = named(content, "aten::mm");
  ASSERT_EQ(products.size(), 1u);
  EXPECT_GE(products[0].event.depth(), 1) << "inside an autograd node";
  EXPECT_TRUE(has(products[0], trace::model::kEventCompute));
  int nodes = 0;
  for (const auto& event : events_of(content)) {
    if (!event.name.starts_with("autograd::engine::evaluate_function")) continue;
    ++nodes;
    EXPECT_FALSE(has(event, trace::model::kEventCompute)) << event.name;
    EXPECT_FALSE(has(event, trace::model::kEventLeaf)) << event.name;
  }
  EXPECT_GE(nodes, 2);
}

TEST_F(OperatorObserverTest, GivesEachThreadItsLane) {
  RecordedRun run;
  {
    OperatorObserver observer(run.recorder());
    torch::ones({2});
    std::jthread([] {
      pthread_setname_np(pthread_self(), "loader");
      torch::zeros({2});
    }).join();
  }
  const auto content = run.finish();
  ASSERT_EQ(named(content, "aten::ones").size(), 1u);
  ASSERT_EQ(named(content, "aten::zeros").size(), 1u);
  EXPECT_EQ(lane_name(content, named(content, "aten::ones")[0].lane), "main thread");
  EXPECT_EQ(lane_name(content, named(content, "aten::zeros")[0].lane), "loader");
}

TEST_F(OperatorObserverTest, RecordsNothingOutsideTheScheduleNorAfterItsEnd) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 1, .last = 1, .every = 1};
  RecordedRun run(std::move(options));
  {
    OperatorObserver observer(run.recorder());
    torch::ones({2});
    for (int step = 0; step < 3; ++step) {
      run.recorder().begin_step(step);
      torch::zeros({2});
      run.recorder().end_step({});
    }
  }
  torch::ones({2});
  const auto content = run.finish();
  EXPECT_TRUE(named(content, "aten::ones").empty());
  EXPECT_EQ(named(content, "aten::zeros").size(), 1u);
}

TEST_F(OperatorObserverTest, IsNotCalledInStepsWithoutDetail) {
  recorder::RecorderOptions options;
  options.schedule = {.first = 1, .last = 3, .every = 2};
  RecordedRun run(options);
  const auto is_called = [] {
    return at::getStepCallbacksUnlessEmpty(at::RecordScope::FUNCTION).has_value();
  };
  {
    OperatorObserver observer(run.recorder());
    EXPECT_FALSE(is_called()) << "before the first step";
    for (int step = 0; step < 5; ++step) {
      run.recorder().begin_step(step);
      EXPECT_EQ(is_called(), step == 1 || step == 3) << "step " << step;
      torch::ones({3});
      run.recorder().end_step({});
      EXPECT_FALSE(is_called()) << "after step " << step;
    }
  }
  EXPECT_EQ(named(run.finish(), "aten::ones").size(), 2u);
}

TEST_F(OperatorObserverTest, CallsTheComputeOfAnAutogradCallbackComputeButNotTheCallback) {
  RecordedRun run;
  {
    OperatorObserver observer(run.recorder());
    at::RecordFunction outer(at::RecordScope::FUNCTION);
    outer.before("c10d::allreduce_");
    torch::ones({2});
  }
  const auto content = run.finish();
  ASSERT_EQ(named(content, "c10d::allreduce_").size(), 1u);
  EXPECT_FALSE(has(named(content, "c10d::allreduce_")[0], trace::model::kEventCompute));
  EXPECT_TRUE(has(named(content, "aten::ones").at(0), trace::model::kEventCompute));
}

TEST_F(OperatorObserverTest, MeasuresTheCostOfItsCallbacks) {
  RecordedRun run;
  {
    OperatorObserver observer(run.recorder());
    for (int i = 0; i < 2'000; ++i) torch::ones({2});
  }
  const auto content = run.finish();
  ASSERT_TRUE(content.rows.cost);
  EXPECT_GT(content.rows.cost->callback_ns, 0);
  EXPECT_GT(content.rows.cost->events, 2'000);
}

// As a process group does it: the span is made where the collective is asked for and begins and
// ends on a thread of its own, to which c10 carries the thread-local state.
TEST_F(OperatorObserverTest, LeavesOutSpansThatMayEndOnAnotherThread) {
  RecordedRun run;
  {
    OperatorObserver observer(run.recorder());
    auto span = std::make_shared<at::RecordFunction>(at::RecordScope::USER_SCOPE);
    span->_setAsync();
    const at::ThreadLocalState state;
    std::jthread([&] {
      {
        const at::ThreadLocalStateGuard guard(state);
        span->before("gloo:all_reduce");
      }
      torch::ones({2});
      const at::ThreadLocalStateGuard guard(state);
      span->end();
    }).join();
  }
  const auto content = run.finish();
  EXPECT_TRUE(content.rows.collectives.empty());
  EXPECT_TRUE(named(content, "gloo:all_reduce").empty());
  ASSERT_EQ(named(content, "aten::ones").size(), 1u);
  EXPECT_EQ(named(content, "aten::ones")[0].event.depth(), 0);
  EXPECT_TRUE(has(named(content, "aten::ones")[0], trace::model::kEventCompute));
}

}  // namespace
}  // namespace shardlens::profiler::pytorch
