// In which order forward goes through the layers of a transformer block, of all families, told by
// their names. Any thread.
#pragma once

#include <string_view>

namespace shardlens::trace::job {

// "transformer.h.0.attn.c_attn" of its weight or bias.
std::string_view layer_of(std::string_view parameter);

// Whether what comes out of `before` goes into `after`, two layers of one block.
bool feeds(std::string_view before, std::string_view after);
// Whether a layer multiplies the result of attention.
bool is_behind_attention(std::string_view layer);

}  // namespace shardlens::trace::job
