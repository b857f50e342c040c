// From the config.json of a model folder to the model's shape, as transformers 5 reads it. Any
// thread.
#pragma once

#include <string>
#include <string_view>

#include "trace/base/result.h"
#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// `source` is how messages call the file. Errors: kDamaged: no JSON object, or keys that are
// missing, of the wrong type or absurd; kUsage: a model that is not among the supported ones, which
// are listed, or keys with values that are not. All keys are named in one message.
base::Result<ModelShape> shape_from_config(std::string_view json, const std::string& source);

// The class of transformers that is trained: "GPT2LMHeadModel" of "gpt2"; "" of an unknown type.
std::string_view trained_architecture(std::string_view model_type);

}  // namespace shardlens::trace::job
