// The units of sharding, and that predictions, which see no module, count with the same.
#include "trainer/strategy/fsdp/unit_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/trainer/strategy/sharded_training.h"
#include "trace/base/text.h"
#include "trace/predict/sizes/model_units.h"
#include "trainer/lora/base_weights.h"
#include "trainer/model/build_model.h"

namespace shardlens::trainer {
namespace {

using testing::ElementsAre;

std::shared_ptr<model::DecoderModel> planned_model(model::ModelLayout layout) {
  return model::build_model(trained_shape(layout), {0.0, 5, torch::kCPU});
}

std::vector<std::string> unit_names(model::DecoderModel& model, trace::job::WrapPolicy policy,
                                    std::int64_t minimum) {
  std::vector<std::string> names;
  for (const auto& unit : strategy::plan_units(model, policy, minimum)) names.push_back(unit.name);
  return names;
}

TEST(UnitPlan, WrapsBlocksAndLeavesTheRestToTheRoot) {
  const auto model = planned_model(model::ModelLayout::kGpt2);
  const auto units = strategy::plan_units(*model, trace::job::WrapPolicy::kTransformerBlock, 0);
  ASSERT_EQ(units.size(), 4u);
  EXPECT_EQ(units[2].name, "blocks.1");
  EXPECT_EQ(units[2].parameters.front().name, "transformer.h.1.ln_1.weight");
  std::vector<std::string> root;
  for (const auto& parameter : units[0].parameters) root.push_back(parameter.name);
  EXPECT_THAT(root, ElementsAre("transformer.wte.weight", "transformer.wpe.weight",
                                "transformer.ln_f.weight", "transformer.ln_f.bias"));
}

TEST(UnitPlan, HoldsEveryParameterOnce) {
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    for (const auto policy : {trace::job::WrapPolicy::kTransformerBlock,
                              trace::job::WrapPolicy::kSize, trace::job::WrapPolicy::kWholeModel}) {
      const auto model = planned_model(layout);
      std::size_t count = 0;
      for (const auto& unit : strategy::plan_units(*model, policy, 500))
        count += unit.parameters.size();
      EXPECT_EQ(count, tensor::named_parameters_of(*model).size());
    }
  }
}

TEST(UnitPlan, BySizeWrapsFromTheInside) {
  const auto model = planned_model(model::ModelLayout::kGpt2);
  // Of a block's 3,502 values its MLP has 1,742 and its attention 1,680.
  EXPECT_THAT(unit_names(*model, trace::job::WrapPolicy::kSize, 3000),
              ElementsAre("root", "blocks.0", "blocks.1", "blocks.2"));
  EXPECT_THAT(unit_names(*model, trace::job::WrapPolicy::kSize, 1700),
              ElementsAre("root", "blocks.0", "blocks.0.mlp", "blocks.1", "blocks.1.mlp",
                          "blocks.2", "blocks.2.mlp"));
  EXPECT_THAT(unit_names(*model, trace::job::WrapPolicy::kSize, 1680),
              ElementsAre("root", "blocks.0.attn", "blocks.0.mlp", "blocks.1.attn", "blocks.1.mlp",
                          "blocks.2.attn", "blocks.2.mlp"));
  EXPECT_THAT(unit_names(*model, trace::job::WrapPolicy::kSize, 1'000'000), ElementsAre("root"));
}

TEST(UnitPlan, SharedParametersStayInTheRoot) {
  const auto model = planned_model(model::ModelLayout::kGpt2);
  const auto units = strategy::plan_units(*model, trace::job::WrapPolicy::kSize, 1);
  EXPECT_EQ(units[0].parameters.at(0).name, "transformer.wte.weight") << "also the head's";
}

// Trained values, and bytes of frozen ones, of each unit.
using Held = std::vector<std::pair<std::int64_t, std::int64_t>>;

Held held_by_trainer(model::Model& model, std::int64_t smallest) {
  Held held;
  for (const strategy::UnitPlan& unit :
       strategy::plan_units(model, trace::job::WrapPolicy::kSize, smallest)) {
    auto& [trained, frozen] = held.emplace_back();
    for (const tensor::NamedTensor& each : unit.parameters) {
      (each.tensor.requires_grad() ? trained : frozen) +=
          each.tensor.requires_grad() ? each.tensor.numel()
                                      : static_cast<std::int64_t>(each.tensor.nbytes());
    }
  }
  return held;
}

Held held_by_prediction(const model::ModelShape& shape, const trace::job::Settings& settings) {
  Held held;
  const trace::predict::ModelSizes sizes = trace::predict::model_sizes(shape, settings);
  for (const trace::predict::ModelUnit& unit :
       trace::predict::model_units(shape, settings, sizes)) {
    held.emplace_back(unit.trained, unit.frozen.kept);
  }
  return held;
}

std::vector<model::ModelShape> shapes_of_all_layouts() {
  std::vector<model::ModelShape> shapes;
  for (const auto layout : {model::ModelLayout::kGpt2, model::ModelLayout::kLlama}) {
    for (const bool tied : {false, true}) {
      shapes.push_back(trained_shape(layout));
      shapes.back().tied_head = tied;
    }
  }
  for (const auto layout : {model::ModelLayout::kBert, model::ModelLayout::kRoberta}) {
    model::ModelShape shape = trained_shape(model::ModelLayout::kGpt2);
    shape.layout = layout;
    shape.tied_head = false;
    shape.token_types = 2;
    shape.labels = 3;
    shape.padding_token = 1;
    shapes.push_back(shape);
  }
  // As most models have it: a table is more than a block.
  for (std::size_t i = shapes.size(); i-- > 0;) {
    shapes.push_back(shapes[i]);
    shapes.back().vocabulary = 500;
  }
  return shapes;
}

TEST(UnitPlan, IsWhatPredictionsCountWithWhateverTheModelAndWhatIsTrained) {
  std::size_t most = 0, outside = 0;
  for (const model::ModelShape& shape : shapes_of_all_layouts()) {
    for (const char* trained : {"frozen_blocks=0", "frozen_blocks=2", "lora_rank=4 base_dtype=nf4",
                                "lora_rank=4 lora_target_modules=all-linear base_dtype=nf4",
                                "lora_rank=4 base_dtype=bf16", "frozen_blocks=1 base_dtype=bf16"}) {
      trace::job::Settings settings;
      settings.wrap_policy = trace::job::WrapPolicy::kSize;
      for (const std::string_view each : trace::base::split(trained, ' ')) {
        ASSERT_TRUE(trace::job::set_assignment(settings, each));
      }
      const auto model = model::build_any_model(shape, {0.0, 5, torch::kCPU});
      ASSERT_TRUE(lora::choose_trained_part(*model, settings));
      for (const std::int64_t smallest :
           {1, 25, 100, 400, 1000, 1300, 1670, 1700, 2000, 3000, 3600, 6000, 10'500, 20'000}) {
        settings.min_num_params = smallest;
        const Held held = held_by_trainer(*model, smallest);
        EXPECT_EQ(held_by_prediction(shape, settings), held)
            << shape.name << " of layout " << static_cast<int>(shape.layout)
            << (shape.tied_head ? " tied " : " untied ") << shape.vocabulary << " " << trained
            << " min_num_params=" << smallest;
        most = std::max(most, held.size());
        outside += held.size() % static_cast<std::size_t>(shape.layers) != 1 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(most, 20u);
  EXPECT_GT(outside, 100u) << "units that are not one or more of each block";
}

}  // namespace
}  // namespace shardlens::trainer
