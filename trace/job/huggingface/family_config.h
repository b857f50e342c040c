// How each family of models writes its config.json. One thread.
#pragma once

#include <cstdint>
#include <optional>

#include "trace/job/huggingface/config_keys.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// Beyond all models that are known, and small enough that no product of them overflows.
inline constexpr CountRange kLayers{1, 4096}, kWidths{1, 1 << 18}, kHeads{1, 1 << 14};
inline constexpr CountRange kMlpWidths{1, 1 << 21}, kVocabularies{1, 1 << 26},
    kHeadWidths{1, 1 << 14};
inline constexpr CountRange kContexts{1, std::int64_t{1} << 32}, kWindows{1, std::int64_t{1} << 40};
inline constexpr CountRange kTokenTypes{1, 1 << 16}, kLabels{2, 1 << 20};

// Each fills a shape that says nothing yet.
void read_gpt2(ConfigKeys& keys, ModelShape& shape);
void read_llama(ConfigKeys& keys, ModelShape& shape);
void read_mistral(ConfigKeys& keys, ModelShape& shape);
void read_qwen2(ConfigKeys& keys, ModelShape& shape);
void read_qwen3(ConfigKeys& keys, ModelShape& shape);
void read_bert(ConfigKeys& keys, ModelShape& shape);
void read_roberta(ConfigKeys& keys, ModelShape& shape);

// The text under `key`, as an activation of GPT-2 and of the encoders.
Activation read_activation(ConfigKeys& keys, std::string_view key, std::string_view automatic);

// As torch.nn.Embedding: a negative one counts from the end of the vocabulary.
void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic = std::nullopt);

}  // namespace shardlens::trace::job
