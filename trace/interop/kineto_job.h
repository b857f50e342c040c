// What a Kineto trace says of its job outside its events: rank, process groups, device. Any thread.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace shardlens::trace::interop {

struct KinetoJob {
  int rank = -1;  // -1: it does not say
  int world_size = -1;
  int group_count = -1;      // process groups of all ranks, which `groups` need not hold
  std::int64_t base_ns = 0;  // of all times
  std::string backend;       // of the collectives: see backends_in(); "": it does not say
  std::map<int, std::string> device_names;  // of all that the process sees, by number
  std::string versions;
  struct Group {
    std::string name{}, description{};
    std::vector<std::string> backends{};  // each once, of whatever devices; empty: it does not say
    std::vector<int> ranks{};             // fewer than `size` where the list is cut off, or missing
    std::int64_t size = -1;               // -1: it does not say
  };
  std::vector<Group> groups;
};

// Of "[0, 1, 2]", possibly cut off: "[0, 1, ..., 7]". What no job has is left out.
std::vector<int> ranks_in(std::string_view list);

// Each once, of "nccl" or "cpu:gloo,cuda:nccl".
std::vector<std::string> backends_in(const std::string& config);

// Takes in the member `key` of the trace's top level; `text` is its JSON. Unknown ones and those of
// another form change nothing.
void take_in_member(KinetoJob& job, std::string_view key, std::string_view text);

}  // namespace shardlens::trace::interop
