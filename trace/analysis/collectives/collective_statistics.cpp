#include "trace/analysis/collectives/collective_statistics.h"

#include <algorithm>

#include "trace/model/traffic.h"
#include "trace/model/untold.h"

namespace shardlens::trace::analysis {

namespace {
// Far beyond any real job; a bound on what nonsense can make us keep.
constexpr std::size_t kMostRows = 4096;
constexpr std::size_t kMostUnmatched = 1u << 20;

// Order on screen.
int place(model::TagKind kind) {
  switch (kind) {
    case model::TagKind::kBucket:
      return 0;
    case model::TagKind::kUnit:
      return 1;
    case model::TagKind::kNamed:
      return 2;
    case model::TagKind::kNone:
      return 3;
  }
  return 3;
}
}  // namespace

int CollectiveStatistics::row_of(const RowKey& key) {
  const auto found = row_index_.find(key);
  if (found != row_index_.end()) return found->second;
  if (rows_.size() >= kMostRows) return kNoRow;
  const int row = static_cast<int>(rows_.size());
  rows_.emplace_back().key = key;
  row_index_.emplace(key, row);
  return row;
}

int CollectiveStatistics::add(const model::Collective& collective, const std::string& tag,
                              const std::vector<int>& members, const NcclChoice& choice) {
  const int index = row_of({collective.tag_kind, collective.tag_index, tag, collective.function,
                            collective.executed, collective.bytes});
  if (index == kNoRow) return kNoRow;
  auto& row = rows_[static_cast<std::size_t>(index)];
  ++row.count;
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
  if (group_size == 1) {
    finish({part}, std::get<3>(key));
    return;
  }
  auto& parts = calls_[key];
  const bool is_known =
      std::any_of(parts.begin(), parts.end(), [&](const Part& p) { return p.rank == part.rank; });
  if (!is_known) parts.push_back(part);
  if (parts.size() >= group_size) {
    finish(parts, std::get<3>(key));
    calls_.erase(key);
  } else if (calls_.size() > kMostUnmatched) {
    calls_.erase(calls_.begin());
  }
}

void CollectiveStatistics::set_host(int rank, const std::string& name) {
  const std::pair key(name, name.empty() ? rank : 0);
  const int host = hosts_.try_emplace(key, static_cast<int>(hosts_.size())).first->second;
  host_of_[rank] = host;
  rank_on_[host] = rank;
}

std::shared_ptr<const HostClocks> CollectiveStatistics::clocks() const {
  if (hosts_.size() < 2) return nullptr;
  std::vector<std::string> names(hosts_.size());
  for (const auto& [key, host] : hosts_) names[static_cast<std::size_t>(host)] = key.first;
  std::vector<RankHost> ranks;
  for (const auto& [rank, host] : host_of_) {
    ranks.push_back({rank, names[static_cast<std::size_t>(host)]});
  }
  auto clocks = std::make_shared<const HostClocks>(meetings_.clocks(ranks));
  return clocks->error_between_hosts() < 0 ? nullptr : clocks;
}

std::vector<std::int64_t> CollectiveStatistics::clock_errors_ns(const HostClocks* clocks) const {
  std::vector<std::int64_t> errors_ns(host_sets_.size() + 1, 0);
  if (clocks == nullptr) return errors_ns;
  for (const auto& [hosts, index] : host_sets_) {
    errors_ns[static_cast<std::size_t>(index)] =
        std::max<std::int64_t>(0, clocks->error_between_hosts(ranks_on(hosts)));
  }
  return errors_ns;
}

std::vector<bool> CollectiveStatistics::know_transfers(const HostClocks* clocks) const {
  std::vector<bool> known(host_sets_.size() + 1, true);
  if (clocks == nullptr) return known;
  for (const auto& [hosts, index] : host_sets_) {
    const std::vector<int> ranks = ranks_on(hosts);
    known[static_cast<std::size_t>(index)] =
        clocks->error_between_hosts(ranks) != kUnknownClockError &&
        !clocks->contradict_one_clock(ranks);
  }
  return known;
}

std::vector<int> CollectiveStatistics::ranks_on(const std::vector<int>& hosts) const {
  std::vector<int> ranks;
  for (const int host : hosts) ranks.push_back(rank_on_.at(host));
  return ranks;
}

int CollectiveStatistics::hosts_of(const std::vector<Part>& parts) {
  if (hosts_.size() < 2) return 0;
  std::vector<int> hosts;
  for (const Part& part : parts) {
    const auto host = host_of_.find(part.rank);
    if (host != host_of_.end()) hosts.push_back(host->second);
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
  if (hosts_.size() > 1) {
    const Part& first = *std::ranges::min_element(parts, {}, &Part::rank);
    for (const Part& part : parts) {
      if (part.rank == first.rank) continue;
      meetings_.add(function, {first.rank, first.start_ns, first.end_ns},
                    {part.rank, part.start_ns, part.end_ns});
    }
  }
  const int hosts = hosts_of(parts);
  const double bus_factor = model::bus_factor(function, static_cast<int>(parts.size()));
  std::int64_t latest_start = INT64_MIN;
  for (const auto& part : parts) latest_start = std::max(latest_start, part.start_ns);
  for (const auto& part : parts) {
    auto& row = rows_[static_cast<std::size_t>(part.row)];
    // A rank that ended before another began has no transfer time: it shows clocks apart, and did
    // nothing but wait, or a call that does not wait (a broadcast's root).
    const auto transfer = part.end_ns - latest_start;
    const auto without = ends_after_all_began(function) ? part.end_ns : part.start_ns;
    matched_.push_back(
        {part.start_ns, part.end_ns, transfer > 0 ? latest_start : without, part.rank, hosts});
    if (transfer <= 0) continue;
    if (hosts > 0 && std::ranges::find(row.hosts, hosts) == row.hosts.end()) {
      row.hosts.push_back(hosts);
    }
    ++row.matched;
    row.wait_ns += latest_start - part.start_ns;
    row.transfer_ns += transfer;
    row.transfers.add(static_cast<double>(transfer));
    if (bus_factor > 0) row.bus_transfers.add(static_cast<double>(transfer) / bus_factor);
  }
}

CollectiveGroupFigures CollectiveStatistics::figures_of(
    const Row& row, const std::vector<bool>& transfers_are_known) const {
  CollectiveGroupFigures result;
  result.function = std::get<3>(row.key);
  result.executed = std::get<4>(row.key);
  result.tag = std::get<2>(row.key);
  result.bytes = std::get<5>(row.key);
  result.count = row.count;
  result.median_ns = row.durations.count() > 0 ? row.durations.median() : model::kNotKnown;
  const bool is_known = std::ranges::all_of(
      row.hosts, [&](int hosts) { return transfers_are_known[static_cast<std::size_t>(hosts)]; });
  result.matched = is_known ? row.matched : 0;
  result.algorithm = row.algorithms.joined();
  result.protocol = row.protocols.joined();
  if (result.matched == 0) return result;
  result.wait_ns = static_cast<double>(row.wait_ns) / static_cast<double>(row.matched);
  result.transfer_ns = static_cast<double>(row.transfer_ns) / static_cast<double>(row.matched);
  const auto rate = [&](const MedianAccumulator& transfers) {
    const double median_ns = transfers.median();
    if (median_ns <= 0 || result.bytes <= 0) return 0.0;
    return static_cast<double>(result.bytes) / median_ns * 1e9;
  };
  result.algbw_bytes_per_s = rate(row.transfers);
  result.busbw_bytes_per_s = rate(row.bus_transfers);
  return result;
}

std::vector<CollectiveGroupFigures> CollectiveStatistics::figures(
    const std::vector<double>& exposed_ns_by_row, const HostClocks* clocks) const {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < rows_.size(); ++i) order.push_back(i);
  const auto shown_key = [&](std::size_t i) {
    return std::make_pair(place(std::get<0>(rows_[i].key)), rows_[i].key);
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return shown_key(a) < shown_key(b); });
  std::vector<CollectiveGroupFigures> result;
  const std::vector<bool> known = know_transfers(clocks);
  for (auto i : order) {
    result.push_back(figures_of(rows_[i], known));
    if (i < exposed_ns_by_row.size()) result.back().exposed_ns = exposed_ns_by_row[i];
  }
  return result;
}

}  // namespace shardlens::trace::analysis
