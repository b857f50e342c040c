// Costs of collectives as text for people, columns like those of nccl-tests, and as JSON. Any
// thread.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "app/report/json.h"
#include "trace/predict/costs/costs_file.h"

namespace shardlens::app::report {

struct CostsReport {
  trace::predict::CostsFile file;
  std::int64_t largest_bytes = 0;            // that the job could need; 0: not known
  std::vector<std::filesystem::path> files;  // in which they are kept
};

std::string costs_text(const CostsReport& report);
Json costs_json(const CostsReport& report);

}  // namespace shardlens::app::report
