#include "ui/inspect/sql/sql_examples.h"

#include <array>

namespace shardlens::ui {

namespace {

constexpr std::array<SqlExample, 10> kExamples{{
    {"Kernels that take most time",
     "select name, count(*) as calls,\n"
     "       sum(duration_ns) / 1e6 as total_ms,\n"
     "       avg(duration_ns) / 1e3 as mean_us\n"
     "from kernel\n"
     "group by name\n"
     "order by total_ms desc\n"
     "limit 30"},
    {"Slowest steps, rank by rank",
     "select step, rank, (end_ns - start_ns) / 1e6 as ms, loss, start_ns, end_ns\n"
     "from step\n"
     "order by ms desc\n"
     "limit 30"},
    {"The longest kernels, one by one",
     "select rank, step, name, duration_ns / 1e3 as us, start_ns, end_ns\n"
     "from kernel\n"
     "order by us desc\n"
     "limit 30"},
    {"Queueing between launch and kernel",
     "select k.name, count(*) as calls,\n"
     "       avg(k.start_ns - l.end_ns) / 1e3 as queued_us\n"
     "from kernel k\n"
     "join launch l on l.rank = k.rank and l.correlation = k.correlation\n"
     "where k.step = (select max(step) / 2 from step)\n"
     "group by k.name\n"
     "order by queued_us desc\n"
     "limit 30"},
    {"Gaps of more than 50 µs on a stream",
     "with ordered as (\n"
     "  select rank, lane_name, start_ns, name,\n"
     "         lag(end_ns) over (partition by rank, lane order by start_ns) as before_ns\n"
     "  from kernel\n"
     "  where step = (select max(step) / 2 from step)\n"
     ")\n"
     "select rank, lane_name, (start_ns - before_ns) / 1e3 as gap_us,\n"
     "       name as next_kernel, before_ns as start_ns, start_ns as end_ns\n"
     "from ordered\n"
     "where start_ns - before_ns > 50000\n"
     "order by gap_us desc\n"
     "limit 100"},
    {"Which rank comes last in collectives",
     "with call as (\n"
     "  select process_group, sequence, function, max(start_ns) as latest_ns\n"
     "  from collective\n"
     "  where sequence >= 0\n"
     "  group by process_group, sequence, function\n"
     "  having count(*) > 1\n"
     ")\n"
     "select c.rank, count(*) as times_last\n"
     "from collective c\n"
     "join call using (process_group, sequence, function)\n"
     "where c.start_ns = call.latest_ns\n"
     "group by c.rank\n"
     "order by times_last desc"},
    {"Bandwidth of collectives by size",
     "with call as (\n"
     "  select function, bytes, process_group, sequence,\n"
     "         max(end_ns) - max(start_ns) as transfer_ns\n"
     "  from collective\n"
     "  where sequence >= 0 and bytes > 0\n"
     "  group by function, bytes, process_group, sequence\n"
     "  having transfer_ns > 0\n"
     ")\n"
     "select function, bytes, count(*) as calls,\n"
     "       avg(transfer_ns) / 1e3 as transfer_us,\n"
     "       sum(bytes) * 1.0 / sum(transfer_ns) as algbw_gb_per_s\n"
     "from call\n"
     "group by function, bytes\n"
     "order by bytes desc"},
    {"Host phases, mean over steps",
     "select rank, phase, count(*) as times,\n"
     "       avg(end_ns - start_ns) / 1e6 as mean_ms\n"
     "from span\n"
     "where depth = 0\n"
     "group by rank, phase\n"
     "order by rank, mean_ms desc"},
    {"Operators that allocate most",
     "select name, count(*) as times, sum(bytes) / 1048576.0 as mib\n"
     "from allocation\n"
     "where bytes > 0 and is_older = 0\n"
     "group by name\n"
     "order by mib desc\n"
     "limit 30"},
    {"Counters of each rank",
     "select rank, name, unit, min(value) as least, avg(value) as mean, max(value) as most\n"
     "from counter\n"
     "group by rank, name, unit\n"
     "order by name, rank"},
}};

}  // namespace

std::span<const SqlExample> sql_examples() { return kExamples; }

}  // namespace shardlens::ui
