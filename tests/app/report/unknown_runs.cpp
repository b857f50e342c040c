#include "tests/app/report/unknown_runs.h"

#include <gtest/gtest.h>

#include <fstream>
#include <utility>

#include "tests/app/report/synthetic_run.h"
#include "trace/interop/kineto_import.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/table/schema.h"

namespace shardlens::app::report {

namespace fs = std::filesystem;

namespace {

// What PyTorch's profiler exported of one of two ranks: a step with work of every kind, to which
// `number` gives its sizes.
std::string exported_trace(int rank, int number) {
  const auto event = [](const std::string& category, const std::string& name, int thread, int at,
                        int duration, const std::string& more) {
    return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","pid":1,"tid":)" +
           std::to_string(thread) + R"(,"ts":)" + std::to_string(at) + R"(,"dur":)" +
           std::to_string(duration) + R"(,"args":{)" + more + "}},";
  };
  const std::string n = std::to_string(number);
  std::string events;
  for (int step = 0; step < 8; ++step) {
    const int t = 1'000 + step * 200;
    const std::string id = std::to_string(step + 1);
    events +=
        event("user_annotation", "ProfilerStep#" + id, 1, t, 190, "") +
        event("user_annotation", "## forward ##", 1, t, 40, "") +
        event("cpu_op", "aten::addmm", 1, t + 5, 10, "") +
        event("cuda_runtime", "cudaLaunchKernel", 1, t + 10, 2, R"("correlation":2)" + id) +
        event("kernel", "gemm", 7, t + 20, 60, R"("device":0,"stream":7,"correlation":1)" + id) +
        event("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(x)", 20, t + 60, 50 + rank,
              R"("device":0,"stream":20,"correlation":2)" + id +
                  R"(,"Collective name":"allreduce","In msg nelems":)" + n +
                  R"(,"Out msg nelems":)" + n + R"(,"dtype":"Float","Process Group Name":"0")") +
        event("gpu_memcpy", "Memcpy DtoH", 7, t + 120, 10,
              R"("device":0,"stream":7,"bytes":)" + n) +
        R"({"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":1,"tid":1,"ts":)" +
        std::to_string(t + 30) + R"(,"args":{"Device Type":1,"Device Id":0,"Bytes":)" + n +
        R"(,"Total Allocated":)" + n + R"(,"Total Reserved":)" + n + "000}},";
  }
  events.pop_back();
  return R"({"distributedInfo":{"backend":"nccl","rank":)" + std::to_string(rank) +
         R"(,"world_size":2,"pg_config":[{"pg_name":"0","pg_desc":"default_pg","ranks":[0,1]}]},)"
         R"("baseTimeNanoseconds":1700000000000000000,"traceEvents":[)" +
         events + "]}";
}

fs::path import_run(const fs::path& runs_dir) {
  std::vector<fs::path> files;
  fs::create_directories(runs_dir);
  for (const int rank : {0, 1}) {
    files.push_back(runs_dir.parent_path() / ("rank" + std::to_string(rank) + ".json"));
    std::ofstream(files.back()) << exported_trace(rank, 5'000);
  }
  const auto imported = trace::interop::import_kineto(files, runs_dir);
  EXPECT_TRUE(imported) << imported.error().message;
  return imported ? imported->folder : fs::path();
}

std::string pending_calls() {
  std::string sql;
  for (const auto& [sequence, end] : {std::pair{"100", "null"}, {"99", "1700000000018000000"}}) {
    sql +=
        "insert into pending(row_id,rank,process_group,sequence,function,tag,tag_kind,"
        "tag_index,phase,step,bytes,enqueued_ns,end_ns) select (rank<<40)+" +
        std::string(sequence) + ",rank,0," + sequence +
        ",'all_reduce','','none',-1,'backward',8,4096,1700000000017000000," + end + " from rank;";
  }
  return sql;
}

void make_foreign(const fs::path& run) {
  auto database = trace::store::Database::open((run / trace::store::kRunFile).string(),
                                               SQLITE_OPEN_READWRITE, "run");
  ASSERT_TRUE(database);
  ASSERT_TRUE(
      database->execute("update meta set value='a program' where key='imported_from';"
                        "delete from setting where key<>'skip_steps'"));
}

}  // namespace

std::vector<NullableColumn> nullable_columns() {
  std::vector<NullableColumn> columns;
  for (const trace::store::TableSchema& table : trace::store::trace_tables()) {
    for (const trace::store::Column& column : table.columns) {
      const bool is_real = column.type == "REAL";
      if (is_real || column.type == "INTEGER")
        columns.push_back({table.name, column.name, is_real});
    }
  }
  return columns;
}

void change(const fs::path& run, const std::string& sql) {
  for (const auto& [rank, file] : trace::store::rank_files(run)) {
    auto database =
        trace::store::Database::open(file.string(), SQLITE_OPEN_READWRITE, file.string());
    ASSERT_TRUE(database);
    const auto done = database->execute(sql);
    ASSERT_TRUE(done) << done.error().message << ": " << sql;
  }
}

fs::path write_known_run(const std::string& kind, const fs::path& runs_dir) {
  if (kind == "imported") return import_run(runs_dir);
  const fs::path run = write_synthetic_run(runs_dir, [](trace::model::RunInfo& info) {
                         info.status =
                             trace::model::RunStatus::kFailed;  // so that it has a diagnosis
                       }).folder;
  change(run,
         "insert into evaluation select 1,0,3,1700000000009000000,4.5,90,0.125,512,8 from rank "
         "where rank=0;"
         "update batch set last_evaluation=1 where rank=0;"
         "insert into counter select (rank<<40)+1,rank,'Power','W',1700000000009000000,100 "
         "from rank; update batch set last_counter=(rank<<40)+1;");
  change(run, pending_calls());
  for (const auto& [table, column, is_real] : nullable_columns()) {
    change(run, "update " + table + " set " + column + "=" + (is_real ? "0.125" : "1000") +
                    " where not exists(select 1 from " + table + " where " + column +
                    " is not null)");
  }
  if (kind == "foreign") make_foreign(run);
  return run;
}

}  // namespace shardlens::app::report
