#include "trace/interop/chrome/chrome_export.h"

#include <zlib.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include "trace/base/file_system.h"
#include "trace/base/intervals.h"
#include "trace/base/text.h"
#include "trace/interop/chrome/chrome_tables.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/upkeep/export_source.h"

namespace shardlens::trace::interop {

namespace fs = std::filesystem;

namespace {

// Text that appears as a file when it is whole, compressed if the name says so.
class JsonFile {
 public:
  static base::Result<JsonFile> create(fs::path path, const ChromeExportOptions& options) {
    TRY(base::check_output(path, options.overwrite, "run.json.gz"));
    if (options.begun) options.begun(store::temporary_name(path));
    JsonFile file(std::move(path), options.overwrite);
    if (!file.stream_) return base::cannot_write(file.path_, errno);
    return file;
  }
  JsonFile(JsonFile&&) = default;
  JsonFile& operator=(JsonFile&&) = delete;
  ~JsonFile() {
    if (unfinished_.empty()) return;
    stream_.reset();
    std::error_code ignored;
    fs::remove(unfinished_, ignored);
  }

  base::Result<void> write(std::string_view text) {
    const bool is_written =
        text.empty() || gzwrite(stream_.get(), text.data(), static_cast<unsigned>(text.size())) > 0;
    if (!is_written) return base::cannot_write(path_, errno);
    return {};
  }
  base::Result<void> close() {
    if (gzclose(stream_.release()) != Z_OK) return base::cannot_write(path_, errno);
    return {};
  }
  const fs::path& path() const { return path_; }
  base::Result<void> publish() {
    TRY(base::publish_output(unfinished_, path_, overwrite_));
    unfinished_.clear();
    return {};
  }

 private:
  struct Close {
    void operator()(gzFile stream) const { gzclose(stream); }
  };

  JsonFile(fs::path path, bool overwrite)
      : path_(std::move(path)),
        unfinished_(store::temporary_name(path_)),
        overwrite_(overwrite),
        stream_(gzopen(unfinished_.c_str(), path_.extension() == ".gz" ? "wb6" : "wbT")) {}
  fs::path path_, unfinished_;
  bool overwrite_;
  std::unique_ptr<gzFile_s, Close> stream_;
};

class ChromeExporter {
 public:
  ChromeExporter(std::vector<store::TraceFile> files, const ChromeExportOptions& options)
      : options_(options), source_(std::move(files), options.progress) {}

  base::Result<void> open(std::int64_t world_size);
  base::Result<void> write_together(const fs::path& file);
  base::Result<void> write_apart(const fs::path& folder, const std::string& name);
  base::Result<void> write_ranks(const fs::path& folder, const std::string& name);
  base::Result<void> publish(std::vector<JsonFile>& files);
  bool goes_on() { return source_.goes_on(); }
  ChromeExport take_result() { return std::move(result_); }

 private:
  bool writes_all() const { return options_.steps == ChromeExportOptions{}.steps; }
  base::Result<void> check_steps();
  base::Result<base::Interval> time_of(std::int64_t rank);
  base::Result<std::vector<std::string>> texts(const std::string& sql, std::int64_t rank,
                                               std::optional<std::int64_t> second = {});
  base::Result<void> write_rank(JsonFile& file, std::int64_t rank, bool& is_first);

