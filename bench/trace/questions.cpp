// What a recorded event takes on disk; statistics, search and SQL over a whole run, and the same
// over plain rows.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "bench/benchmark.h"
#include "bench/trace/stages.h"
#include "trace/explore/run_explorer.h"
#include "trace/store/sql/query.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::bench {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmRounds = 5;
constexpr const char* kPattern = "gemm|all_?reduce";

template <typename Work>
double seconds_of(Work work) {
  const auto begin = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

// The best of several: what the work costs where nothing else disturbs it.
template <typename Work>
double best_seconds_of(Work work) {
  double best = seconds_of(work);
  for (int round = 1; round < kWarmRounds; ++round) best = std::min(best, seconds_of(work));
  return best;
}

void read_all(trace::explore::RunExplorer& explorer) {
  while (must(explorer.work())) {
  }
}

trace::timeline::TimeRange whole(const trace::explore::RunExplorer& explorer) {
  const auto rows = explorer.rows();
  return {rows->start_ns, rows->end_ns + 1, {}};
}

trace::store::Database open_to_read(const std::filesystem::path& file) {
  return must(trace::store::Database::open(file.string(), SQLITE_OPEN_READONLY, file.string()));
}

void add_sizes_of(const std::filesystem::path& file, Figures& figures) {
  auto database = open_to_read(file);
  const auto add = [&](const char* name, const std::string& sql) {
    figures[name] += static_cast<double>(must(database.integer(sql)));
  };
  add("kernels", "select sum(count) from chunk where kind = 'kernel'");
  add("kernel_chunk_bytes", "select sum(length(data)) from chunk where kind = 'kernel'");
  add("events", "select sum(count) from chunk");
  figures["file_bytes"] += static_cast<double>(std::filesystem::file_size(file));
}

double plain_seconds(trace::store::Database& database, const std::string& sql) {
  return seconds_of([&] {
    auto statement = must(database.prepare(sql));
    while (must(statement.step())) {
    }
  });
}

}  // namespace

Figures measure_sizes(const std::filesystem::path& run) {
  Figures figures;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("rank_") && name.ends_with(".sqlite")) add_sizes_of(entry.path(), figures);
  }
  return figures;
}

Figures measure_questions(const std::filesystem::path& run) {
  Figures figures;
  {
    // Asked at once: no chunk was decoded yet, nor rows read.
    const auto explorer = must(trace::explore::RunExplorer::open(run));
    const auto range = whole(*explorer);
    const auto count = [&] { must(explorer->statistics(range)); };
    figures["statistics_cold_ms"] = 1e3 * seconds_of(count);
    read_all(*explorer);
    figures["statistics_warm_ms"] = 1e3 * best_seconds_of(count);
  }
  const auto explorer = must(trace::explore::RunExplorer::open(run));
  read_all(*explorer);
  const trace::timeline::NamePattern pattern{kPattern, false, true};
  const auto find = [&] { must(explorer->find(pattern)); };
  figures["search_cold_ms"] = 1e3 * seconds_of(find);
  figures["search_warm_ms"] = 1e3 * best_seconds_of(find);
  return figures;
}

Figures measure_sql(const std::filesystem::path& run, const std::filesystem::path& plain) {
  const std::string group =
      "select name, count(*), sum(end_ns - start_ns) from kernel group by name";
  const std::string like = "select count(*) from kernel where name like '%gemm%'";
  Figures figures;
  const auto ask = [&](const std::string& sql) {
    return seconds_of([&] { must(trace::store::query_run(run, sql)); });
  };
  figures["count_s"] = ask("select count(*) from kernel");
  figures["group_s"] = ask(group);
  figures["like_s"] = ask(like);
  if (plain.empty()) return figures;
  auto database = open_to_read(plain);
  plain_seconds(database, "select count(*) from kernel");  // the file is in memory from here on
  figures["plain_group_s"] = plain_seconds(database, group);
  figures["plain_like_s"] = plain_seconds(database, like);
  figures["plain_statistics_s"] = 0;
  for (const char* table : {"kernel", "op", "launch", "copy"}) {
    figures["plain_statistics_s"] += plain_seconds(
        database, std::string("select name, count(*), sum(end_ns - start_ns), avg(end_ns - "
                              "start_ns), min(end_ns - start_ns), max(end_ns - start_ns) from ") +
                      table + " group by name");
    figures["plain_search_s"] +=
        plain_seconds(database, std::string("select count(*) from ") + table +
                                    " where name like '%gemm%' or name like '%all%reduce%'");
  }
  return figures;
}

}  // namespace shardlens::bench
