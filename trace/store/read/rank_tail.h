// Reads the rows of one rank from an open trace file, commit by commit or so many at a time. One
// thread at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trace/base/result.h"
#include "trace/model/batch.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/table/row_io.h"

namespace shardlens::trace::store {

// Rows in order of writing, with the row ids by which events are found again; `buckets` name no
// parameters, which come apart.
struct RowPart {
  model::Batch rows;
  std::vector<std::int64_t> span_ids, collective_ids;  // of rows.spans and rows.collectives
  std::vector<BucketParameter> bucket_parameters;
  bool has_rows = false;  // beside the rank's own, which comes with every part
  bool has_more = false;  // the next call gives more at once
};

class RankTail {
 public:
  static constexpr std::int64_t kMostEvents = 1 << 15;  // of one poll, but always a whole commit

  explicit RankTail(int rank);

  int rank() const { return rank_; }
  // What was not read before in commits made up to `until_ns`, at most half a minute of it and
  // kMostEvents: a long run comes in parts. Empty: nothing more. The present (heartbeat,
  // pending collectives, cost) only once the last commit is reached: older ones are not kept.
  base::Result<model::Batch> poll(Database& database, std::int64_t until_ns);
  void rewind();
  // In place of poll(): what was not read before, at most `most` rows (strings aside), from one
  // state of the file. Empty where nothing was written since. Chunks, log lines and the present are
  // left out, and so are rows that make no sense.
  base::Result<RowPart> read_some(Database& database, std::int64_t most);
  const std::string& problem() const { return problem_; }  // the first of these, "" for none
  // Spans, collectives, ready marks, memory and events that touch [start_ns, end_ns), of commits
  // made up to `until_ns`.
  base::Result<model::Batch> read_range(Database& database, std::int64_t start_ns,
                                        std::int64_t end_ns, std::int64_t until_ns);
  // Rows that hold for the whole run (strings, groups, buckets, units, the rank) and the log; only
  // before the first poll().
  base::Result<model::Batch> read_facts(Database& database);
  // Steps that were not read before, the heartbeat, and the rank where that is new; in place of
  // poll().
  base::Result<model::Batch> read_pulse(Database& database);
  // Times of the first and the last commit, and of the last one before the rank had done anything
  // (a step, a span, a collective, an event), else of the first; nothing before the first.
  struct Commits {
    std::int64_t first_ns = 0, idle_until_ns = 0, last_ns = 0;
  };
  base::Result<std::optional<Commits>> commits(Database& database) const;

 private:
  struct Target {
    TableMarks marks{};
    std::int64_t batch = 0;
    bool is_last = false;
    bool has_more = false;  // than one poll takes
  };
  // Spans of the row ids within which the rows of a time range lie, by table.
  struct Bounds {
    TableMarks after{}, to{};
  };
  using Values = std::span<const std::int64_t>;  // of a condition's parameters
  base::Result<Bounds> bounds_of(Database& database, std::int64_t start_ns,
                                 std::int64_t end_ns) const;
  base::Result<void> end_at(Database& database, std::int64_t until_ns, Bounds& bounds) const;
  base::Result<std::optional<TableMarks>> marks_of(Database& database, const std::string& condition,
                                                   std::int64_t value) const;
  base::Result<model::Batch> poll_part(Database& database, std::int64_t until_ns);
  base::Result<std::int64_t> last_chunk_of_poll(Database& database) const;
  base::Result<Target> find_target(Database& database, std::int64_t until_ns) const;
  // Those that are new.
  base::Result<std::vector<model::InternedString>> index_strings(Database& database);
  base::Result<void> read_rows(Database& database, const Target& target, model::Batch& batch) const;
  base::Result<void> read_present(Database& database, model::Batch& batch);
  base::Result<void> read_rank_info(Database& database, model::Batch& batch);
  base::Result<void> read_chunks(Database& database, const std::string& condition, Values values,
                                 model::Batch& batch) const;
  // take(row, its id, what in it makes no sense) of at most so many; negative: of all.
  template <typename Row, typename Take>
  base::Result<void> visit(Database& database, const std::string& condition, Values values,
                           std::int64_t most, Take take) const;
  template <typename Row>
  base::Result<void> read_on(Database& database, std::size_t table, std::int64_t& left,
                             std::vector<Row>& rows, std::vector<std::int64_t>* ids);
  template <typename Row>
  base::Result<void> select(Database& database, const std::string& condition, Values values,
                            std::vector<Row>& rows) const;
  template <typename Row>
  base::Result<std::optional<Row>> select_one(Database& database) const;

  int rank_;
  StringIndex strings_;
  std::int64_t last_indexed_string_;
  TableMarks marks_{};
  std::int64_t last_batch_;
  ReadingTime time_;  // since the last poll that took all there was
  // As last told, to tell it again only when it has changed.
  std::optional<model::RankInfo> rank_info_;
  std::string problem_;
};

}  // namespace shardlens::trace::store
