#include "trainer/loop/training_checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <utility>

#include "tests/trainer/comm/rank_threads.h"
#include "tests/trainer/data/encoded_texts.h"
#include "tests/trainer/strategy/fake_strategy.h"
#include "trace/base/file_system.h"

namespace shardlens::trainer::loop {
namespace {

using testing::HasSubstr;

// One rank that trains three numbers, or several times three.
class SmallJob {
 public:
  SmallJob(trace::job::Settings settings, const std::filesystem::path& folder,
           const optimizer::GradScalerOptions& scaler, comm::Communicator& communicator,
           std::size_t parameters = 1, const std::vector<std::string>& label_names = {},
           const trace::job::ModelShape& shape = {})
      : settings_(std::move(settings)),
        folder_(folder),
        strategy_(all_ones(parameters)),
        optimizer_(optimizer::build_optimizer(strategy_.local_parameters(), settings_)),
        dataset_(*data::TokenDataset::create(counting_text(41), std::nullopt, settings_,
                                             {100, 0, 99}, 1)),
        stream_(dataset_, {.samples = dataset_.training_samples()}, settings_.batch_per_rank, 1),
        batches_(stream_, torch::kCPU),
        scaler_(scaler),
        communicator_(communicator),
        checkpoints_({settings_, folder_, strategy_, *optimizer_, batches_, scaler_, communicator,
                      shapes_of(strategy_), trace::job::notes_of_meaning(settings_, shape),
                      label_names, [this] { ++pieces_read_; }}) {}

  // The loss scale after a step with that gradient.
  double step(float gradient) {
    strategy_.local_parameters()[0].value.mutable_grad() = torch::full({3}, gradient);
    scaler_.unscale(strategy_, communicator_);
    scaler_.update();
    return scaler_.scale();
  }
  TrainingCheckpoints& checkpoints() { return checkpoints_; }
  const optimizer::GradScaler& scaler() const { return scaler_; }
  int pieces_read() const { return pieces_read_; }

 private:
  static std::vector<torch::Tensor> all_ones(std::size_t count) {
    std::vector<torch::Tensor> parameters(count);
    for (auto& each : parameters) each = torch::ones({3}).set_requires_grad(true);
    return parameters;
  }
  static std::vector<trace::job::ParameterShape> shapes_of(const FakeStrategy& strategy) {
    std::vector<trace::job::ParameterShape> shapes;
    for (const auto& each : strategy.local_parameters()) shapes.push_back({each.name, each.sizes});
    return shapes;
  }

  trace::job::Settings settings_;
  std::filesystem::path folder_;
  FakeStrategy strategy_;
  std::unique_ptr<optimizer::Optimizer> optimizer_;
  data::TokenDataset dataset_;
  data::BatchStream stream_;
  data::BatchLoader batches_;
  optimizer::GradScaler scaler_;
  comm::Communicator& communicator_;
  int pieces_read_ = 0;
  TrainingCheckpoints checkpoints_;
};

class CheckpointsOfAJob : public testing::Test {
 protected:
  static trace::job::Settings small_settings() {
    trace::job::Settings settings;
    settings.sequence_length = 4;
    settings.batch_per_rank = 1;
    return settings;
  }
  trace::job::Settings going_on() const {
    trace::job::Settings settings = small_settings();
    settings.resume = folder_.path().string();
    return settings;
  }
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

// As a state_dict() of torch.amp.GradScaler has both.
TEST_F(CheckpointsOfAJob, KeepTheLossScaleAndWhenItGrows) {
  const optimizer::GradScalerOptions options{.initial_scale = 0x1p-20, .growth_interval = 3};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SmallJob first(small_settings(), folder_.path(), options, communicator);
    EXPECT_EQ(first.step(std::numeric_limits<float>::infinity()), 0x1p-21);
    first.step(1);
    EXPECT_EQ(first.step(1), 0x1p-21);
    ASSERT_TRUE(first.checkpoints().save(3));

    SmallJob second(going_on(), folder_.path(), options, communicator);
    const auto done = second.checkpoints().resume();
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_EQ(*done, 3);
    EXPECT_GT(second.pieces_read(), 0) << "it seems to hang";
    EXPECT_EQ(second.scaler().scale(), 0x1p-21);
    EXPECT_EQ(second.step(1), 0x1p-20);
  });
}

TEST_F(CheckpointsOfAJob, OfAJobThatScaledNothingLeaveTheLossScaleAlone) {
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SmallJob first(small_settings(), folder_.path(), {.enabled = false}, communicator);
    ASSERT_TRUE(first.checkpoints().save(1));
    SmallJob second(going_on(), folder_.path(), {.initial_scale = 1024}, communicator);
    ASSERT_TRUE(second.checkpoints().resume());
    EXPECT_EQ(second.scaler().scale(), 1024);
  });
}

