#include "trainer/strategy/ddp/data_parallel.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <ostream>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/strategy/ddp/small_model.h"

namespace shardlens::trainer::strategy {
namespace {

using testing::HasSubstr;

struct Variant {
  const char* name = "";
  trace::job::Settings options{};
  int ranks = kRanks;
  int micro_batches = 1;
  bool sync_each = false;
  double tolerance = 1e-6;
  bool use_last = true;
};

void PrintTo(const Variant& variant, std::ostream* out) { *out << variant.name; }

void train(const Variant& variant, SmallModel& model, DataParallel& replica, int rank,
           profiler::recorder::Recorder& recorder) {
  for (int step = 0; step < kSteps; ++step) {
    recorder.begin_step(step);
    replica.zero_gradients();
    for (int micro = 0; micro < variant.micro_batches; ++micro) {
      replica.set_require_sync(variant.sync_each || micro + 1 == variant.micro_batches);
      replica.before_forward();
      const auto loss =
          model.loss(input_of(step, micro, rank), variant.use_last) / variant.micro_batches;
      replica.before_backward(loss);
      loss.backward();
      replica.after_backward();
    }
    model.descend();
    recorder.end_step({});
  }
}

std::vector<comm::Recording> train_and_compare(const Variant& variant) {
  const auto expected =
      trained_by_one_process(variant.ranks, variant.micro_batches, variant.use_last);
  return comm::on_ranks(
      variant.ranks, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        auto values = initial_values();
        // The other ranks start elsewhere: rank 0's values must reach them.
        if (communicator.rank() > 0) {
          for (auto& value : values) value.fill_(0.25);
        }
        SmallModel model(values);
        DataParallel replica(model.parameters, {}, communicator, recorder, variant.options);
        train(variant, model, replica, communicator.rank(), recorder);
        for (std::size_t i = 0; i < expected.size(); ++i) {
          EXPECT_TRUE(
              torch::allclose(model.weight(i), expected[i], variant.tolerance, variant.tolerance))
              << model.parameters[i].name << " on rank " << communicator.rank();
        }
      });
}

class EveryVariant : public testing::TestWithParam<Variant> {};

TEST_P(EveryVariant, TrainsAsOneProcessDoes) { train_and_compare(GetParam()); }

Variant several_buckets(const char* name, trace::job::Settings options = {}, int ranks = kRanks) {
  options.bucket_cap_mb = 0.002;
  return {.name = name, .options = options, .ranks = ranks};
}
Variant an_unused_parameter(const char* name, const trace::job::Settings& options) {
  Variant variant = several_buckets(name, options);
  variant.use_last = false;
  return variant;
}
Variant accumulation(const char* name, const trace::job::Settings& options = {},
                     bool sync_each = false) {
  Variant variant = several_buckets(name, options);
  variant.micro_batches = kMicroBatches;
  variant.sync_each = sync_each;
  return variant;
}
Variant compression(const char* name, const trace::job::Settings& options, double tolerance) {
  Variant variant = several_buckets(name, options);
  variant.tolerance = tolerance;
  return variant;
}

std::vector<Variant> variants() {
  constexpr auto kFp16 = trace::job::CommunicationHook::kFp16Compress,
                 kBf16 = trace::job::CommunicationHook::kBf16Compress;
  return {
      several_buckets("small_buckets"),
      {.name = "default_cap"},
      several_buckets("one_rank", {}, 1),
      several_buckets("three_ranks", {}, 3),
      several_buckets("bucket_views", {.gradient_as_bucket_view = true}),
      several_buckets("static_graph", {.static_graph = true}),
      several_buckets("static_graph_and_views",
                      {.gradient_as_bucket_view = true, .static_graph = true}),
      several_buckets("find_unused", {.find_unused_parameters = true}),
      an_unused_parameter("an_unused_parameter", {.find_unused_parameters = true}),
      an_unused_parameter("an_unused_parameter_in_a_static_graph", {.static_graph = true}),
      several_buckets("no_overlap", {.overlap_comm = false}),
      several_buckets("no_overlap_static_graph", {.static_graph = true, .overlap_comm = false}),
      accumulation("accumulation"),
      accumulation("accumulation_into_views", {.gradient_as_bucket_view = true}),
      accumulation("accumulation_in_a_static_graph", {.static_graph = true}),
      accumulation("accumulation_synchronised_each_time", {}, true),
      accumulation("synchronised_each_time_into_views", {.gradient_as_bucket_view = true}, true),
      compression("fp16_compress", {.communication_hook = kFp16}, 1e-4),
      compression("bf16_compress", {.communication_hook = kBf16}, 1e-3),
      compression(
          "fp16_compress_no_overlap_views",
          {.gradient_as_bucket_view = true, .communication_hook = kFp16, .overlap_comm = false},
          1e-4),
  };
}

INSTANTIATE_TEST_SUITE_P(DataParallel, EveryVariant, testing::ValuesIn(variants()),
                         [](const auto& each) { return std::string(each.param.name); });

// Whole gradients beside the buckets would be twice the memory. Nor is there a moment with both.
TEST(DataParallel, GradientsAreViewsOfTheBucketsBeforeTheyAreReduced) {
  Variant variant = accumulation("views", {.gradient_as_bucket_view = true});
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    SmallModel model(initial_values());
    DataParallel replica(model.parameters, {}, communicator, recorder, variant.options);
    for (int step = 0; step < 2; ++step) {  // before and after the buckets are rebuilt
      for (int micro = 0; micro < 2; ++micro) {
        replica.set_require_sync(micro == 1);
        replica.before_forward();
        const auto loss = model.loss(input_of(step, micro, communicator.rank())) / 2;
        replica.before_backward(loss);
        loss.backward();
        replica.after_backward();
        for (const auto& bucket : replica.bucket_plan()) {
          const auto& first = model.weight(bucket.front()).grad();
          for (const std::size_t i : bucket) {
            EXPECT_TRUE(model.weight(i).grad().is_alias_of(first)) << step << " " << micro;
          }
        }
      }
      replica.zero_gradients();
    }
  });
}

