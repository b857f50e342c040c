#include "trace/interop/chrome/chrome_tables.h"

#include <string_view>

#include "trace/interop/json/collective_names.h"
#include "trace/interop/json/kineto_event.h"
#include "trace/store/upkeep/redaction.h"

namespace shardlens::trace::interop {

namespace {

std::string given_away(std::string_view table, const std::string& column, bool with_paths) {
  return with_paths ? column : store::redacted_column(table, {column, "TEXT"});
}

// Pids and tids that are 0 mean the idle task to Perfetto. Streams keep their numbers, others are
// numbered as the rank's lanes are.
std::string track_tables(bool with_paths) {
  return R"(
create table track as
  select rank, lane, shown as name, kind, is_stream, 2 * rank + 1 + is_stream as pid,
    case when is_stream then cast(substr(name, at + 7) as integer) else lane + 1 end as tid
  from (select rank, lane, name, )" +
         given_away("lane", "name", with_paths) + R"( as shown, kind, instr(name, 'stream ') as at,
    kind in ('compute', 'copies', 'communication') and instr(name, 'stream ') > 0 as is_stream
    from temp.lane group by rank, lane);
create index track_of_lane on track(rank, lane);
create table device as select rank, )" +
         given_away("rank", "device_name", with_paths) + " as name from temp.rank;";
}
constexpr const char* kStepTid = "100001";
constexpr const char* kReadyTid = "100002";

// Groups of one number may have other members on other ranks; those of a trace do not. Where some
// are not known each rank knows itself, and the number tells the group.
std::string team_table(bool with_paths) {
  return R"(
create table team as
  select rank, process_group, name, case when instr(backend, ',') > 0
      then substr(backend, 1, instr(backend, ',') - 1) else backend end as backend,
    dense_rank() over (order by process_group, known) - 1 as number,
    length(ranks) - length(replace(ranks, ',', '')) + 1 as size,
    '[' || replace(known, ',', ', ') || ']' as ranks
  from (select rank, process_group, ranks,
    case when instr(ranks, '-') = 0 then ranks end as known, )" +
         given_away("process_group", "name", with_paths) + " as name, " +
         given_away("process_group", "backend", with_paths) + R"( as backend
    from temp.process_group group by rank, process_group);
create index team_of_group on team(rank, process_group);
)";
}

// Several that one kernel carries out begin with it: it is told as the first of them.
std::string call_tables(bool with_paths) {
  return R"(
create table call as
  select rank, lane, step, process_group, sequence, function, data_type, bytes, algorithm, protocol,
    channels, phase, start_ns, end_ns, )" +
         given_away("collective", "tag", with_paths) + R"( as tag,
    row_number() over (partition by rank, lane, start_ns) as place
  from temp.collective;
create index call_by_begin on call(rank, lane, start_ns);
create table kernel_lane as select rank, lane from temp.kernel group by rank, lane;
create table torch_type(name text primary key, c10 text, bytes integer);
)";
}

constexpr const char* kBegin = R"(
create table origin as select min(first_ns) as base_ns from (
  select min(first_ns) as first_ns from temp.chunk union all
  select min(start_ns) from temp.step union all select min(start_ns) from temp.span union all
  select min(start_ns) from call union all select min(time_ns) from temp.bucket_ready union all
  select min(time_ns) from temp.unit_ready union all select min(time_ns) from temp.memory union all
  select min(time_ns) from temp.counter);
)";

base::Result<void> add_types(store::Database& connection) {
  TRY_ASSIGN(auto insert, connection.prepare("insert into torch_type values(?, ?, ?)"));
  const auto add = [&](const store::Statement& row) -> base::Result<void> {
    const std::string name(row.text(0));
    const TorchType type = c10_type(name);
    insert.bind_text(1, name);
    insert.bind_text(2, type.name);
    if (type.bytes > 0) {
      insert.bind(3, type.bytes);
    } else {
      insert.bind_null(3);
    }
    return insert.run();
  };
  return connection.for_each_row("select distinct data_type from call", add);
}

// Microseconds as Kineto writes them, to the nanosecond.
std::string microseconds(const std::string& ns) {
  return "json(printf('%d.%03d', (" + ns + ") / 1000, (" + ns + ") % 1000))";
}
std::string since_begin(const std::string& time) {
  return microseconds(time + " - (select base_ns from origin)");
}