// Whoever has started it: the launcher that refuses this, too, is not the only one.
TEST_F(CheckpointsOfAJob, OfAnotherJobAreRefused) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    ASSERT_TRUE(
        SmallJob(small_settings(), folder_.path(), options, communicator, 2).checkpoints().save(3));
    const auto refusal = [&](const trace::job::Settings& settings, std::size_t parameters) {
      SmallJob job(settings, folder_.path(), options, communicator, parameters);
      const auto done = job.checkpoints().resume();
      EXPECT_TRUE(done || done.error().kind == trace::base::ErrorKind::kUsage);
      return done ? "goes on" : done.error().message;
    };
    EXPECT_EQ(refusal(going_on(), 2), "goes on");
    EXPECT_THAT(refusal(going_on(), 1), HasSubstr("only in the checkpoint: 'parameter 1'"));
    trace::job::Settings other = going_on();
    other.optimizer = trace::job::OptimizerChoice::kSgd;
    EXPECT_THAT(refusal(other, 2), HasSubstr("set optimizer: adamw"));
    other = going_on();
    other.steps = 2;
    EXPECT_THAT(refusal(other, 2), HasSubstr("has 3 steps done already"));
  });
}

// Their values fit, but mean something else.
TEST_F(CheckpointsOfAJob, OfAnotherMeaningAreRefused) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const auto job_with = [&](trace::job::Settings settings, double alpha,
                              const trace::job::ModelShape& shape) {
      settings.lora_rank = 4;
      settings.lora_alpha = alpha;
      return std::make_unique<SmallJob>(std::move(settings), folder_.path(), options, communicator,
                                        1, std::vector<std::string>{}, shape);
    };
    const auto refusal = [&](double alpha, const trace::job::ModelShape& shape) {
      const auto done = job_with(going_on(), alpha, shape)->checkpoints().resume();
      EXPECT_TRUE(done || done.error().kind == trace::base::ErrorKind::kUsage);
      return done ? "goes on" : done.error().message;
    };
    trace::job::ModelShape here, elsewhere, other;
    here.name = "here";
    elsewhere.name = "elsewhere";
    other.rotary_base = 500000;
    ASSERT_TRUE(job_with(small_settings(), 32, here)->checkpoints().save(3));
    EXPECT_EQ(refusal(32, elsewhere), "goes on");
    EXPECT_THAT(refusal(8, here), HasSubstr("lora_alpha 32, and here it is 8"));
    EXPECT_THAT(refusal(32, other), HasSubstr("rotary_base=5"));
  });
}

TEST_F(CheckpointsOfAJob, OfOtherClassesAreRefused) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const auto job_with = [&](const trace::job::Settings& settings,
                              const std::vector<std::string>& names) {
      return std::make_unique<SmallJob>(settings, folder_.path(), options, communicator, 1, names);
    };
    ASSERT_TRUE(job_with(small_settings(), {"neg", "pos"})->checkpoints().save(3));
    EXPECT_TRUE(job_with(going_on(), {"neg", "pos"})->checkpoints().resume());
    EXPECT_TRUE(job_with(going_on(), {"neg", "pos", "unsure"})->checkpoints().resume());
    EXPECT_TRUE(job_with(going_on(), {})->checkpoints().resume()) << "labels are numbers";
    const auto done = job_with(going_on(), {"neg", "neutral", "pos"})->checkpoints().resume();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_THAT(done.error().message, HasSubstr("class 1 is \"neutral\" in this data"));
    EXPECT_THAT(done.error().message, HasSubstr("was \"pos\" in that of"));
    ASSERT_TRUE(job_with(small_settings(), {"neg", "of\ntwo lines"})->checkpoints().save(4));
    EXPECT_TRUE(job_with(going_on(), {"neg", "of\ntwo lines"})->checkpoints().resume());
    EXPECT_FALSE(job_with(going_on(), {"neg", "of"})->checkpoints().resume());
  });
}

