// What would help the run on screen. Plain values, published by `app`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "trace/advice/values/advice.h"

namespace shardlens::ui::state {

struct AdviceView {
  std::string folder;                           // of the run
  std::vector<trace::advice::Advice> advice{};  // what helps most comes first
  std::vector<std::string_view> looked_at{};    // by the rules: "buckets", "memory", …
  std::string refused{};                        // why other settings could not be tried; "": were
  std::int64_t steps = 0;                       // that were measured; 0: nothing can be said
};

}  // namespace shardlens::ui::state