// JSON has no infinity, which a loss that is not finite leaves behind.
std::string is_finite(const std::string& value) { return "abs(" + value + ") < 9e999"; }
std::string if_finite(const std::string& value) {
  return "case when " + is_finite(value) + " then " + value + " end";
}

// Members whose values are unknown are left out.
std::string object(const std::string& members) {
  return "json_patch('{}', json_object(" + members + "))";
}

std::string slice(const std::string& category, const std::string& name, const std::string& row,
                  const std::string& track, const std::string& arguments) {
  return object("'ph', 'X', 'cat', " + category + ", 'name', " + name + ", " + track + ", 'ts', " +
                since_begin(row + ".start_ns") + ", 'dur', " +
                microseconds("max(0, " + row + ".end_ns - " + row + ".start_ns)") +
                ", 'args', json_object(" + arguments + ")");
}

constexpr const char* kOnTrack = "'pid', t.pid, 'tid', t.tid";
constexpr const char* kOfRank = " where rank = ?1 and start_ns >= ?2 and start_ns < ?3";
constexpr const char* kAtTime = " where rank = ?1 and time_ns >= ?2 and time_ns < ?3";

// Of a collective `c` of group `g` whose values have type `v`, as Kineto calls it. S is the total
// over ranks for gathers and scatters.
constexpr const char* kCallArguments = R"(
  'Collective name', case c.function when 'all_reduce' then 'allreduce'
    when 'all_gather' then '_allgather_base' when 'reduce_scatter' then '_reduce_scatter_base'
    when 'receive' then 'recv' else c.function end,
  'dtype', v.c10,
  'In msg nelems', c.bytes / v.bytes / case c.function when 'all_gather' then g.size else 1 end,
  'Out msg nelems', c.bytes / v.bytes / case c.function when 'reduce_scatter' then g.size else 1 end,
  'Group size', g.size, 'Process Group Name', cast(g.number as text),
  'Process Group Description', g.name, 'Process Group Ranks', g.ranks, 'Seq', c.sequence,
  'tag', nullif(c.tag, ''), 'algorithm', nullif(c.algorithm, ''),
  'protocol', nullif(c.protocol, ''), 'channels', nullif(c.channels, 0))";
// Of each event, in this order: a job of many threads has few events on each track.
constexpr const char* kJoinTrack = " cross join track t on t.rank = e.rank and t.lane = e.lane";
constexpr const char* kJoinCall =
    " left join team g on g.rank = c.rank and g.process_group = c.process_group"
    " left join torch_type v on v.name = c.data_type";

std::string events_of(const std::string& table, const std::string& columns, bool with_paths) {
  return " from (select rank, lane, step, " + given_away(table, "name", with_paths) +
         " as name, start_ns, end_ns, correlation" + columns + " from temp." + table + kOfRank +
         ") e" + kJoinTrack;
}

// From the call that launched it, if that is written, too; of several with its id, as in a damaged
// trace, from the first. An id is unique within a rank.
std::string arrow() {
  const auto end = [](const std::string& phase, const std::string& track, const std::string& time) {
    return "',' || char(10) || json_object('ph', '" + phase +
           "', 'bp', 'e', 'cat', 'ac2g', 'name', 'ac2g', 'id', " +
           "e.rank * 1099511627776 + e.correlation, 'pid', " + track + ".pid, 'tid', " + track +
           ".tid, 'ts', " + since_begin(time) + ")";
  };
  return " || coalesce((select " + end("s", "lt", "l.start_ns") + " || " +
         end("f", "t", "e.start_ns") +
         " from temp.launch l cross join track lt on lt.rank = l.rank and lt.lane = l.lane"
         " where l.rank = e.rank and l.correlation = e.correlation and l.start_ns >= ?2"
         " and l.start_ns < ?3 limit 1), '')";
}

constexpr const char* kOnGpu =
    "'device', (select cast(substr(device, 6) as integer) from temp.rank where rank = ?1 and "
    "device like 'cuda:%'), 'stream', t.tid, 'correlation', e.correlation, 'step', nullif(e.step, "
    "-1)";

