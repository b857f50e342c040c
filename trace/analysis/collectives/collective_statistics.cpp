#include "trace/analysis/collectives/collective_statistics.h"

#include <algorithm>

#include "trace/model/traffic.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

namespace {
// Far beyond any real job; a bound on what nonsense can make us keep.
constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostUnmatched = 1u << 20;
}  // namespace

int CollectiveStatistics::row_of(const model::Collective& like, const std::string& tag) {
  const RowKey key(like.tag_kind == model::TagKind::kNone, like.tag_kind, like.tag_index, tag,
                   like.function, like.executed, like.bytes);
  const auto found = row_index_.find(key);
  if (found != row_index_.end()) return found->second;
  if (rows_.size() >= kMostRows) return kNoRow;
  CollectiveGroupFigures& told = rows_.emplace_back().told;
  told.function = like.function;
  told.executed = like.executed;
  told.tag = tag;
  told.bytes = like.bytes;
  return row_index_.emplace(key, static_cast<int>(row_index_.size())).first->second;
}

int CollectiveStatistics::add(const model::Collective& collective, const std::string& tag,
                              const std::vector<int>& members, const NcclChoice& choice) {
  const int index = row_of(collective, tag);
  if (index == kNoRow) return kNoRow;
  auto& row = rows_[static_cast<std::size_t>(index)];
  ++row.told.count;
  row.algorithms.add(choice.algorithm);
  row.protocols.add(choice.protocol);
  if (members.size() != 1 && !model::is_timed(collective)) return index;
  row.durations.add(static_cast<double>(collective.end_ns - collective.start_ns));
  if (members.empty() || (collective.sequence < 0 && members.size() > 1)) return index;
  match({collective.process_group, members.front(), collective.sequence, collective.function},
        {collective.rank, index, collective.start_ns, collective.end_ns}, members.size());
  return index;
}

void CollectiveStatistics::match(const CallKey& key, const Part& part, std::size_t group_size) {
  if (group_size == 1) return finish({part}, std::get<3>(key));
  auto& parts = calls_[key];
  const auto place = std::ranges::lower_bound(parts, part.rank, {}, &Part::rank);
  if (place == parts.end() || place->rank != part.rank) parts.insert(place, part);
  if (parts.size() >= group_size) {
    finish(parts, std::get<3>(key));
    calls_.erase(key);
  } else if (calls_.size() > kMostUnmatched) {
    calls_.erase(calls_.begin());
  }
}

void CollectiveStatistics::set_host(int rank, const std::string& name) {
  const std::pair key(name, name.empty() ? rank : 0);
  host_of_[rank] = {hosts_.try_emplace(key, rank).first->second, name};
}

std::shared_ptr<const HostClocks> CollectiveStatistics::clocks() const {
  if (hosts_.size() < 2) return nullptr;
  std::vector<RankHost> ranks;
  for (const auto& [rank, host] : host_of_) ranks.push_back({rank, host.name});
  auto clocks = std::make_shared<const HostClocks>(meetings_.clocks(ranks));
  return clocks->error_between_hosts() < 0 ? nullptr : clocks;
}

std::vector<CallClocks> CollectiveStatistics::call_clocks(const HostClocks* clocks) const {
  std::vector<CallClocks> told(host_sets_.size() + 1);
  if (clocks == nullptr) return told;
  for (const auto& [hosts, index] : host_sets_) {
    told[static_cast<std::size_t>(index)] = clocks->of_call(hosts);
  }
  return told;
}

int CollectiveStatistics::hosts_of(const std::vector<Part>& parts) {
  if (hosts_.size() < 2) return 0;
  std::vector<int> hosts;
  for (const Part& part : parts) {
    const auto host = host_of_.find(part.rank);
    if (host != host_of_.end()) hosts.push_back(host->second.rank);
  }
  std::ranges::sort(hosts);
  const auto repeated = std::ranges::unique(hosts);
  hosts.erase(repeated.begin(), repeated.end());
  if (hosts.size() < 2) return 0;
  const int next = static_cast<int>(host_sets_.size()) + 1;
  return host_sets_.try_emplace(std::move(hosts), next).first->second;
}

void CollectiveStatistics::finish(const std::vector<Part>& parts,
                                  model::CollectiveFunction function) {
  if (hosts_.size() > 1) meetings_.add_call(function, parts);
  const int hosts = hosts_of(parts);
  const double bus_factor = model::bus_factor(function, static_cast<int>(parts.size()));
  const std::int64_t latest_start_ns = std::ranges::max(parts, {}, &Part::start_ns).start_ns;
  for (const Part& part : parts) {
    Row& row = rows_[static_cast<std::size_t>(part.row)];
    const CallWait wait = wait_for(latest_start_ns, {part.start_ns, part.end_ns}, function);
    matched_.push_back(
        {part.start_ns, part.end_ns, part.start_ns + wait.wait_ns.value_or(0), part.rank, hosts});
    const bool is_summed = row.transfers.add(wait, row.told.bytes, bus_factor);
    if (is_summed && hosts > 0 && std::ranges::find(row.hosts, hosts) == row.hosts.end()) {
      row.hosts.push_back(hosts);
    }
  }
}

CollectiveGroupFigures CollectiveStatistics::figures_of(const Row& row,
                                                        const std::vector<CallClocks>& clocks) {
  CollectiveGroupFigures result = row.told;
  result.median_ns = row.durations.count() > 0 ? row.durations.median() : model::kNotKnown;
  result.algorithm = row.algorithms.joined();
  result.protocol = row.protocols.joined();
  const bool is_known = std::ranges::all_of(row.hosts, [&](int hosts) {
    return clocks[static_cast<std::size_t>(hosts)].tell_transfers();
  });
  const TransferSums& transfers = row.transfers;
  if (!is_known || transfers.matched() == 0) return result;
  result.matched = transfers.matched();
  const auto matched = static_cast<double>(result.matched);
  result.wait_ns = static_cast<double>(transfers.wait_ns()) / matched;
  result.transfer_ns = static_cast<double>(transfers.transfer_ns()) / matched;
  result.algbw_bytes_per_s = transfers.algbw_bytes_per_s();
  result.busbw_bytes_per_s = transfers.busbw_bytes_per_s();
  return result;
}

std::vector<CollectiveGroupFigures> CollectiveStatistics::figures(
    const std::vector<double>& exposed_ns_by_row, const HostClocks* clocks) const {
  std::vector<CollectiveGroupFigures> result;
  const std::vector<CallClocks> of_calls = call_clocks(clocks);
  for (const auto& [key, index] : row_index_) {
    const auto row = static_cast<std::size_t>(index);
    result.push_back(figures_of(rows_[row], of_calls));
    if (row < exposed_ns_by_row.size()) result.back().exposed_ns = exposed_ns_by_row[row];
  }
  return result;
}

}  // namespace shardlens::trace::analysis
