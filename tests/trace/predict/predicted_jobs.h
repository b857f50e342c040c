// Jobs for tests of predictions, from assignments as after --set.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "trace/predict/sizes/planned_job.h"

namespace shardlens::trace::predict {

inline PlannedJob job_of(const std::vector<std::string>& assignments, std::int64_t ranks = 2) {
  job::Settings settings;
  std::string model = settings.model;
  for (const std::string& assignment : assignments) {
    if (assignment.starts_with("model=")) {
      model = assignment.substr(6);
      continue;
    }
    const auto set = job::set_assignment(settings, assignment);
    EXPECT_TRUE(set) << assignment << ": " << set.error().message;
  }
  return {settings, *job::find_planning_model(model), ranks, ranks, false};
}

inline PlannedJob gpu_job_of(const std::vector<std::string>& assignments, std::int64_t ranks,
                             std::int64_t ranks_per_node) {
  PlannedJob job = job_of(assignments, ranks);
  job.ranks_per_node = ranks_per_node;
  job.on_gpu = true;
  return job;
}

}  // namespace shardlens::trace::predict
