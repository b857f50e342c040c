// How each family of models writes its config.json. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "trace/huggingface/config_keys.h"
#include "trace/model/model_shape.h"

namespace shardlens::trace {

// Beyond all models that are known, and small enough that no product of them overflows.
inline constexpr CountRange kLayers{1, 4096}, kWidths{1, 1 << 18}, kHeads{1, 1 << 14};
inline constexpr CountRange kMlpWidths{1, 1 << 21}, kVocabularies{1, 1 << 26},
    kHeadWidths{1, 1 << 14};
inline constexpr CountRange kContexts{1, std::int64_t{1} << 32}, kWindows{1, std::int64_t{1} << 40};
inline constexpr CountRange kTokenTypes{1, 1 << 16}, kLabels{2, 1 << 20};

struct Reading {
  ConfigKeys keys;
  std::vector<std::string>& problems;
};

void read_gpt2(Reading& reading, ModelShape& shape);
void read_llama(Reading& reading, ModelShape& shape);
void read_mistral(Reading& reading, ModelShape& shape);
void read_qwen2(Reading& reading, ModelShape& shape);
void read_qwen3(Reading& reading, ModelShape& shape);
void read_bert(Reading& reading, ModelShape& shape);
void read_roberta(Reading& reading, ModelShape& shape);

// As torch.nn.Embedding: a negative one counts from the end of the vocabulary.
void read_padding_token(ConfigKeys& keys, ModelShape& shape,
                        std::optional<std::int64_t> automatic = std::nullopt);

}  // namespace shardlens::trace
