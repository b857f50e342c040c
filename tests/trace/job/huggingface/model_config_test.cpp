#include "trace/job/huggingface/model_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace shardlens::trace::job {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Llama-3.2-1B's, as it is on the hub.
const std::string kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0,
  "bos_token_id": 128000, "eos_token_id": 128001, "head_dim": 64, "hidden_act": "silu",
  "hidden_size": 2048, "initializer_range": 0.02, "intermediate_size": 8192,
  "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
  "num_attention_heads": 32, "num_hidden_layers": 16, "num_key_value_heads": 8,
  "pretraining_tp": 1, "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 32.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
                   "original_max_position_embeddings": 8192, "rope_type": "llama3"},
  "rope_theta": 500000.0, "tie_word_embeddings": true, "torch_dtype": "bfloat16",
  "transformers_version": "4.45.0.dev0", "use_cache": true, "vocab_size": 128256})";
const std::string kGpt2 = R"({
  "activation_function": "gelu_new", "architectures": ["GPT2LMHeadModel"], "attn_pdrop": 0.1,
  "bos_token_id": 50256, "embd_pdrop": 0.1, "eos_token_id": 50256, "initializer_range": 0.02,
  "layer_norm_epsilon": 1e-05, "model_type": "gpt2", "n_ctx": 1024, "n_embd": 768, "n_head": 12,
  "n_layer": 12, "n_positions": 1024, "resid_pdrop": 0.1, "vocab_size": 50257})";
const std::string kBert = R"({
  "architectures": ["BertForMaskedLM"], "hidden_act": "gelu", "hidden_size": 768,
  "intermediate_size": 3072, "layer_norm_eps": 1e-12, "max_position_embeddings": 512,
  "model_type": "bert", "num_attention_heads": 12, "num_hidden_layers": 12, "pad_token_id": 0,
  "type_vocab_size": 2, "vocab_size": 30522})";

std::string with(std::string json, const std::string& from, const std::string& to) {
  const auto at = json.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return json.replace(at, from.size(), to);
}

ModelShape shape_of(const std::string& json) {
  auto shape = shape_from_config(json, "config.json");
  EXPECT_TRUE(shape) << shape.error().message;
  return shape.value_or(ModelShape{});
}

base::Error error_of(const std::string& json) {
  const auto shape = shape_from_config(json, "\"config.json\"");
  EXPECT_FALSE(shape);
  return shape ? base::Error{} : shape.error();
}

TEST(ModelConfig, ReadsPresetsAsTheyAreOnTheHub) {
  ModelShape llama = shape_of(kLlama);
  EXPECT_EQ(llama.head_size, 64);
  llama.head_size = 0;  // as 2048 / 32
  llama.name = "llama-1b";
  EXPECT_EQ(llama, *find_model_preset("llama-1b"));
  ModelShape gpt2 = shape_of(kGpt2);
  gpt2.name = "gpt2";
  EXPECT_EQ(gpt2, *find_model_preset("gpt2"));
}

TEST(ModelConfig, CountsBertAsItsAuthorsDo) {
  // bert-base-uncased: 109,482,240 parameters of the bare model, and a head for two classes.
  EXPECT_EQ(parameter_count(shape_of(kBert)), 109482240 + 2 * 769);
  const ModelShape named = shape_of(with(
      kBert, "\"pad_token_id\"", R"("id2label": {"0": "a", "1": "b", "2": "c"}, "pad_token_id")"));
  EXPECT_EQ(named.labels, 3);
}

TEST(ModelConfig, CountsRobertaPositionsFromTheOneAfterPadding) {
  const std::string roberta =
      with(with(with(kBert, "\"bert\"", "\"roberta\""), "BertForMaskedLM", "RobertaForMaskedLM"),
           "\"pad_token_id\": 0", "\"pad_token_id\": 1");
  EXPECT_EQ(shape_of(roberta).longest_sequence(), 510);
}

