// Everything of one rank that is not a bulk event, ordered by time and ready to be drawn. Built by
// one thread, then read by any.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "trace/base/intervals.h"
#include "trace/model/events.h"
#include "trace/model/strings.h"
#include "trace/store/table/row_fields.h"
#include "trace/timeline/pieces/area_points.h"
#include "trace/timeline/values/picture.h"

namespace shardlens::trace::store {
struct RowPart;
}

namespace shardlens::trace::explore {

// Values by start, with the latest end of all before, so that what touches a time is found.
template <typename Row>
struct TimedRows {
  std::vector<Row> rows;
  std::vector<std::int64_t> ids;         // row ids
  std::vector<std::uint32_t> labels;     // into RankRows::labels
  std::vector<std::int64_t> latest_end;  // of all rows up to this one

  std::size_t size() const { return rows.size(); }
};

struct CounterSeries {
  std::string name, unit;
  // A GPU's own stand for the time since the one before: their times are where that began.
  std::vector<timeline::AreaSample> samples;
  double highest = 0;
  timeline::AreaScale scale{};
  std::int64_t last_ns = 0;  // of the last sample; 0: none yet
};

struct RankRows {
  int rank = 0;
  model::RankInfo info;
  bool is_closed = false;                     // see model::kClosedInOrder
  std::vector<std::string> strings;           // by id
  const model::StringTable* table = nullptr;  // in place of them, where somebody else keeps them
  std::vector<std::string> labels;            // of spans, collectives and ready marks; 0 is ""

  std::vector<model::Lane> lanes;
  std::vector<int> span_lanes, collective_lanes;  // of the first of them, known from the beginning
  std::vector<model::ProcessGroup> groups;        // their ranks ascend
  std::vector<model::Unit> units;
  std::vector<model::UnitParameter> unit_parameters;
  std::vector<model::Bucket> buckets;
  std::int64_t replanned_ns = INT64_MIN;  // when the first reduction by the latest plan began
  std::vector<store::BucketParameter> bucket_parameters;

  std::vector<model::Step> steps;  // by start
  TimedRows<model::Span> spans;
  TimedRows<model::Collective> collectives;
  std::map<int, std::int64_t> collective_ends;                 // by lane, the latest
  std::vector<timeline::ReadyPoint> bucket_ready, unit_ready;  // by time; names are labels
  std::vector<timeline::AreaSample> memory;
  double highest_memory = 0;
  std::map<std::int64_t, model::MemorySample> step_peaks;  // of memory, by step
  std::vector<CounterSeries> counters;
  base::Intervals optimizer;   // its phases
  base::Intervals undetailed;  // steps that were recorded without events
  base::Interval extent{};     // of steps, spans and collectives whose times are plausible

  std::string_view text(model::StringId id) const {
    if (table != nullptr) return table->get(rank, id);
    return id < strings.size() ? std::string_view(strings[id]) : std::string_view();
  }
  const model::Lane* lane(int id) const;
  const model::ProcessGroup* group(int id) const;
  const model::Unit* unit(int index) const;
  // By the plan of the moment when it was reduced: DDP plans anew after its first backward pass.
  const model::Bucket* bucket(int index, std::int64_t reduced_ns) const;
  // The step that a time lies in; null: none.
  const model::Step* step_at(std::int64_t time_ns) const;
};

// Takes in what was read since; afterwards all is in order again.
class RankRowsBuilder {
 public:
  explicit RankRowsBuilder(int rank);

  void add(store::RowPart part);
  // In place of those of the parts; it outlives what is built.
  void use_strings(const model::StringTable& strings);
  // The number of a text among RankRows::labels.
  std::uint32_t label(std::string_view text);
  void know_lanes(std::vector<int> of_spans, std::vector<int> of_collectives);
  // Of everything so far. What was built before stays as it was.
  std::shared_ptr<const RankRows> build();

 private:
  RankRows& own();  // shared with nobody
  void add_labels(const store::RowPart& part);
  void add_ready(const model::Batch& rows);
  void add_samples(const model::Batch& rows);
  void add_counter(std::string_view name, std::string_view unit, std::int64_t time_ns,
                   double value);
  void scale_counters();

  void place_peaks();
  void find_plans();
  void size_ready_buckets();

  std::shared_ptr<RankRows> shared_;
  std::vector<timeline::AreaSample>
      peaks_;  // of memory, until the step is known in which they were
  std::map<std::string, std::uint32_t, std::less<>> label_ids_;
};

}  // namespace shardlens::trace::explore
