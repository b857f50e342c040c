// The part of KinetoRank that makes collectives and their process groups out of NCCL's kernels and
// Gloo's calls.
#include <algorithm>
#include <charconv>

#include "trace/interop/kineto_rank.h"
#include "trace/interop/nccl_names.h"

namespace shardlens::trace {

void KinetoRank::make_groups(const KinetoJob& job, int world_size) {
  if (job.groups.empty() && collectives_.empty()) return;
  const bool on_host = !collectives_.empty() && gpu_events_ == 0;
  const StringId backend = intern(!job.backend.empty() ? job.backend : on_host ? "gloo" : "nccl");
  for (const KinetoJob::Group& group : job.groups) {
    const int id = static_cast<int>(groups_.size());
    if (!groups_.try_emplace(group.name, id).second) continue;
    const bool is_named = !group.description.empty() && group.description != "undefined";
    rows_.process_groups.push_back(
        {0, id, intern(is_named ? group.description : group.name), backend, group.ranks});
  }
  if (!groups_.empty() || collectives_.empty()) return;
  std::vector<int> all;
  for (int rank = 0; rank < world_size; ++rank) all.push_back(rank);
  groups_.emplace("", 0);
  rows_.process_groups.push_back({0, 0, intern("world"), backend, all});
}

// Kernels without a group's name belong to the first.
int KinetoRank::group_id(const KinetoEvent& event) {
  const auto found = groups_.find(event.group);
  if (found != groups_.end()) return found->second;
  if (event.group.empty()) return 0;
  const int id = static_cast<int>(groups_.size());
  groups_.emplace(event.group, id);
  ProcessGroup group{0, id, intern(event.group), intern("nccl"), {}};
  const char* at = event.group_ranks.data();
  const char* const end = at + event.group_ranks.size();
  while (at != end) {
    int rank = 0;
    const auto [rest, error] = std::from_chars(at, end, rank);
    if (error == std::errc()) group.ranks.push_back(rank);
    at = error == std::errc() ? rest : at + 1;
  }
  rows_.process_groups.push_back(group);
  return id;
}

void KinetoRank::make_collectives() {
  std::unordered_map<std::uint64_t, std::int64_t> launched;
  for (const Call& call : collectives_) launched.emplace(call.event.correlation, 0);
  for (const auto& [key, events] : runs_) {
    if (key.second != EventKind::kLaunch) continue;
    for (const Event& event : events) {
      const auto found = launched.find(event.correlation);
      if (found != launched.end()) found->second = event.start_ns;
    }
  }
  std::ranges::stable_sort(collectives_, {}, [](const Call& c) { return c.event.start_ns; });
  std::map<int, std::int64_t> sequences;
  for (const Call& made : collectives_) {
    const KinetoEvent& event = made.event;
    Collective row;
    row.lane = made.lane;
    row.process_group = group_id(event);
    const std::int64_t next = sequences[row.process_group]++;
    row.sequence = event.sequence >= 0 ? event.sequence : next;
    row.function = row.executed = collective_function(event.collective, event.name);
    const TorchType type = torch_type(event.data_type);
    row.data_type = intern(type.name);
    row.bytes = collective_bytes(row.function, event.in_elements, event.out_elements, type.bytes);
    row.start_ns = event.start_ns;
    row.end_ns = event.start_ns + event.duration_ns;
    const std::int64_t call = launched[event.correlation];
    const bool knows_call = event.correlation != 0 && call != 0;
    row.enqueued_ns = knows_call ? call : kNoCall;
    row.step = step_at(row.start_ns);
    row.phase = phase_at(knows_call ? call : event.start_ns);
    rows_.collectives.push_back(row);
  }
}

}  // namespace shardlens::trace