TEST(ModelConfig, ReadsBothSpellingsOfRotaryPositions) {
  const std::string now =
      with(with(kLlama, "\"rope_scaling\"", "\"rope_parameters\""), "\"rope_type\": \"llama3\"",
           R"("rope_type": "llama3", "rope_theta": 500000.0)");
  EXPECT_EQ(shape_of(with(now, R"("rope_theta": 500000.0, "tie)", "\"tie")), shape_of(kLlama));
  const std::string linear = with(kLlama, R"("rope_type": "llama3")", R"("type": "linear")");
  EXPECT_EQ(shape_of(linear).rotary.kind, RotaryKind::kLinear);
  const std::string none = with(kLlama, R"("rope_type": "llama3")", R"("rope_type": "default")");
  EXPECT_EQ(shape_of(none).rotary.factor, 0);
}

TEST(ModelConfig, TakesEveryNameOfGpt2sActivation) {
  for (const char* name : {R"("gelu_fast")", R"("gelu_pytorch_tanh")"})
    EXPECT_EQ(shape_of(with(kGpt2, R"("gelu_new")", name)), shape_of(kGpt2)) << name;
}

TEST(ModelConfig, GivesTheWindowToTheLayersThatHaveIt) {
  std::string qwen =
      with(with(kLlama, "\"llama\"", "\"qwen2\""), "LlamaForCausalLM", "Qwen2ForCausalLM");
  qwen = with(
      qwen, "\"use_cache\"",
      R"("use_sliding_window": true, "sliding_window": 99, "max_window_layers": 10, "use_cache")");
  const ModelShape shape = shape_of(qwen);
  EXPECT_TRUE(shape.qkv_bias);
  EXPECT_EQ(shape.window, 99);
  EXPECT_EQ(shape.full_layers, 10);
  EXPECT_EQ(
      shape_of(with(qwen, "\"use_sliding_window\": true", "\"use_sliding_window\": false")).window,
      0);
}