// Older ones have names that may have run into each other under another key.
TEST_F(CheckpointsOfAJob, OfClassesInTheOlderFormGoOn) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SmallJob first(small_settings(), folder_.path(), options, communicator, 1, {"neg", "pos"});
    const auto saved = first.checkpoints().save(3);
    ASSERT_TRUE(saved) << saved.error().message;
    auto info = trace::job::read_checkpoint_info(*saved);
    ASSERT_TRUE(info) << info.error().message;
    auto names = info->notes.extract("label_names");
    ASSERT_FALSE(names.empty());
    names.key() = "labels";
    info->notes.insert(std::move(names));
    std::ofstream(*saved / trace::job::kCheckpointFile)
        << trace::job::checkpoint_info_to_yaml(*info);
    SmallJob second(going_on(), folder_.path(), options, communicator, 1, {"a", "b"});
    const auto done = second.checkpoints().resume();
    EXPECT_TRUE(done) << done.error().message;
  });
}

// BaseFingerprint.* tells them apart.
TEST_F(CheckpointsOfAJob, OfAdaptersBesideOtherFrozenWeightsAreRefused) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const auto adapters_of = [&](trace::job::Settings settings) {
      settings.lora_rank = 4;
      return std::make_unique<SmallJob>(settings, folder_.path(), options, communicator);
    };
    const auto saved = adapters_of(small_settings())->checkpoints().save(3);
    ASSERT_TRUE(saved) << saved.error().message;
    EXPECT_TRUE(adapters_of(going_on())->checkpoints().resume());
    auto info = trace::job::read_checkpoint_info(*saved);
    ASSERT_TRUE(info) << info.error().message;
    info->notes.at("base") = "of others";
    std::ofstream(*saved / trace::job::kCheckpointFile)
        << trace::job::checkpoint_info_to_yaml(*info);
    const auto done = adapters_of(going_on())->checkpoints().resume();
    ASSERT_FALSE(done);
    EXPECT_EQ(done.error().kind, trace::base::ErrorKind::kUsage);
    EXPECT_THAT(done.error().message, HasSubstr("belong to other frozen weights"));
  });
}

TEST_F(CheckpointsOfAJob, SayWhyNoneIsTheBest) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SmallJob first(small_settings(), folder_.path(), options, communicator);
    TrainingCheckpoints& checkpoints = first.checkpoints();
    EXPECT_THAT(checkpoints.why_no_best(), HasSubstr("no evaluation took place"));
    EXPECT_FALSE(checkpoints.is_best(std::numeric_limits<double>::quiet_NaN()));
    EXPECT_EQ(checkpoints.why_no_best(), "no evaluation had a finite loss");
    EXPECT_TRUE(checkpoints.is_best(2.5));
    ASSERT_TRUE(checkpoints.save(3));

    SmallJob second(going_on(), folder_.path(), options, communicator);
    ASSERT_TRUE(second.checkpoints().resume());
    EXPECT_THAT(second.checkpoints().why_no_best(), HasSubstr("no evaluation took place"));
    EXPECT_FALSE(second.checkpoints().is_best(3));
    EXPECT_THAT(second.checkpoints().why_no_best(), HasSubstr("had a lower loss than 2.5000"));
  });
}

// As after a change of ranks, batches or data.
TEST_F(CheckpointsOfAJob, CompareEvaluationsOfTheSameTextOnly) {
  const optimizer::GradScalerOptions options{.enabled = false};
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SmallJob first(small_settings(), folder_.path(), options, communicator);
    EXPECT_FALSE(first.checkpoints().forget_best_of_other_text("100 targets"));
    EXPECT_TRUE(first.checkpoints().is_best(2));
    ASSERT_TRUE(first.checkpoints().save(3));

    SmallJob same(going_on(), folder_.path(), options, communicator);
    ASSERT_TRUE(same.checkpoints().resume());
    EXPECT_FALSE(same.checkpoints().forget_best_of_other_text("100 targets"));
    EXPECT_FALSE(same.checkpoints().is_best(3));

    SmallJob other(going_on(), folder_.path(), options, communicator);
    ASSERT_TRUE(other.checkpoints().resume());
    EXPECT_TRUE(other.checkpoints().forget_best_of_other_text("400 targets"));
    EXPECT_TRUE(other.checkpoints().is_best(3));
    EXPECT_FALSE(other.checkpoints().forget_best_of_other_text("400 targets"));
    EXPECT_FALSE(other.checkpoints().is_best(4));
  });
}

}  // namespace
}  // namespace shardlens::trainer::loop
