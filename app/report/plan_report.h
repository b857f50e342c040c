// A plan for people and as JSON. Any thread.
#pragma once

#include <string>
#include <vector>

#include "app/report/json.h"
#include "trace/predict/plan/plan.h"
#include "trace/predict/plan/remedies.h"

namespace shardlens::app::report {

struct PlanReport {
  trace::predict::Plan plan;
  std::string gpu;  // its name, or "" where only its memory is known
  // Changes with which the strategy of the settings would fit; empty where it fits, or where none
  // is enough.
  std::vector<trace::predict::Remedy> remedies;
};

PlanReport report_of(trace::predict::Plan plan, std::string gpu);

Json plan_json(const PlanReport& report);
std::string plan_text(const PlanReport& report);

}  // namespace shardlens::app::report