std::string kernels(bool with_paths) {
  return "select " +
         slice("'kernel'", "e.name", "e", kOnTrack, std::string(kOnGpu) + "," + kCallArguments) +
         arrow() + events_of("kernel", "", with_paths) +
         " left join call c on c.rank = e.rank and c.lane = e.lane and c.start_ns = e.start_ns and "
         "c.place = 1" +
         kJoinCall;
}

std::string copies(bool with_paths) {
  return "select " +
         slice("case when e.name like '%set%' then 'gpu_memset' else 'gpu_memcpy' end", "e.name",
               "e", kOnTrack, std::string(kOnGpu) + ", 'bytes', e.bytes") +
         arrow() + events_of("copy", ", bytes", with_paths);
}

std::string launches(bool with_paths) {
  return "select " +
         slice("case when e.name glob 'cu[A-Z]*' then 'cuda_driver' else 'cuda_runtime' end",
               "e.name", "e", kOnTrack, "'correlation', e.correlation") +
         events_of("launch", "", with_paths);
}

std::string operators(bool with_paths) {
  return "select " + slice("'cpu_op'", "e.name", "e", kOnTrack, "'step', nullif(e.step, -1)") +
         events_of("op", "", with_paths);
}

std::string spans(bool with_paths) {
  return "select " +
         slice("'user_annotation'", "e.name", "e", kOnTrack,
               "'phase', e.phase, 'step', nullif(e.step, -1)") +
         " from (select rank, lane, step, phase, " + given_away("span", "name", with_paths) +
         " as name, start_ns, end_ns from temp.span" + kOfRank + ") e" + kJoinTrack;
}

// Those that no kernel carries out.
std::string host_calls() {
  return "select " +
         slice("'user_annotation'", "coalesce(g.backend || ':', '') || c.function", "c", kOnTrack,
               std::string(kCallArguments) + ", 'step', nullif(c.step, -1)") +
         " from call c join track t on t.rank = c.rank and t.lane = c.lane" + kJoinCall +
         " where c.rank = ?1 and c.start_ns >= ?2 and c.start_ns < ?3"
         " and not exists (select 1 from kernel_lane k where k.rank = c.rank and k.lane = c.lane)";
}

std::string steps() {
  return "select " +
         slice("'user_annotation'", "'ProfilerStep#' || e.step", "e",
               std::string("'pid', 2 * e.rank + 1, 'tid', ") + kStepTid,
               "'loss', " + if_finite("e.loss") + ", 'gradient norm', " +
                   if_finite("e.gradient_norm") + ", 'learning rate', " +
                   if_finite("e.learning_rate") + ", 'tokens', e.tokens, 'samples', e.samples, '" +
                   std::string(kDetailOfStep) + "', case when not e.full_detail then '" +
                   std::string(kNoDetail) + "' end") +
         " from (select * from temp.step" + kOfRank + ") e";
}

std::string marks(const std::string& name, const std::string& from) {
  return "select " +
         object("'ph', 'i', 's', 't', 'cat', 'ready', 'name', " + name +
                ", 'pid', 2 * e.rank + 1, 'tid', " + kReadyTid + ", 'ts', " +
                since_begin("e.time_ns") + ", 'args', json_object('step', e.step)") +
         from;
}

std::string counter(const std::string& name, const std::string& values, const std::string& from) {
  return "select " +
         object("'ph', 'C', 'name', " + name + ", 'pid', 2 * e.rank + 1, 'ts', " +
                since_begin("e.time_ns") + ", 'args', json_object(" + values + ")") +
         from;
}

std::string named_of_rank(const std::string& what, const std::string& pid, const std::string& tid,
                          const std::string& arguments) {
  return "select json_object('ph', 'M', 'name', '" + what + "', 'pid', " + pid + ", 'tid', " + tid +
         ", 'args', json_object(" + arguments + "))";
}

}  // namespace

base::Result<void> make_chrome_tables(store::Database& connection, bool with_paths) {
  for (const std::string& sql : {track_tables(with_paths), team_table(with_paths),
                                 call_tables(with_paths), std::string(kBegin)}) {
    TRY(connection.execute(sql));
  }
  return add_types(connection);
}

