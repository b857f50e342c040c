#include "trace/job/huggingface/family_config.h"

#include <array>
#include <string>

namespace shardlens::trace::job {

namespace {

// The first three are one function.
constexpr std::array<std::string_view, 5> kActivations{"gelu_new", "gelu_fast", "gelu_pytorch_tanh",
                                                       "gelu", "relu"};

}  // namespace

Activation read_activation(ConfigKeys& keys, std::string_view key, std::string_view automatic) {
  const std::string name = keys.choice(key, automatic, kActivations);
  if (name == "relu") return Activation::kRelu;
  return name == "gelu" ? Activation::kGelu : Activation::kGeluTanh;
}

void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic) {
  if (!keys.has("pad_token_id") && !automatic) return;
  const std::int64_t token =
      keys.count("pad_token_id", {-shape.vocabulary, shape.vocabulary - 1}, automatic);
  shape.padding_token = token < 0 ? shape.vocabulary + token : token;
}

}  // namespace shardlens::trace::job