TEST(DataParallel, CompressionRoundsAsItsTypeDoes) {
  Variant variant;
  variant.options.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    SmallModel model(initial_values());
    DataParallel replica(model.parameters, {}, communicator, recorder, variant.options);
    std::vector<torch::Tensor> expected;
    for (int rank = 0; rank < kRanks; ++rank) {
      SmallModel alone(initial_values());
      alone.loss(input_of(0, 0, rank)).backward();
      const auto part = alone.weight(0).grad().to(torch::kBFloat16).div_(kRanks);
      if (rank == 0) {
        expected.push_back(part);
      } else {
        expected.back() += part;
      }
    }
    replica.before_forward();
    const auto loss = model.loss(input_of(0, 0, communicator.rank()));
    replica.before_backward(loss);
    loss.backward();
    EXPECT_TRUE(torch::equal(model.weight(0).grad(), expected.back().to(torch::kFloat32)));
  });
}

TEST(DataParallel, KeepsEachRanksGradientsWithCommunicationOff) {
  const auto recordings = comm::on_ranks(
      2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        SmallModel alone(initial_values());
        alone.loss(input_of(0, 0, communicator.rank())).backward();
        SmallModel model(initial_values());
        trace::job::Settings options;
        options.communication = trace::job::Communication::kNone;
        DataParallel replica(model.parameters, {}, communicator, recorder, options);
        replica.before_forward();
        const auto loss = model.loss(input_of(0, 0, communicator.rank()));
        replica.before_backward(loss);
        loss.backward();
        replica.after_backward();
        EXPECT_TRUE(torch::equal(model.weight(0).grad(), alone.weight(0).grad()));
      });
  for (const auto& row : recordings[0].rows.collectives) {
    EXPECT_NE(row.tag_kind, trace::model::TagKind::kBucket);
  }
}

TEST(DataParallel, ReducesASharedParameterOnceUnderItsFirstName) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    SmallModel model(initial_values());
    auto parameters = model.parameters;
    parameters.push_back({"head.weight", model.weight(0)});
    DataParallel replica(parameters, {}, communicator, recorder, {});
    ASSERT_EQ(replica.parameters().size(), 5u);
    EXPECT_EQ(replica.parameters()[0].name, "first.weight");
  });
}

TEST(DataParallel, SendsFrozenParametersAndBuffersButReducesNeither) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    SmallModel model(initial_values());
    const auto mine = static_cast<float>(communicator.rank() + 1);
    const tensor::NamedTensor frozen{"frozen", torch::full({3}, mine)};
    const tensor::NamedTensor buffer{"buffer", torch::full({2}, mine)};
    model.parameters.push_back(frozen);
    DataParallel replica(model.parameters, {buffer}, communicator, recorder, {});
    EXPECT_EQ(replica.parameters().size(), 5u);
    EXPECT_TRUE(torch::equal(frozen.tensor, torch::ones({3})));
    EXPECT_TRUE(torch::equal(buffer.tensor, torch::ones({2})));
  });
}

