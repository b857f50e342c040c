#include "trace/predict/sizes/model_units.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "trace/job/shape/parameter_shapes.h"

namespace shardlens::trace::predict {
namespace {

// Of the 3,502 values of a block the MLP has 1,742 and attention 1,680 (as in trainer's UnitPlan).
job::ModelShape small_shape() {
  job::ModelShape shape = *job::find_model_preset("tiny");
  shape.layers = 2;
  shape.width = 20;
  shape.heads = shape.kv_heads = 2;
  shape.mlp_width = 42;
  return shape;
}

std::vector<ModelUnit> units_of(const job::ModelShape& shape, job::Settings settings,
                                std::int64_t minimum) {
  settings.wrap_policy = job::WrapPolicy::kSize;
  settings.min_num_params = minimum;
  return model_units(shape, settings, model_sizes(shape, settings));
}

// The longest common name of some of a model's parameters, without that of their block.
std::string name_of(const std::vector<job::ParameterShape>& all, const ModelUnit& unit) {
  const auto name = [&](int i) {
    const std::string& whole = all.at(static_cast<std::size_t>(i)).name;
    const std::string block = "." + std::to_string(unit.block) + ".";
    return unit.block < 0 ? whole : whole.substr(whole.find(block) + block.size());
  };
  const std::string last = name(unit.parameters.end - 1);
  std::string common = name(unit.parameters.first);
  do {
    common = common.substr(0, common.find('.') == std::string::npos ? 0 : common.rfind('.'));
  } while (!common.empty() && !last.starts_with(common + "."));
  return common.empty() ? "block" : common;
}

// "attn: 1680, mlp: 1742": names, and what the weights that they have take: values that are
// trained, or bytes that are frozen.
std::string text_of(const job::ModelShape& shape, const std::vector<ModelUnit>& units,
                    std::int64_t block) {
  std::string text;
  for (const ModelUnit& unit : units) {
    if (unit.block != block || &unit == units.data()) continue;
    text += (text.empty() ? "" : ", ") + name_of(job::parameter_shapes(shape), unit) + ": " +
            std::to_string(unit.frozen.kept > 0 ? unit.frozen.kept : unit.trained);
  }
  return text;
}

std::string units(std::int64_t minimum, const job::Settings& settings = {}) {
  const job::ModelShape shape = small_shape();
  const auto all = units_of(shape, settings, minimum);
  EXPECT_EQ(text_of(shape, all, 0), text_of(shape, all, 1));
  return text_of(shape, all, 0);
}

TEST(ModelUnits, AreChosenFromTheInside) {
  EXPECT_EQ(units(3000), "block: 3502");
  EXPECT_EQ(units(1700), "block: 1760, mlp: 1742");
  EXPECT_EQ(units(1680), "attn: 1680, mlp: 1742") << "norms are the root's";
  EXPECT_EQ(units(800), "attn.c_attn: 1260, mlp.c_fc: 882, mlp.c_proj: 860");
  EXPECT_EQ(units(1'000'000), "");
}

TEST(ModelUnits, HoldEveryValueOnce) {
  for (const char* model : {"tiny", "llama-1b"}) {
    job::ModelShape shape = *job::find_model_preset(model);
    for (const std::int64_t minimum : {1, 1000, 100'000, 1'000'000'000}) {
      std::int64_t values = 0;
      for (const ModelUnit& unit : units_of(shape, {}, minimum)) values += unit.trained;
      EXPECT_EQ(values, job::parameter_count(shape)) << model << minimum;
    }
  }
}

// 100 x 20 values of tokens, 320 of positions.
job::ModelShape wide_shape(job::ModelLayout layout, bool tied) {
  job::ModelShape shape = small_shape();
  shape.layout = layout;
  shape.vocabulary = 100;
  shape.context = 16;
  shape.tied_head = tied;
  return shape;
}

std::string outside(const job::ModelShape& shape, std::int64_t minimum,
                    const job::Settings& settings = {}) {
  return text_of(shape, units_of(shape, settings, minimum), -1);
}

TEST(ModelUnits, LieBeforeAndBehindTheBlocksToo) {
  const job::ModelShape gpt2 = wide_shape(job::ModelLayout::kGpt2, false);
  EXPECT_EQ(outside(gpt2, 9365), "");
  EXPECT_EQ(outside(gpt2, 4000), "transformer: 9364") << "the head's matrix is the root's";
  EXPECT_EQ(outside(gpt2, 2000), "transformer.wte: 2000, lm_head: 2000");
  EXPECT_EQ(outside(gpt2, 360), "transformer: 520, transformer.wte: 2000, lm_head: 2000")
      << "320 positions, and 40 of each block's and the last norm";
  EXPECT_EQ(outside(gpt2, 1),
            "transformer.wte: 2000, transformer.wpe: 320, transformer.ln_f: 40, "
            "lm_head: 2000");
  const job::ModelShape llama = wide_shape(job::ModelLayout::kLlama, false);
  EXPECT_EQ(outside(llama, 2000), "model: 3300, model.embed_tokens: 2000, lm_head: 2000")
      << "two blocks' attention and norms, and the last norm";
}

// As the trainer's recorded units of a tiny GPT-2 are called.
TEST(ModelUnits, AreCalledAsTheTrainerCallsThem) {
  const job::ModelShape shape = *job::find_model_preset("tiny");
  const auto names = [&](std::int64_t minimum) {
    std::vector<std::string> all;
    for (const ModelUnit& unit : units_of(shape, {}, minimum)) {
      if (unit.block <= 0) all.push_back(unit_name(unit, job::parameter_shapes(shape)));
    }
    return std::vector<std::string>(all.begin() + 1, all.end());
  };
  EXPECT_EQ(names(100'000), (std::vector<std::string>{"transformer", "blocks.0.attn.c_attn",
                                                      "blocks.0.mlp.c_fc", "blocks.0.mlp.c_proj"}));
  EXPECT_EQ(names(30'000), (std::vector<std::string>{"transformer.wpe", "blocks.0.attn.c_attn",
                                                     "blocks.0.attn.c_proj", "blocks.0.mlp.c_fc",
                                                     "blocks.0.mlp.c_proj"}));
  job::Settings blocks;
  const auto units = model_units(shape, blocks, model_sizes(shape, blocks));
  EXPECT_EQ(unit_name(units.at(4), job::parameter_shapes(shape)), "blocks.3");
}

