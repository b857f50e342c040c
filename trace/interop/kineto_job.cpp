#include "trace/interop/kineto_job.h"

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <climits>
#include <string>
#include <system_error>

#include "trace/base/text.h"
#include "trace/job/settings/settings.h"

namespace shardlens::trace::interop {

namespace {

namespace dom = simdjson::dom;

int int_or(const simdjson::simdjson_result<dom::element>& element, int otherwise) {
  std::int64_t value = 0;
  if (element.get(value) != simdjson::SUCCESS) return otherwise;
  return static_cast<int>(std::clamp<std::int64_t>(value, -1, INT_MAX));
}

std::string text_or_empty(const simdjson::simdjson_result<dom::element>& element) {
  std::string_view value;
  return element.get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

// A list, or a text where Kineto gathered it from calls.
std::vector<int> ranks_of(const simdjson::simdjson_result<dom::element>& element) {
  dom::array list;
  if (element.get(list) != simdjson::SUCCESS) return ranks_in(text_or_empty(element));
  std::vector<int> ranks;
  for (const dom::element rank : list) {
    std::int64_t number = 0;
    if (rank.get(number) != simdjson::SUCCESS) continue;
    if (number >= 0 && number < job::kMostRunRanks) ranks.push_back(static_cast<int>(number));
  }
  return ranks;
}

void take_in_groups(KinetoJob& job, const simdjson::simdjson_result<dom::element>& config) {
  dom::array groups;
  if (config.get(groups) != simdjson::SUCCESS) return;
  for (const dom::element group : groups) {
    KinetoJob::Group& added = job.groups.emplace_back();
    added.name = text_or_empty(group["pg_name"]);
    added.description = text_or_empty(group["pg_desc"]);
    added.backends = backends_in(text_or_empty(group["backend_config"]));
    added.ranks = ranks_of(group["ranks"]);
    added.size = int_or(group["pg_size"], -1);
  }
}

void take_in_distribution(KinetoJob& job, const dom::element& info) {
  job.rank = int_or(info["rank"], job.rank);
  job.world_size = int_or(info["world_size"], job.world_size);
  job.group_count = int_or(info["pg_count"], job.group_count);
  job.backend = text_or_empty(info["backend"]);
  if (job.backend == "undefined") job.backend.clear();  // of a device each: "cpu:gloo,cuda:nccl"
  const std::string nccl = text_or_empty(info["nccl_version"]);
  if (!nccl.empty()) job.versions += (job.versions.empty() ? "NCCL " : ", NCCL ") + nccl;
  take_in_groups(job, info["pg_config"]);
}

}  // namespace

std::vector<int> ranks_in(std::string_view list) {
  std::vector<int> ranks;
  const char* at = list.data();
  const char* const end = at + list.size();
  while (at != end) {
    int rank = 0;
    const auto [rest, error] = std::from_chars(at, end, rank);
    const bool is_rank = error == std::errc() && rank >= 0 && rank < job::kMostRunRanks;
    if (is_rank) ranks.push_back(rank);
    at = rest == at ? at + 1 : rest;
  }
  return ranks;
}

std::vector<std::string> backends_in(const std::string& config) {
  std::vector<std::string> backends;
  for (const std::string_view each : base::split(config, ',')) {
    const std::string backend(base::trimmed(each.substr(each.rfind(':') + 1)));
    if (backend.empty() || backend == "undefined") continue;
    if (std::ranges::find(backends, backend) == backends.end()) backends.push_back(backend);
  }
  return backends;
}

void take_in_member(KinetoJob& job, std::string_view key, std::string_view text) {
  dom::parser parser;
  dom::element value;
  if (parser.parse(text.data(), text.size()).get(value) != simdjson::SUCCESS) return;
  if (key == "distributedInfo") {
    take_in_distribution(job, value);
  } else if (key == "deviceProperties") {
    dom::array devices;
    if (value.get(devices) != simdjson::SUCCESS) return;
    for (const dom::element device : devices) {
      const int number = int_or(device["id"], static_cast<int>(job.device_names.size()));
      job.device_names.emplace(number, text_or_empty(device["name"]));
    }
  } else if (key == "baseTimeNanoseconds") {
    std::int64_t base = 0;
    const bool is_date = value.get(base) == simdjson::SUCCESS && base >= 0 && base < INT64_MAX / 2;
    if (is_date) job.base_ns = base;
  }
}

}  // namespace shardlens::trace::interop