  const ChromeExportOptions& options_;
  store::ExportSource source_;
  std::optional<store::Database> connection_;
  std::vector<std::int64_t> ranks_;
  std::int64_t world_size_ = 0;
  ChromeExport result_;
};

base::Result<void> ChromeExporter::open(std::int64_t world_size) {
  world_size_ = world_size;
  // What it holds of a large run goes to a temporary file.
  TRY_ASSIGN(connection_, store::Database::open("", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
                                                "the export's tables"));
  TRY(source_.attach(*connection_));
  TRY(make_chrome_tables(*connection_, options_.with_paths));
  TRY(connection_->for_each_row(
      "select rank from temp.rank order by rank",
      [&](const store::Statement& row) { ranks_.push_back(row.integer(0)); }));
  return check_steps();
}

base::Result<void> ChromeExporter::check_steps() {
  if (writes_all()) return {};
  TRY_ASSIGN(auto steps, connection_->prepare("select count(*) filter (where step between ?1 and "
                                              "?2), min(step), max(step) from temp.step"));
  steps.bind(1, options_.steps.first);
  steps.bind(2, options_.steps.second);
  TRY(steps.step());
  if (steps.integer(0) > 0) return {};
  const std::string there = steps.is_null(1) ? "it has none"
                                             : "it has " + base::grouped(steps.integer(1)) +
                                                   " to " + base::grouped(steps.integer(2));
  return base::fail(base::ErrorKind::kUsage, "The run has none of these steps: " + there + ".");
}

// Ranks come to a step one after another, and clocks of their hosts may be apart. Empty: it has
// none of the steps.
base::Result<base::Interval> ChromeExporter::time_of(std::int64_t rank) {
  if (writes_all()) return base::Interval{INT64_MIN, INT64_MAX};
  TRY_ASSIGN(auto bounds,
             connection_->prepare("select min(start_ns), max(end_ns) from temp.step where "
                                  "rank = ?1 and step between ?2 and ?3"));
  bounds.bind(1, rank);
  bounds.bind(2, options_.steps.first);
  bounds.bind(3, options_.steps.second);
  TRY(bounds.step());
  if (bounds.is_null(0)) return base::Interval{};
  return base::Interval{bounds.integer(0), bounds.integer(1)};
}

base::Result<std::vector<std::string>> ChromeExporter::texts(const std::string& sql,
                                                             std::int64_t rank,
                                                             std::optional<std::int64_t> second) {
  TRY_ASSIGN(auto statement, connection_->prepare(sql));
  statement.bind(1, rank);
  if (second) statement.bind(2, *second);
  std::vector<std::string> texts;
  TRY(statement.for_each_row(
      [&](const store::Statement& row) { texts.emplace_back(row.text(0)); }));
  return texts;
}

base::Result<void> ChromeExporter::write_rank(JsonFile& file, std::int64_t rank, bool& is_first) {
  const auto write = [&](std::string_view event) -> base::Result<void> {
    TRY(file.write(is_first ? "\n" : ",\n"));
    is_first = false;
    return file.write(event);
  };
  TRY_ASSIGN(const base::Interval time, time_of(rank));
  TRY_ASSIGN(const auto tracks, texts(chrome_tracks_sql(), rank));
  for (const std::string& track : tracks) TRY(write(track));
  for (const std::string& sql : chrome_events_sql(options_.with_paths)) {
    TRY_ASSIGN(auto statement, connection_->prepare(sql));
    statement.bind(1, rank);
    statement.bind(2, time.start_ns);
    statement.bind(3, time.end_ns);
    const auto write_event = [&](const store::Statement& row) -> base::Result<void> {
      TRY(write(row.text(0)));
      ++result_.events;
      return {};
    };
    TRY(statement.for_each_row(write_event));
  }
  return {};
}

base::Result<void> ChromeExporter::write_together(const fs::path& path) {
  std::vector<JsonFile> files;
  TRY_ASSIGN(JsonFile file, JsonFile::create(path, options_));
  TRY(file.write("{\"displayTimeUnit\":\"ms\",\"traceEvents\":["));
  bool is_first = true;
  for (const std::int64_t rank : ranks_) TRY(write_rank(file, rank, is_first));
  TRY(file.write("\n]}\n"));
  TRY(file.close());
  files.push_back(std::move(file));
  return publish(files);
}

base::Result<void> ChromeExporter::publish(std::vector<JsonFile>& files) {
  for (JsonFile& file : files) {
    const auto published = file.publish();
    if (!published) {
      std::error_code ignored;
      for (const fs::path& path : result_.files) fs::remove(path, ignored);
      return published;
    }
    result_.files.push_back(file.path());
  }
  return {};
}

base::Result<void> ChromeExporter::write_apart(const fs::path& folder, const std::string& name) {
  std::error_code error;
  const bool is_new = fs::create_directories(folder, error);
  if (error) {
    return base::fail(base::write_error_kind(error.value()),
                      base::quoted(folder) + " cannot be made: " + error.message());
  }
  const auto written = write_ranks(folder, name);
  if (!written && is_new) fs::remove(folder, error);  // if it is empty
  return written;
}

base::Result<void> ChromeExporter::write_ranks(const fs::path& folder, const std::string& name) {
  std::vector<JsonFile> files;
  for (const std::int64_t rank : ranks_) {
    const fs::path path = folder / (name + "_rank" + std::to_string(rank) + ".json.gz");
    TRY_ASSIGN(JsonFile file, JsonFile::create(path, options_));
    TRY_ASSIGN(const auto job, texts(chrome_job_sql(), rank, world_size_));
    const std::string& members = job.front();
    TRY(file.write(members.substr(0, members.rfind('}')) + ",\"traceEvents\":["));
    bool is_first = true;
    TRY(write_rank(file, rank, is_first));
    TRY(file.write("\n]}\n"));
    TRY(file.close());
    files.push_back(std::move(file));
  }
  return publish(files);
}

// "two_ranks" of runs/two_ranks and of two_ranks.shardlens.
std::string file_name_of(const fs::path& run) {
  const fs::path name = run.has_filename() ? run.filename() : run.parent_path().filename();
  return (name.extension() == ".shardlens" ? name.stem() : name).string();
}

}  // namespace

bool is_chrome_file(const fs::path& output) {
  const std::string name = output.filename().string();
  return name.ends_with(".json") || name.ends_with(".json.gz");
}

base::Result<ChromeExport> export_chrome_trace(const fs::path& run, const fs::path& output,
                                               const ChromeExportOptions& options) {
  TRY_ASSIGN(const auto info, store::read_run_info(run));
  TRY_ASSIGN(auto files, store::open_run_files(run));
  ChromeExporter exporter(std::move(files), options);
  const store::StopReading stop([&] { return !exporter.goes_on(); });
  TRY(exporter.open(info.world_size));
  if (is_chrome_file(output)) {
    TRY(exporter.write_together(output));
  } else {
    TRY(exporter.write_apart(output, file_name_of(run)));
  }
  return exporter.take_result();
}

}  // namespace shardlens::trace::interop
