// Rows of equal collectives over the whole recording: counts, durations, waiting and transfer,
// bandwidths. Collectives come in any order; one owner.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "trace/analysis/figures/distribution.h"
#include "trace/analysis/figures/figures.h"
#include "trace/analysis/figures/labels.h"
#include "trace/analysis/steps/collective_calls.h"
#include "trace/analysis/steps/host_clocks.h"

namespace shardlens::trace::analysis {

// What NCCL chose for a call; "": not known.
struct NcclChoice {
  std::string_view algorithm, protocol;
};

// One rank's part of a call of which the parts of all ranks of its group are known.
struct MatchedCall {
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  std::int64_t moves_from_ns = 0;  // the latest start over ranks; see wait_for()
  int rank = 0;
  int hosts = 0;  // by CollectiveStatistics::call_clocks(); 0: its ranks have one clock

  auto operator<=>(const MatchedCall&) const = default;
};

class CollectiveStatistics {
 public:
  static constexpr int kNoRow = -1;

  // `members`: the ranks of its group, ascending; `tag` as by tag_text(). Returns the collective's
  // row, stable from then on; kNoRow when there are more rows than any real job has.
  // Over the ranks of a group, calls are matched by (group, sequence, function).
  int add(const model::Collective& collective, const std::string& tag,
          const std::vector<int>& members, const NcclChoice& choice = {});

  // `exposed_ns_by_row`: per step, mean over ranks. Buckets first, then units, then the rest.
  std::vector<CollectiveGroupFigures> figures(const std::vector<double>& exposed_ns_by_row,
                                              const HostClocks* clocks = nullptr) const;

  // Before the rank's first call; "": not known. Once there are several, calls tell how far clocks
  // are apart.
  void set_host(int rank, const std::string& name);
  // What the calls so far tell; null: there is one clock.
  std::shared_ptr<const HostClocks> clocks() const;
  // What is known of the clocks of a call; the place is its MatchedCall::hosts.
  std::vector<CallClocks> call_clocks(const HostClocks* clocks) const;

  // What was matched since the last call.
  std::vector<MatchedCall> take_matched() { return std::exchange(matched_, {}); }

  std::size_t rows() const { return rows_.size(); }
  std::size_t unmatched() const { return calls_.size(); }  // waiting for the other ranks' part

 private:
  // Whether it has no tag, the tag, function, executed, bytes: as rows are ordered on screen.
  using RowKey = std::tuple<bool, model::TagKind, int, std::string, model::CollectiveFunction,
                            model::CollectiveFunction, std::int64_t>;
  struct Row {
    CollectiveGroupFigures told;  // of all its calls alike, and how many there are
    MedianAccumulator durations;
    TransferSums transfers;
    std::vector<int> hosts;  // of its calls, each once
    DistinctTexts algorithms, protocols;
  };
  // Group (its id and lowest rank: ids are unique within a rank only), sequence, function.
  using CallKey = std::tuple<int, int, std::int64_t, model::CollectiveFunction>;
  struct Part {
    int rank = 0;
    int row = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
  };

  int row_of(const model::Collective& like, const std::string& tag);
  void match(const CallKey& key, const Part& part, std::size_t group_size);
  void finish(const std::vector<Part>& parts, model::CollectiveFunction function);
  int hosts_of(const std::vector<Part>& parts);
  static CollectiveGroupFigures figures_of(const Row& row, const std::vector<CallClocks>& clocks);

  std::map<RowKey, int> row_index_;
  std::vector<Row> rows_;
  std::map<CallKey, std::vector<Part>> calls_;  // by rank
  std::vector<MatchedCall> matched_;
  // By host: the first rank that is known to be there, which stands for the host. Keyed by the
  // host's name; a rank without one may be on a host of its own.
  std::map<std::pair<std::string, int>, int> hosts_;
  std::map<int, RankHost> host_of_;            // by rank: that first one
  std::map<std::vector<int>, int> host_sets_;  // hosts of calls that span several, from 1 on
  ClockMeetings meetings_;
};

}  // namespace shardlens::trace::analysis