TEST(ModelUnits, LeaveWhatIsSharedToTheRoot) {
  const job::ModelShape shape = wide_shape(job::ModelLayout::kGpt2, true);
  EXPECT_EQ(outside(shape, 1), "transformer.wpe: 320, transformer.ln_f: 40");
  EXPECT_EQ(units_of(shape, {}, 1).front().trained, 2000);
}

TEST(ModelUnits, OfAnEncoderAreThoseThatTakeOneTensor) {
  job::ModelShape bert = wide_shape(job::ModelLayout::kBert, false);
  bert.token_types = 2;
  bert.labels = 3;
  EXPECT_EQ(outside(bert, 460), "bert: 900, bert.embeddings.word_embeddings: 2000")
      << "of the embeddings 400 more, too few for a unit, 420 of the pooler, 40 of each block";
  EXPECT_EQ(text_of(bert, units_of(bert, {}, 460), 0),
            "attention: 460, attention.self: 1260, intermediate.dense: 882, output.dense: 860")
      << "attention's output layer has 460 values, but takes what came in beside";
}

TEST(ModelUnits, KnowWhereBackwardComesAndEnds) {
  const job::ModelShape shape = wide_shape(job::ModelLayout::kLlama, false);
  for (const ModelUnit& unit : units_of(shape, {}, 1000)) {
    EXPECT_TRUE(unit.has_backward);
    EXPECT_EQ(unit.passes_gradient, unit.parameters.first > 0) << "tokens have no gradient";
  }
  job::Settings adapted;
  adapted.lora_rank = 4;
  adapted.lora_target_modules = "down_proj";
  for (const ModelUnit& unit : units_of(shape, adapted, 800)) {
    const bool is_before = unit.parameters.end <= 7;  // the table, attention, two of the MLP
    EXPECT_EQ(unit.has_backward, !is_before) << unit.parameters.first;
  }
}

