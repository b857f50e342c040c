#include "trace/tuning/layer_moments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "trace/job/shape/model_shape.h"
#include "trace/job/shape/parameter_shapes.h"
#include "trace/predict/sizes/model_sizes.h"

namespace shardlens::trace::tuning {
namespace {

using predict::MicroBatchWork;
using predict::Moment;
using predict::OrderedLayer;

predict::PlannedJob tiny(job::Settings settings = {}) {
  return predict::job_on_this_machine(settings, *job::find_model_preset("tiny"));
}

std::vector<std::string> gradients_of(const predict::PlannedJob& job) {
  std::vector<std::string> names;
  for (const auto& gradient : gradients_backwards(job)) names.push_back(gradient.parameter);
  return names;
}

// Forward from 0 to 1,000,000, backward to 3,000,000.
constexpr std::int64_t kForward = 1'000'000, kEnd = 3'000'000;
MicroBatchWork bare() {
  MicroBatchWork work;
  work.backward_begin = {kForward, 0};
  work.end = {kEnd, 30'000};
  return work;
}

// Where a block begins and ends in the order of layers.
std::size_t begin_of(const LayerClock& clock, std::int64_t block) {
  const auto& layers = clock.layers();
  return static_cast<std::size_t>(std::ranges::find(layers, block, &OrderedLayer::block) -
                                  layers.begin());
}
std::size_t end_of(const LayerClock& clock, std::int64_t block) {
  std::size_t end = begin_of(clock, block);
  while (clock.layers()[end].block == block) ++end;
  return end;
}

// Of 6·N + 12·L·C·T a block has the same part in forward and in backward.
TEST(LayerClock, FollowsOperationsWhereNothingElseIsKnown) {
  const predict::PlannedJob job = tiny();
  const LayerClock clock(job, {}, false);
  auto work = bare();
  clock.fill(work);
  const std::size_t layers = clock.layers().size();
  ASSERT_EQ(work.layers.forwards.size(), layers + 1);
  ASSERT_EQ(work.layers.backwards.size(), layers + 1);
  auto no_block = job.shape;
  no_block.layers = 0;
  const auto flops = [&](const job::ModelShape& shape) {
    return static_cast<double>(job::flops_per_token(shape, job.sequence()));
  };
  const double block =
      (1 - flops(no_block) / flops(job.shape)) / static_cast<double>(job.shape.layers);
  for (std::int64_t i = 0; i < job.shape.layers; ++i) {
    const std::size_t begin = begin_of(clock, i), end = end_of(clock, i);
    const auto from = static_cast<double>(work.layers.forwards[begin].computed_ns);
    const auto to = static_cast<double>(work.layers.forwards[end].computed_ns);
    EXPECT_NEAR((to - from) / kForward, block, 1e-4);
    EXPECT_NEAR(from / kForward, block * static_cast<double>(i), 1e-4);
    const auto back = static_cast<double>(work.layers.backwards[layers - begin].computed_ns -
                                          work.layers.backwards[layers - end].computed_ns);
    EXPECT_NEAR(back / (kEnd - kForward), block, 1e-4);
  }
  EXPECT_EQ(work.layers.backwards.front(), work.backward_begin);
  EXPECT_EQ(work.layers.backwards.back(), work.end);
}

// A layer's backward ends with the last of its gradients, those of others lie between.
TEST(LayerClock, OfBackwardIsToldByGradients) {
  const predict::PlannedJob job = tiny();
  const auto names = gradients_of(job);
  const LayerClock clock(job, names, false);
  auto work = bare();
  for (std::size_t i = 0; i < names.size(); ++i) {
    work.gradients.push_back({kForward + 20'000 * static_cast<std::int64_t>(i + 1), 7});
  }
  clock.fill(work);
  const auto parameters = job::parameter_shapes(job.shape);
  const auto& layers = clock.layers();
  for (std::size_t i = 1; i < layers.size(); ++i) {
    if (layers[i].what != OrderedLayer::What::kModule) continue;
    std::ptrdiff_t last = 0;
    for (int each = layers[i].parameters.first; each < layers[i].parameters.end; ++each) {
      const std::string& name = parameters[static_cast<std::size_t>(each)].name;
      last = std::max(last, std::ranges::find(names, name) - names.begin());
    }
    const auto gradient = static_cast<std::size_t>(last);
    EXPECT_EQ(work.layers.backwards[layers.size() - i], work.gradients[gradient])
        << names[gradient];
  }
}

TEST(LayerClock, OfAdaptersIsToldByTheirGradients) {
  job::Settings settings;
  settings.lora_rank = 4;
  const predict::PlannedJob job = tiny(settings);
  const auto names = gradients_of(job);
  ASSERT_EQ(names.size(), 2u * static_cast<std::size_t>(job.shape.layers));
  EXPECT_TRUE(names.front().ends_with("attn.c_attn.lora_B.weight")) << "B before A";
  const LayerClock clock(job, names, false);
  auto work = bare();
  for (std::size_t i = 0; i < names.size(); ++i) {
    work.gradients.push_back({kForward + 200'000 * static_cast<std::int64_t>(i + 1), 0});
  }
  clock.fill(work);
  const std::size_t last = begin_of(clock, job.shape.layers - 1) + 1;  // behind the norm
  EXPECT_EQ(work.layers.backwards[clock.layers().size() - last], work.gradients[1]);
}

// The head's backward takes twice its forward: with chunks forward has all of that.
TEST(LayerClock, OfALossInChunksHasTheHeadsBackwardInForward) {
  job::Settings settings;
  const auto head_of = [](const job::Settings& each) {
    const LayerClock clock(tiny(each), {}, false);
    auto work = bare();
    clock.fill(work);
    const std::size_t norm = clock.layers().size() - 1;
    return std::pair(kForward - work.layers.forwards[norm].computed_ns,
                     work.layers.backwards[1].computed_ns - kForward);
  };
  settings.loss_chunk_tokens = 0;
  const auto [forward, backward] = head_of(settings);
  ASSERT_GT(forward, kForward / 100);
  EXPECT_NEAR(static_cast<double>(backward), 2.0 * static_cast<double>(forward), 2);
  settings.loss_chunk_tokens = 64;
  const auto [with_both, nothing] = head_of(settings);
  const double head = static_cast<double>(forward) / kForward;
  EXPECT_NEAR(static_cast<double>(with_both) / kForward, 3 * head / (1 + 2 * head), 1e-4);
  EXPECT_EQ(nothing, 0);
}

// Each unit's begin and end as recorded, whatever operations say; the last one's forward as long as
// the one before.
TEST(LayerClock, KeepsWhatUnitsTold) {
  const predict::PlannedJob job = tiny();
  const LayerClock clock(job, {}, true);
  auto work = bare();
  const auto blocks = static_cast<int>(job.shape.layers);
  for (int unit = 1; unit <= blocks; ++unit) {
    work.forwards.push_back({unit, {50'000 + 100'000 * unit, 0}});
    const int number = blocks - unit;
    work.backwards.push_back({blocks - unit + 1,
                              {1'100'000 + 200'000 * (unit - 1), 0},
                              {1'100'000 + 200'000 * unit, 0}});
    ASSERT_GE(number, 0);
  }
  clock.fill(work);
  const std::size_t layers = clock.layers().size();
  for (int unit = 1; unit <= blocks; ++unit) {
    EXPECT_EQ(work.layers.forwards[begin_of(clock, unit - 1)].computed_ns, 50'000 + 100'000 * unit);
    EXPECT_EQ(work.layers.backwards[layers - begin_of(clock, unit - 1)].computed_ns,
              1'100'000 + 200'000 * (blocks - unit + 1));
  }
  EXPECT_EQ(work.layers.forwards[end_of(clock, blocks - 1)].computed_ns,
            50'000 + 100'000 * (blocks + 1));
  EXPECT_EQ(work.layers.backwards[layers - end_of(clock, blocks - 1)].computed_ns, 1'100'000);
}

// A block that was recomputed begins its backward with a second forward, as long as the first.
TEST(LayerClock, PutsASecondForwardBeforeABlocksBackward) {
  job::Settings settings;
  settings.activation_checkpointing = 2;
  const predict::PlannedJob job = tiny(settings);
  const LayerClock clock(job, {}, false);
  auto work = bare();
  clock.fill(work);
  const std::size_t layers = clock.layers().size();
  for (std::int64_t block = 0; block < job.shape.layers; ++block) {
    const std::size_t begin = begin_of(clock, block), end = end_of(clock, block);
    const auto forward =
        work.layers.forwards[end].computed_ns - work.layers.forwards[begin].computed_ns;
    const auto again = work.layers.backwards[layers - end + 1].computed_ns -
                       work.layers.backwards[layers - end].computed_ns;
    EXPECT_NEAR(static_cast<double>(again), block % 2 == 0 ? static_cast<double>(forward) : 0, 2);
  }
  job::Settings all = settings;
  all.activation_checkpointing = 1;
  const auto seconds = clock.second_forwards(all);
  ASSERT_EQ(seconds.size(), static_cast<std::size_t>(job.shape.layers));
  EXPECT_TRUE(seconds[0].was && seconds[0].is);
  EXPECT_TRUE(!seconds[1].was && seconds[1].is);
  EXPECT_EQ(seconds[1].first, begin_of(clock, 1));
  EXPECT_EQ(seconds[1].end + 1, end_of(clock, 1)) << "the place behind the block is its own";
}

TEST(LayerClock, LeavesOutWhatContradictsWhatCameBefore) {
  const predict::PlannedJob job = tiny();
  const auto names = gradients_of(job);
  const LayerClock clock(job, names, false);
  auto work = bare();
  work.gradients.assign(names.size(), {kForward + 500'000, 0});
  work.gradients.back() = {kForward - 1, 0};
  clock.fill(work);
  EXPECT_TRUE(std::ranges::is_sorted(work.layers.backwards, {}, &Moment::computed_ns));
}

}  // namespace
}  // namespace shardlens::trace::tuning
