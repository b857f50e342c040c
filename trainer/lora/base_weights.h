// Frozen weights of a model, kept in fewer bits than fp32. The training thread.
#pragma once

#include <torch/types.h>

#include "trace/job/shape/lora.h"
#include "trainer/model/model.h"

namespace shardlens::trainer::lora {

// Changes how frozen matrices are kept, tensor by tensor; norms and biases stay as they are. A
// parameter without memory stays so: only its type changes. `embeds_in`: the type that embeddings
// give, whatever theirs is.
void keep_frozen_as(model::Model& model, const trace::job::KeptTypes& types,
                    torch::ScalarType embeds_in);

}  // namespace shardlens::trainer::lora
