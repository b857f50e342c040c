#include "app/search/space.h"

#include <vector>

namespace shardlens::app::search {
namespace {

using trace::job::Settings;

std::string batches_around(std::int64_t batch) {
  std::string values;
  for (const std::int64_t value : {batch / 2, batch, 2 * batch, 4 * batch}) {
    if (value > 0) values += (values.empty() ? "" : ",") + std::to_string(value);
  }
  return values;
}

bool is_obeyed(const std::string& axis, const Settings& base) {
  const auto* knob = trace::job::find_knob(axis.substr(0, axis.find('=')));
  return knob != nullptr && trace::job::applies(*knob, base.sharding_strategy);
}

}  // namespace

std::vector<std::string> default_axes(const Settings& base, Goal goal) {
  std::vector<std::string> axes;
  if (goal == Goal::kMemory) {
    axes = {"activation_checkpointing=0,1,2,4", "gradient_as_bucket_view=false,true",
            "reshard_after_forward=false,true"};
  } else {
    axes = {"bucket_cap_mb=0.25,0.5,1,2,4,8,16,25,50,100", "backward_prefetch=none,pre,post",
            "forward_prefetch=false,true", "limit_all_gathers=false,true"};
  }
  if (goal == Goal::kTokenRate) {
    axes.push_back("batch_per_rank=" + batches_around(base.batch_per_rank));
    axes.push_back("activation_checkpointing=0,1");
  }
  std::erase_if(axes, [&](const std::string& axis) { return !is_obeyed(axis, base); });
  return axes;
}

trace::base::Result<sweep::SweepPoints> search_points(const Settings& base,
                                                      const std::vector<std::string>& axes) {
  TRY_ASSIGN(auto points, sweep::grid_of(base, axes));
  std::erase(points.settings, base);
  points.settings.insert(points.settings.begin(), base);
  return points;
}

}  // namespace shardlens::app::search
