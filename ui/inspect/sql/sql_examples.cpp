#include "ui/inspect/sql/sql_examples.h"

#include <array>
#include <cstddef>

namespace shardlens::ui::inspect {

namespace {

using trace::model::EventKind;
using trace::timeline::RowKind;
using trace::timeline::TimelineRows;

template <EventKind kKind>
bool has_events(const TimelineRows& rows) {
  return rows.events_of[static_cast<std::size_t>(kKind)] > 0;
}

template <RowKind... kKinds>
bool has_rows_of(const TimelineRows& rows) {
  return (rows.has(kKinds) || ...);
}

bool has_launched_kernels(const TimelineRows& rows) {
  return has_events<EventKind::kLaunch>(rows) && has_events<EventKind::kKernel>(rows);
}

bool has_steps(const TimelineRows& rows) { return !rows.steps.empty(); }

struct Lesson {
  bool (*is_there)(const TimelineRows& rows);  // what the query needs to give rows
  SqlExample example;
};

// Calls are matched by group, its first member, number and function: with hybrid sharding several
// groups have the same number (docs/NUMBERS.md, "Matching"). What a call
// transferred is known where all of its group tell of it. Where one step stands for all it is
// the middle one of those with detail.
constexpr std::array<Lesson, 12> kLessons{{
    {has_events<EventKind::kKernel>,
     {"Kernels that take most time",
      "select name, count(*) as calls,\n"
      "       sum(duration_ns) / 1e6 as total_ms,\n"
      "       avg(duration_ns) / 1e3 as mean_us\n"
      "from kernel\n"
      "group by name\n"
      "order by total_ms desc\n"
      "limit 30"}},
    {has_steps,
     {"Slowest steps, rank by rank",
      "select step, rank, (end_ns - start_ns) / 1e6 as ms, loss, start_ns, end_ns\n"
      "from step\n"
      "order by ms desc\n"
      "limit 30"}},
    {has_events<EventKind::kKernel>,
     {"The longest kernels, one by one",
      "select rank, step, name, duration_ns / 1e3 as us, start_ns, end_ns\n"
      "from kernel\n"
      "order by us desc\n"
      "limit 30"}},
    {has_events<EventKind::kOperator>,
     {"Operators that take most time",
      "select name, count(*) as calls,\n"
      "       sum(duration_ns) / 1e6 as total_ms,\n"
      "       avg(duration_ns) / 1e3 as mean_us\n"
      "from op\n"
      "where depth = 0\n"
      "group by name\n"
      "order by total_ms desc\n"
      "limit 30"}},
    {has_events<EventKind::kOperator>,
     {"The longest operators, one by one",
      "select rank, step, name, duration_ns / 1e3 as us, start_ns, end_ns\n"
      "from op\n"
      "order by us desc\n"
      "limit 30"}},
    {has_launched_kernels,
     {"Queueing between launch and kernel",
      "select k.name, count(*) as calls,\n"
      "       avg(k.start_ns - l.end_ns) / 1e3 as queued_us\n"
      "from kernel k\n"
      "join launch l on l.rank = k.rank and l.correlation = k.correlation\n"
      "where k.step = (\n"
      "  select step from step where full_detail order by step\n"
      "  limit 1 offset (select count(*) / 2 from step where full_detail))\n"
      "group by k.name\n"
      "order by queued_us desc\n"
      "limit 30"}},
    {has_events<EventKind::kKernel>,
     {"Gaps of more than 50 µs on a stream",
      "with ordered as (\n"
      "  select rank, lane_name, start_ns, name,\n"
      "         lag(end_ns) over (partition by rank, lane order by start_ns) as before_ns\n"
      "  from kernel\n"
      "  where step = (\n"
      "    select step from step where full_detail order by step\n"
      "    limit 1 offset (select count(*) / 2 from step where full_detail))\n"
      ")\n"
      "select rank, lane_name, (start_ns - before_ns) / 1e3 as gap_us,\n"
      "       name as next_kernel, before_ns as start_ns, start_ns as end_ns\n"
      "from ordered\n"
      "where start_ns - before_ns > 50000\n"
      "order by gap_us desc\n"
      "limit 100"}},
    {has_rows_of<RowKind::kCommunication>,
     {"Which rank comes last in collectives",
      "with member as materialized (\n"
      "  select rank, process_group, cast(ranks as integer) as first from process_group\n"
      "), call as (\n"
      "  select c.rank, c.start_ns, count(*) over same as ranks,\n"
      "         max(c.start_ns) over same as latest_ns\n"
      "  from collective c left join member m using (rank, process_group)\n"
      "  where c.sequence >= 0\n"
      "  window same as (partition by c.process_group, m.first, c.sequence, c.function)\n"
      ")\n"
      "select rank, count(*) as times_last\n"
      "from call\n"
      "where ranks > 1 and start_ns = latest_ns\n"
      "group by rank\n"
      "order by times_last desc"}},
    {has_rows_of<RowKind::kCommunication>,
     {"Bandwidth of collectives by size",
      "with member as materialized (\n"
      "  select rank, process_group, cast(ranks as integer) as first,\n"
      "         length(ranks) - length(replace(ranks, ',', '')) + 1 as size\n"
      "  from process_group\n"
      "), call as (\n"
      "  select c.function, c.bytes, max(c.end_ns) - max(c.start_ns) as transfer_ns\n"
      "  from collective c join member m using (rank, process_group)\n"
      "  where c.sequence >= 0 and c.bytes > 0 and m.size > 1\n"
      "  group by c.function, c.bytes, c.process_group, m.first, c.sequence\n"
      "  having transfer_ns > 0 and count(*) = max(m.size)\n"
      ")\n"
      "select function, bytes, count(*) as calls,\n"
      "       avg(transfer_ns) / 1e3 as transfer_us,\n"
      "       sum(bytes) * 1.0 / sum(transfer_ns) as algbw_gb_per_s\n"
      "from call\n"
      "group by function, bytes\n"
      "order by bytes desc"}},
    {has_rows_of<RowKind::kPhases>,
     {"Host phases, mean over steps",
      "select rank, phase, count(*) as times,\n"
      "       sum(end_ns - start_ns) / 1e6 / steps as mean_ms\n"
      "from span join (select rank, count(*) as steps from step group by rank) using (rank)\n"
      "where depth = 0 and step >= 0\n"
      "group by rank, phase\n"
      "order by rank, mean_ms desc"}},
    {has_events<EventKind::kAllocation>,
     {"Operators that allocate most",
      "select name, count(*) as times, sum(bytes) / 1048576.0 as mib\n"
      "from allocation\n"
      "where bytes > 0 and coalesce(is_older, 0) = 0\n"
      "group by name\n"
      "order by mib desc\n"
      "limit 30"}},
    {has_rows_of<RowKind::kCounter, RowKind::kGpu>,
     {"Counters of each rank",
      "select rank, name, unit, min(value) as least, avg(value) as mean, max(value) as most\n"
      "from counter\n"
      "group by rank, name, unit\n"
      "order by name, rank"}},
}};

}  // namespace

std::vector<SqlExample> sql_examples(const trace::timeline::TimelineRows* rows) {
  std::vector<SqlExample> examples;
  for (const Lesson& lesson : kLessons) {
    if (rows == nullptr || lesson.is_there(*rows)) examples.push_back(lesson.example);
  }
  return examples;
}

std::string sql_hint(const trace::timeline::TimelineRows* rows) {
  const bool has_kernels = rows == nullptr || has_events<EventKind::kKernel>(*rows);
  const bool has_operators = rows == nullptr || has_events<EventKind::kOperator>(*rows);
  return std::string("select … from ") +
         (has_kernels     ? "kernel"
          : has_operators ? "op"
                          : "step") +
         " …";
}

}  // namespace shardlens::ui::inspect
