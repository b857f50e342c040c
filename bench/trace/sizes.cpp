// What a recorded event takes on disk.
#include <stdexcept>
#include <string>

#include "bench/trace/stages.h"
#include "trace/store/sqlite/sqlite.h"

namespace shardlens::bench {

namespace {

double number(trace::store::Database& database, const std::string& sql) {
  const auto value = database.integer(sql);
  if (!value) throw std::runtime_error(value.error().message);
  return static_cast<double>(*value);
}

void add_file(const std::filesystem::path& file, Figures& figures) {
  auto database = trace::store::Database::open(file.string(), SQLITE_OPEN_READONLY, file.string());
  if (!database) throw std::runtime_error(database.error().message);
  const auto add = [&](const char* name, const std::string& sql) {
    figures[name] += number(*database, sql);
  };
  add("kernels", "select sum(count) from chunk where kind = 'kernel'");
  add("kernel_chunk_bytes", "select sum(length(data)) from chunk where kind = 'kernel'");
  add("events", "select sum(count) from chunk");
  figures["file_bytes"] += static_cast<double>(std::filesystem::file_size(file));
}

}  // namespace

Figures measure_sizes(const std::filesystem::path& run) {
  Figures figures;
  for (const auto& entry : std::filesystem::directory_iterator(run)) {
    const std::string name = entry.path().filename();
    if (name.starts_with("rank_") && name.ends_with(".sqlite")) add_file(entry.path(), figures);
  }
  return figures;
}

}  // namespace shardlens::bench