TEST(DataParallel, RefusesModelsThatDifferBetweenRanks) {
  std::barrier both_done(2);
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    std::vector<tensor::NamedTensor> parameters{
        {"weight", torch::ones({4, 2 + communicator.rank()}).set_requires_grad(true)}};
    const auto message = comm::message_thrown_by(
        [&] { DataParallel replica(parameters, {}, communicator, recorder, {}); });
    if (communicator.rank() == 1) {
      EXPECT_THAT(message, HasSubstr("not to match"));
      communicator.shutdown();
    }
  });
}

TEST(DataParallel, SaysThatAParameterTookNoPartInTheLoss) {
  comm::on_ranks(2, [](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
    SmallModel model(initial_values());
    DataParallel replica(model.parameters, {}, communicator, recorder, {});
    replica.before_forward();
    const auto loss = model.loss(input_of(0, 0, communicator.rank()), /*use_last=*/false);
    replica.before_backward(loss);
    loss.backward();
    EXPECT_THAT(comm::message_thrown_by([&] { replica.after_backward(); }),
                HasSubstr("find_unused_parameters"));
  });
}

TEST(DataParallel, AFailedReductionNamesItsBucket) {
  comm::CommunicatorOptions options;
  options.timeout = std::chrono::seconds(1);
  std::barrier both_done(2);
  comm::on_ranks(
      2,
      [&](comm::Communicator& communicator, profiler::recorder::Recorder& recorder) {
        SmallModel model(initial_values());
        trace::job::Settings small_buckets;
        small_buckets.bucket_cap_mb = 0.002;
        {
          DataParallel replica(model.parameters, {}, communicator, recorder, small_buckets);
          replica.before_forward();
          const auto loss = model.loss(input_of(0, 0, communicator.rank()));
          replica.before_backward(loss);
          if (communicator.rank() == 1) {
            communicator.inject_next(trace::job::InjectedFault::kUnequalSize);
          }
          EXPECT_THAT(comm::message_thrown_by([&] { loss.backward(); }),
                      HasSubstr("for bucket 0) failed"));
        }
        both_done.arrive_and_wait();
      },
      options);
}

std::vector<trace::model::Collective> bucket_reductions(const comm::Recording& recording,
                                                        std::int64_t step) {
  std::vector<trace::model::Collective> found;
  for (const auto& row : recording.rows.collectives) {
    if (row.step == step && row.tag_kind == trace::model::TagKind::kBucket) found.push_back(row);
  }
  return found;
}

TEST(DataParallel, RecordsBothPlansAndTheReductionOfEveryBucket) {
  Variant variant;
  variant.options.bucket_cap_mb = 0.002;
  variant.options.communication_hook = trace::job::CommunicationHook::kBf16Compress;
  variant.tolerance = 1e-3;
  for (const comm::Recording& recording : train_and_compare(variant)) {
    std::int64_t bytes[2] = {0, 0};
    int buckets[2] = {0, 0};
    for (const trace::model::Bucket& bucket : recording.rows.buckets) {
      ASSERT_LT(bucket.plan, 2);
      EXPECT_EQ(bucket.index, buckets[bucket.plan]++);
      bytes[bucket.plan] += bucket.bytes;
      EXPECT_EQ(bucket.parameters.size(), bucket.parameter_bytes.size());
    }
    const std::int64_t all = 4 * (24 * 16 + 24 + 24 * 24 + 24 + 8 * 24);
    EXPECT_EQ(bytes[0], all);
    EXPECT_EQ(bytes[1], all);
    EXPECT_EQ(buckets[0], 1);
    EXPECT_GT(buckets[1], 1);
    const auto last = bucket_reductions(recording, kSteps - 1);
    ASSERT_EQ(static_cast<int>(last.size()), buckets[1]);
    for (const auto& row : last) {
      EXPECT_EQ(recording.text(row.data_type), "bfloat16");
    }
    int ready = 0;
    for (const auto& mark : recording.rows.bucket_ready) ready += mark.step == kSteps - 1;
    EXPECT_EQ(ready, buckets[1]);
  }
}

TEST(DataParallel, WithoutOverlapReducesOnlyOnceTheLastBucketIsReady) {
  for (const bool overlap : {true, false}) {
    Variant variant;
    variant.options.bucket_cap_mb = 0.002;
    variant.options.overlap_comm = overlap;
    const auto recordings = train_and_compare(variant);
    std::int64_t last_ready_ns = 0;
    for (const auto& mark : recordings[0].rows.bucket_ready) {
      if (mark.step == kSteps - 1) last_ready_ns = std::max(last_ready_ns, mark.time_ns);
    }
    const auto reductions = bucket_reductions(recordings[0], kSteps - 1);
    ASSERT_GT(reductions.size(), 1u);
    EXPECT_EQ(reductions.front().enqueued_ns < last_ready_ns, overlap);
  }
}

}  // namespace
}  // namespace shardlens::trainer::strategy
