// A model's shape as one line of text, which is stored with a run: the folder that it came from may
// be gone when the run is looked at. Plain values, any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "trace/job/shape/model_shape.h"

namespace shardlens::trace::job {

// "layout=Llama layers=2 …", without what is as in a shape that says nothing; the name comes last.
std::string shape_text(const ModelShape& shape);
// None: not such a text. Fields that this version does not know are passed over.
std::optional<ModelShape> parse_shape_text(std::string_view text);

}  // namespace shardlens::trace::job
