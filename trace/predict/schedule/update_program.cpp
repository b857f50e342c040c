#include "trace/predict/schedule/update_program.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

namespace shardlens::trace::predict {

namespace {

std::size_t launch(PlannedCall call, StepProgram& program) {
  const std::size_t index = program.calls.size();
  program.update.push_back({Action::What::kLaunch, Until::kEnd, index});
  program.calls.push_back(std::move(call));
  return index;
}

}  // namespace

void add_update(const UpdatePlan& plan, StepProgram& program) {
  const auto wait_for = [&](std::size_t call) {
    program.update.push_back({Action::What::kWait, Until::kEnd, call});
  };
  const auto add_sums = [&](const std::vector<UpdatePlan::Sum>& sums) {
    for (const UpdatePlan::Sum& sum : sums) {
      wait_for(launch({.what = sum.what,
                       .function = model::CollectiveFunction::kAllReduce,
                       .group = sum.ranks,
                       .bytes = sum.bytes,
                       .share = sum.share},
                      program));
    }
  };
  add_sums(plan.sums_before);
  std::size_t most = 1;
  for (const auto& owned : plan.parts) most = std::max(most, owned.size());
  const std::size_t first = program.calls.size();
  for (std::size_t i = 0; i < most; ++i) {
    program.update.push_back(
        {Action::What::kCompute, Until::kUpdate, 0, plan.share / static_cast<double>(most)});
    for (std::size_t owner = 0; owner < plan.parts.size(); ++owner) {
      if (i >= plan.parts[owner].size()) continue;
      launch(
          {.what = "updated parameters " + std::to_string(i) + " of rank " + std::to_string(owner),
           .function = model::CollectiveFunction::kBroadcast,
           .group = plan.ranks,
           .bytes = plan.parts[owner][i]},
          program);
    }
  }
  for (std::size_t call = first; call < program.calls.size(); ++call) wait_for(call);
  add_sums(plan.sums_behind);
}

}  // namespace shardlens::trace::predict