std::string chrome_tracks_sql() {
  const std::string tracks = " from track where rank = ?1";
  const std::string process =
      " from (select distinct rank, pid, is_stream from track where rank = ?1)";
  const std::string own = " from device where rank = ?1";
  const std::string both = " union all ";
  return named_of_rank("process_name", "pid", "0",
                       "'name', 'rank ' || rank || case when is_stream then ', GPU' else '' end") +
         process + both + named_of_rank("process_sort_index", "pid", "0", "'sort_index', pid") +
         process + both + named_of_rank("process_labels", "2 * rank + 2", "0", "'labels', name") +
         own + " and exists (select 1 from track where rank = ?1 and is_stream)" + both +
         named_of_rank("thread_name", "pid", "tid", "'name', max(name)") + tracks +
         " group by pid, tid" + both +
         named_of_rank("thread_sort_index", "pid", "tid", "'sort_index', min(lane) + 2") + tracks +
         " group by pid, tid" + both +
         named_of_rank("thread_name", "2 * rank + 1", kStepTid, "'name', 'steps'") + own + both +
         named_of_rank("thread_sort_index", "2 * rank + 1", kStepTid, "'sort_index', 0") + own +
         both +
         named_of_rank("thread_name", "2 * rank + 1", kReadyTid, "'name', 'gradients ready'") +
         own + both +
         named_of_rank("thread_sort_index", "2 * rank + 1", kReadyTid, "'sort_index', 1") + own;
}

std::vector<std::string> chrome_events_sql(bool with_paths) {
  return {
      steps(),
      spans(with_paths),
      operators(with_paths),
      launches(with_paths),
      kernels(with_paths),
      copies(with_paths),
      host_calls(),
      marks("'bucket ' || e.bucket || ' ready'",
            std::string(" from (select * from temp.bucket_ready") + kAtTime + ") e"),
      marks("'unit ' || coalesce(u.name, e.unit) || ' ready'",
            std::string(" from (select * from temp.unit_ready") + kAtTime +
                ") e left join (select unit, " + given_away("unit", "name", with_paths) +
                " as name from temp.unit where rank = ?1 group by unit) u on u.unit = e.unit"),
      counter("'memory, bytes'",
              "'parameters', e.parameters_bytes, 'gathered parameters', "
              "e.gathered_parameters_bytes, 'gradients', e.gradients_bytes, 'optimizer', "
              "e.optimizer_bytes, 'activations', e.activations_bytes, 'communication', "
              "e.communication_bytes, 'other', e.other_bytes, 'outside', e.outside_bytes",
              std::string(" from (select * from temp.memory") + kAtTime + " and not is_peak) e"),
      counter("e.name || ', ' || e.unit", "'value', e.value",
              " from (select rank, time_ns, value, " + given_away("counter", "name", with_paths) +
                  " as name, " + given_away("counter", "unit", with_paths) +
                  " as unit from temp.counter" + kAtTime + " and " + is_finite("value") + ") e"),
      counter("'loss'", "'loss', e.loss",
              std::string(" from (select rank, end_ns as time_ns, loss from temp.step") + kOfRank +
                  " and " + is_finite("loss") + ") e"),
  };
}

std::string chrome_job_sql() {
  // Holistic Trace Analysis 0.5 knows a file's rank by this text, with its space.
  return "select replace(json_patch('{}', json_object('schemaVersion', 1, 'displayTimeUnit', 'ms', "
         "'baseTimeNanoseconds', (select base_ns from origin), "
         "'deviceProperties', (select json_group_array(json_object('id', "
         "cast(substr(r.device, 6) as integer), 'name', d.name)) from temp.rank r join device d on "
         "d.rank = r.rank where r.rank = ?1 and r.device like 'cuda:%'), "
         "'distributedInfo', json_object('backend', (select backend from team where rank = ?1 and "
         "process_group = 0), 'rank', rank, 'world_size', ?2, 'pg_count', (select count(*) from "
         "team where rank = ?1), 'pg_config', (select json_group_array(json_object('pg_name', "
         "cast(number as text), 'pg_desc', case when process_group = 0 then 'default_pg' else name "
         "end, 'backend_config', backend, 'pg_size', size, 'ranks', json(ranks))) from team where "
         "rank = ?1)))), '\"rank\":', '\"rank\": ') from temp.rank where rank = ?1";
}

}  // namespace shardlens::trace::interop