// Of a block whose forward is computed again, each layer a unit: the names of those that backward
// does not come to, and how many forward goes through a second time.
std::pair<std::string, int> without_backward(const job::ModelShape& shape, const char* targets,
                                             std::int64_t block) {
  job::Settings adapted;
  adapted.lora_rank = 4;
  adapted.lora_target_modules = targets;
  adapted.activation_checkpointing = 1;
  std::pair<std::string, int> told;
  for (const ModelUnit& unit : units_of(shape, adapted, 1)) {
    if (unit.block != block) continue;
    told.second += unit.is_recomputed ? 1 : 0;
    if (unit.has_backward) continue;
    EXPECT_FALSE(unit.passes_gradient);
    told.first += (told.first.empty() ? "" : ", ") + name_of(job::parameter_shapes(shape), unit);
  }
  return told;
}

TEST(ModelUnits, HaveNoBackwardInFrontOfTheFirstAdapterAndBesideIt) {
  job::ModelShape llama = wide_shape(job::ModelLayout::kLlama, false);
  using Told = std::pair<std::string, int>;
  EXPECT_EQ(without_backward(llama, "q_proj", 0),
            Told("self_attn.k_proj, self_attn.v_proj, input_layernorm", 9))
      << "registered behind it";
  EXPECT_EQ(without_backward(llama, "q_proj", 1), Told("", 9));
  EXPECT_EQ(without_backward(llama, "gate_proj", 0),
            Told("self_attn.q_proj, self_attn.k_proj, self_attn.v_proj, self_attn.o_proj, "
                 "mlp.up_proj, input_layernorm, post_attention_layernorm",
                 9));
  llama.qk_norm = true;
  EXPECT_EQ(without_backward(llama, "v_proj", 0),
            Told("self_attn.q_proj, self_attn.k_proj, self_attn.q_norm, self_attn.k_norm, "
                 "input_layernorm",
                 11));
}

// Where nothing needs a gradient nothing is computed again, either.
TEST(ModelUnits, OfBlocksInFrontOfAllAdaptersAreUsedOnce) {
  job::ModelShape bert = wide_shape(job::ModelLayout::kBert, false);
  bert.token_types = 2;
  bert.labels = 3;
  for (const std::int64_t block : {0, 1}) {
    EXPECT_EQ(without_backward(bert, "pooler.dense", block),
              std::pair(std::string("attention.self.query, attention.self.key, "
                                    "attention.self.value, attention.output.dense, "
                                    "attention.output.LayerNorm, intermediate.dense, "
                                    "output.dense, output.LayerNorm"),
                        0));
  }
  EXPECT_EQ(without_backward(bert, "query", 0),
            std::pair(std::string("attention.self.key, attention.self.value"), 8));
  // A norm of tables passes on what their sum gets.
  for (const ModelUnit& unit : units_of(bert, {}, 1)) {
    const bool is_table = unit.parameters.first < 3;  // with the root, which begins with one
    EXPECT_EQ(unit.passes_gradient, !is_table) << unit.parameters.first;
  }
}

TEST(ModelUnits, CountPackedWeightsByTheirBytesAndAdaptersBesideThem) {
  job::Settings adapted;
  adapted.lora_rank = 4;
  adapted.lora_target_modules = "all-linear";
  adapted.base_dtype = job::BaseType::kNf4;
  // c_attn: 1,200 weights in 684 bytes, 60 biases, adapters of 4 x (20 + 60); attention has 1,496
  // like that, the MLP 1,566. Frozen: biases of 4 bytes.
  EXPECT_EQ(units(1064, adapted), "attn.c_attn: 924, mlp: 1256");
  EXPECT_EQ(units(1065, adapted), "attn: 1256, mlp: 1256");
}

TEST(ModelUnits, AreTheBlockOrNoneUnderTheOtherPolicies) {
  job::Settings settings;
  const job::ModelShape shape = small_shape();
  settings.wrap_policy = job::WrapPolicy::kTransformerBlock;
  auto all = model_units(shape, settings, model_sizes(shape, settings));
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[1].trained, 3502);
  settings.wrap_policy = job::WrapPolicy::kWholeModel;
  all = model_units(shape, settings, model_sizes(shape, settings));
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].trained, job::parameter_count(shape));
}

}  // namespace
}  // namespace shardlens::trace::predict
