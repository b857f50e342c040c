#include "trace/predict/layers/layer_order.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "trace/job/shape/lora.h"
#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::predict {
namespace {

job::ModelShape shape_of(job::ModelLayout layout, bool tied = false) {
  job::ModelShape shape = *job::find_model_preset("tiny");
  shape.layout = layout;
  shape.layers = 3;
  shape.tied_head = tied;
  if (layout == job::ModelLayout::kLlama) shape.qk_norm = true;
  if (job::is_encoder(layout)) shape.labels = 2;
  return shape;
}

std::vector<std::string> names_of(const job::ModelShape& shape, const OrderedLayer& layer) {
  const auto all = job::parameter_shapes(shape);
  std::vector<std::string> names;
  for (int i = layer.parameters.first; i < layer.parameters.end; ++i) {
    names.push_back(all.at(static_cast<std::size_t>(i)).name);
  }
  return names;
}

constexpr job::ModelLayout kLayouts[] = {job::ModelLayout::kGpt2, job::ModelLayout::kLlama,
                                         job::ModelLayout::kBert, job::ModelLayout::kRoberta};

TEST(LayerOrder, HasEveryParameterOnce) {
  for (const job::ModelLayout layout : kLayouts) {
    const job::ModelShape shape = shape_of(layout);
    std::multiset<std::string> found;
    for (const OrderedLayer& layer : layer_order(job_on_this_machine({}, shape))) {
      const auto names = names_of(shape, layer);
      found.insert(names.begin(), names.end());
    }
    const auto all = job::parameter_shapes(shape);
    EXPECT_EQ(found.size(), all.size());
    for (const auto& each : all) EXPECT_EQ(found.count(each.name), 1u) << each.name;
  }
}

// Twice and four times as many multiplications as weights: what MFU counts.
TEST(LayerOrder, HasTheModelsOperations) {
  for (const job::ModelLayout layout : kLayouts) {
    for (const bool tied : {false, true}) {
      if (tied && job::is_encoder(layout)) continue;
      const job::ModelShape shape = shape_of(layout, tied);
      job::Settings settings;
      settings.loss_chunk_tokens = 0;
      const PlannedJob job = job_on_this_machine(settings, shape);
      double forward = 0, backward = 0;
      for (const OrderedLayer& layer : layer_order(job)) {
        forward += layer.forward;
        backward += layer.backward;
      }
      const auto all = static_cast<double>(job::flops_per_token(shape, job.sequence()));
      EXPECT_NEAR(forward, all / 3, 1e-6 * all);
      EXPECT_NEAR(backward, all * 2 / 3, 1e-6 * all);
    }
  }
}

// Registered last, a Llama's norms come first.
TEST(LayerOrder, IsThatOfForwardNotOfRegistration) {
  const job::ModelShape shape = shape_of(job::ModelLayout::kLlama);
  std::vector<std::string> modules;
  for (const OrderedLayer& layer : layer_order(job_on_this_machine({}, shape))) {
    if (layer.block != 1) continue;
    const auto names = names_of(shape, layer);
    modules.push_back(names.empty() ? ""
                                    : names.front().substr(std::string("model.layers.1.").size()));
  }
  EXPECT_EQ(modules,
            (std::vector<std::string>{
                "input_layernorm.weight", "self_attn.q_proj.weight", "self_attn.q_norm.weight",
                "self_attn.k_proj.weight", "self_attn.k_norm.weight", "self_attn.v_proj.weight", "",
                "self_attn.o_proj.weight", "post_attention_layernorm.weight",
                "mlp.gate_proj.weight", "mlp.up_proj.weight", "mlp.down_proj.weight", ""}))
      << "attention before what multiplies its result, a second forward behind all";
}

// A gradient passes through frozen weights, and stops at the first adapter: whichever that is, what
// MFU counts.
TEST(LayerOrder, OfAdaptersHasTheirOperations) {
  for (const job::ModelLayout layout : kLayouts) {
    const bool may_be_tied = !job::is_encoder(layout);
    const job::ModelShape shape = shape_of(layout, may_be_tied);
    std::set<std::string> targets{"auto", "all-linear"};
    if (layout == job::ModelLayout::kBert) targets.insert("pooler.dense");
    for (const job::LinearShape& layer : job::linear_layers(shape)) {
      targets.insert(layer.name.substr(layer.name.rfind('.') + 1));
    }
    EXPECT_GE(targets.size(), 5u);
    for (const std::string& target : targets) {
      job::Settings settings;
      settings.lora_rank = 4;
      settings.lora_target_modules = target;
      settings.loss_chunk_tokens = 0;
      const PlannedJob job = job_on_this_machine(settings, shape);
      double all = 0;
      for (const OrderedLayer& layer : layer_order(job)) all += layer.forward + layer.backward;
      EXPECT_EQ(std::llround(all), job::flops_per_token(shape, settings, job.sequence()))
          << static_cast<int>(layout) << " " << target;
    }
  }
}

// A BERT with an adapter in its pooler alone: backward comes to no block.
TEST(LayerOrder, OfBlocksThatNeedNoGradientHasNoSecondForward) {
  job::Settings settings;
  settings.lora_rank = 4;
  settings.lora_target_modules = "pooler.dense";
  settings.activation_checkpointing = 1;
  const job::ModelShape shape = shape_of(job::ModelLayout::kBert);
  for (const OrderedLayer& layer : layer_order(job_on_this_machine(settings, shape))) {
    EXPECT_NE(layer.what, OrderedLayer::What::kSecondForward);
    if (layer.block < 0) continue;
    EXPECT_EQ(layer.backward, 0);
  }
}

TEST(LayerOrder, TellsWhichLayersAUnitHas) {
  job::Settings settings;
  settings.wrap_policy = job::WrapPolicy::kTransformerBlock;
  const job::ModelShape shape = shape_of(job::ModelLayout::kLlama);
  const auto order = layer_order(job_on_this_machine(settings, shape));
  const auto blocks = model_units(shape, settings, model_sizes(shape, settings));
  const LayerSpan second = layers_of(blocks.at(2), order);
  EXPECT_EQ(order.at(second.first).block, 1);
  EXPECT_EQ(order.at(second.first - 1).what, OrderedLayer::What::kSecondForward)
      << "of the block before";
  EXPECT_EQ(order.at(second.end - 1).what, OrderedLayer::What::kSecondForward);
  settings.wrap_policy = job::WrapPolicy::kSize;
  settings.min_num_params = 1;
  for (const ModelUnit& unit : model_units(shape, settings, model_sizes(shape, settings))) {
    if (unit.block < 0) continue;
    const LayerSpan layers = layers_of(unit, order);
    EXPECT_EQ(layers.end - layers.first, 1u) << "each is one layer";
    EXPECT_EQ(order.at(layers.first).parameters, unit.parameters);
  }
}

}  // namespace
}  // namespace shardlens::trace::predict