TEST(ModelConfig, NamesEveryKeyThatIsWrongInOneMessage) {
  std::string json = with(kLlama, "\"num_attention_heads\": 32", "\"num_attention_heads\": 0");
  json = with(json, "\"num_hidden_layers\": 16", "\"num_hidden_layers\": 1000000000000");
  json = with(json, "\"vocab_size\": 128256", "\"vocab_size\": \"many\"");
  json = with(json, "\"hidden_size\": 2048, ", "");
  const base::Error error = error_of(json);
  EXPECT_EQ(error.kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(
      error.message,
      AllOf(HasSubstr("num_attention_heads is 0"), HasSubstr("num_hidden_layers is 1000000000000"),
            HasSubstr("vocab_size is \"many\""), HasSubstr("hidden_size is missing")));
}

TEST(ModelConfig, RefusesWhatIsNotSupportedWithTheValueAndWhatIs) {
  struct Case {
    const std::string& of;
    const char *from, *to, *message;
  };
  const Case cases[] = {
      {kLlama, R"("use_cache": true)", R"("quantization_config": {"bits": 4})",
       R"(quantization_config {"bits":4} is not supported (models without it are))"},
      {kLlama, R"("use_cache": true)", R"("attn_logit_softcapping": 50.0)",
       "attn_logit_softcapping 50.0 is not supported (models without it are)"},
      {kLlama, R"("use_cache": true)", R"("partial_rotary_factor": 0.5)",
       "partial_rotary_factor 0.5 is not supported (1 is)"},
      {kLlama, R"("hidden_act": "silu")", R"("hidden_act": "gelu")",
       R"(hidden_act "gelu" is not supported (silu and swish are))"},
      {kLlama, R"("rope_type": "llama3")", R"("type": "longrope")",
       R"(rope_scaling.type "longrope" is not supported (default, linear, dynamic, llama3 and yarn )"
       "are)"},
      {kGpt2, R"("gelu_new")", R"("quick_gelu")",
       R"(activation_function "quick_gelu" is not supported (gelu_new, gelu_fast, gelu_pytorch_tanh, )"
       "gelu and relu are)"},
      {kBert, R"("pad_token_id")", R"("is_decoder": true, "pad_token_id")",
       "is_decoder true is not supported (false is)"},
      {kBert, R"("pad_token_id")", R"("position_embedding_type": "relative_key", "pad_token_id")",
       R"(position_embedding_type "relative_key" is not supported (absolute is))"}};
  for (const auto& [of, from, to, message] : cases) {
    const base::Error error = error_of(with(of, from, to));
    EXPECT_EQ(error.kind, base::ErrorKind::kUsage) << to;
    EXPECT_EQ(error.message, "\"config.json\" cannot be used: " + std::string(message) +
                                 ". Choose another model.");
  }
}

TEST(ModelConfig, NamesWhatIsNotSupportedBesideWhatIsDamaged) {
  const base::Error error =
      error_of(with(with(kLlama, R"("vocab_size": 128256)", R"("vocab_size": 0)"),
                    R"("hidden_act": "silu")", R"("hidden_act": "gelu")"));
  EXPECT_EQ(error.kind, base::ErrorKind::kDamaged);
  EXPECT_THAT(error.message, AllOf(HasSubstr("vocab_size is 0"),
                                   HasSubstr("hidden_act \"gelu\" is not supported")));
}

TEST(ModelConfig, CutsLongValuesBetweenCharacters) {
  std::string name = "x";
  for (int i = 0; i < 100; ++i) name += "é";
  const base::Error error = error_of(with(kLlama, "\"silu\"", "\"" + name + "\""));
  EXPECT_THAT(error.message, AllOf(HasSubstr("…"), Not(HasSubstr("é"))));
}

TEST(ModelConfig, ListsWhatIsSupported) {
  const base::Error type = error_of(with(kLlama, "\"llama\"", "\"mamba\""));
  EXPECT_EQ(type.kind, base::ErrorKind::kUsage);
  for (const char* name :
       {"mamba", "gpt2", "llama", "qwen2", "qwen3", "mistral", "bert", "roberta"}) {
    EXPECT_THAT(type.message, HasSubstr(name));
  }
  const base::Error task =
      error_of(with(kLlama, "LlamaForCausalLM", "LlamaForTokenClassification"));
  EXPECT_THAT(task.message,
              AllOf(HasSubstr("LlamaForTokenClassification"), HasSubstr("LlamaForCausalLM")));
  EXPECT_EQ(error_of("{}").kind, base::ErrorKind::kDamaged);
  EXPECT_EQ(error_of("[1, 2").kind, base::ErrorKind::kDamaged);
  EXPECT_EQ(error_of(std::string(1 << 20, '[')).kind, base::ErrorKind::kDamaged);
}

// So deep that whoever shows or copies a value has no stack left.
TEST(ModelConfig, RefusesWhatIsNestedTooDeeply) {
  constexpr std::size_t kLevels = 300'000;
  const std::string deep = std::string(kLevels, '[') + std::string(kLevels, ']');
  EXPECT_THAT(error_of(with(kLlama, "\"silu\"", deep)).message, HasSubstr("nested too deeply"));
}

TEST(ModelConfig, RefusesShapesThatDoNotDivide) {
  EXPECT_THAT(
      error_of(with(kLlama, "\"num_key_value_heads\": 8", "\"num_key_value_heads\": 5")).message,
      HasSubstr("not divisible by 5 heads of keys and values"));
  EXPECT_THAT(error_of(with(kGpt2, "\"n_head\": 12", "\"n_head\": 11")).message,
              HasSubstr("not divisible by 11 heads"));
  EXPECT_THAT(error_of(with(kLlama, "\"head_dim\": 64", "\"head_dim\": 63")).message,
              HasSubstr("odd"));
}

// Whatever the bytes, an answer: a shape whose counts do not overflow, or an error.
TEST(ModelConfig, SurvivesAnyBytes) {
  std::mt19937 random(1);
  const std::vector<std::string> seeds{kLlama, kGpt2, kBert};
  const std::string pieces[] = {
      "null", "-1",  "1e308", "9223372036854775807", "18446744073709551615", "{}", "[]",
      "\"\"", "0.5", "true"};
  int shapes = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string json = seeds[random() % seeds.size()];
    for (unsigned change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % json.size();
      if (random() % 2 == 0) {
        json[at] = static_cast<char>(random());
      } else {
        const auto colon = json.find(':', at);
        if (colon == std::string::npos) continue;
        const auto end = json.find_first_of(",}", colon);
        json.replace(colon + 1, end - colon - 1, pieces[random() % std::size(pieces)]);
      }
    }
    const auto shape = shape_from_config(json, "config.json");
    if (!shape) {
      EXPECT_THAT(shape.error().message, HasSubstr("config.json"));
      continue;
    }
    ++shapes;
    EXPECT_GT(parameter_count(*shape), 0);
  }
  EXPECT_GT(shapes, 50);
}

}  // namespace
}  // namespace shardlens::trace::job
