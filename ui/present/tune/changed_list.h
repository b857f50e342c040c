// All changed settings of a prediction, by name, folded to the room that there is. Free of ImGui;
// any thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "trace/tuning/prediction.h"

namespace shardlens::ui::present {

// The predicted ones first: "bucket_cap_mb=4", "without record: effect not known", "seed: no effect
// on the step".
std::vector<std::string> changed_items(const trace::tuning::Prediction& prediction);

// In at most `most` lines that fit: "a=1 · b=2", "c=3 +4 more". A first item that does not fit
// stands alone.
std::vector<std::string> folded_lines(const std::vector<std::string>& items, std::size_t most,
                                      const std::function<bool(const std::string&)>& fits);

}  // namespace shardlens::ui::present
