// How many tokens' logits exist at a time while the loss is computed. Any thread.
#pragma once

#include <cstdint>

#include "trace/job/settings/settings.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// `loss_chunk_tokens` as it acts on micro-batches of `tokens` tokens; 0: all at once, by PyTorch's
// own operators. `auto` is 0 as long as all logits in fp32 take less than 32 MiB, where nothing is
// to be saved. Else it is a power of two of at least 1,024 and twice the model's width: per chunk
// the gradient of the output matrix is read and written once more, which then costs a small part
// of the chunk's own matrix products.
std::int64_t loss_chunk_tokens(const Settings& settings, const ModelShape& shape,
                               std::int64_t tokens);

}  // namespace shardlens::trace::job
