#include "trace/store/upkeep/verify.h"

#include <algorithm>
#include <set>
#include <system_error>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/saturated.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sqlite/sqlite.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kMostDamage = 1000;
constexpr const char* kMostPageProblems = "20";

// A run's own file has rows of no rank, a rank's of that one, a packed run of any.
std::vector<int> belonging(std::vector<int> ranks, const fs::path& file) {
  const std::string name = file.filename();
  const auto only = rank_of_file_name(name);
  if (name == kRunFile || only) std::erase_if(ranks, [&](int rank) { return rank != only; });
  return ranks;
}

std::string in_digits(std::int64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

// Checks one open trace file: pages, chunks, counts.
class FileCheck {
 public:
  // `goes_on` is told all the time how many bytes of chunks were read; false ends the check with
  // kFailed.
  FileCheck(const fs::path& path, Database& database, VerifyReport& report,
            const std::function<bool(std::int64_t)>& goes_on)
      : path_(path), database_(database), report_(report), goes_on_(goes_on) {}

  // Adds to the report what it finds; fails only if it was stopped.
  base::Result<void> run();

 private:
  void check_pages();
  void check_strings();
  void check_chunks();
  void check_chunk(const Statement& row);
  void check_counts(int rank);
  void check_losses(int rank);
  void check_rows(int rank);
  void check_strays(const std::vector<int>& ranks);
  std::int64_t count_rows(const std::string& table, const std::string& condition);
  void check_run();
  void add(Damage damage);
  void add(int rank, std::string what);
  void cannot_read(const std::string& what, const base::Error& error);

  const fs::path& path_;
  Database& database_;
  VerifyReport& report_;
  const std::function<bool(std::int64_t)>& goes_on_;
  std::int64_t bytes_read_ = 0;
  bool stopped_ = false;
  ChunkOpener opener_;
  std::map<int, std::set<model::StringId>> strings_;
  std::map<int, std::int64_t> unnamed_, reversed_;
};

void FileCheck::add(Damage damage) {
  damage.file = database_.file();
  if (report_.damage.size() < kMostDamage) {
    report_.damage.push_back(std::move(damage));
  } else {
    ++report_.further_damage;
  }
}

void FileCheck::add(int rank, std::string what) { add({.rank = rank, .what = std::move(what)}); }

void FileCheck::cannot_read(const std::string& what, const base::Error& error) {
  if (!stopped_) add(kRunRank, what + " cannot be read: " + error.message);
}

base::Result<void> FileCheck::run() {
  const StopReading stop([this] {
    stopped_ = stopped_ || !goes_on_(bytes_read_);
    return stopped_;
  });
  ReadingTime time;
  const WholeReading once(database_, time);
  // One commit of a live writer: rows and marks belong together.
  const bool in_transaction = database_.execute("begin").has_value();
  check_pages();
  check_strings();
  check_chunks();
  const auto told = ranks_in(database_);
  if (!told) cannot_read("table meta", told.error());
  const auto ranks = belonging(told.value_or(std::vector<int>()), path_);
  for (const int rank : ranks) {
    report_.ranks[rank];
    check_counts(rank);
    check_losses(rank);
    check_rows(rank);
  }
  check_strays(ranks);
  check_run();
  if (in_transaction) static_cast<void>(database_.execute("commit"));
  if (stopped_) return base::fail(base::ErrorKind::kFailed, "the check was stopped before its end");
  return {};
}

void FileCheck::check_pages() {
  const auto done = database_.for_each_row(
      std::string("pragma integrity_check(") + kMostPageProblems + ")", [&](const Statement& row) {
        if (row.text(0) != "ok") add(kRunRank, "page check: " + std::string(row.text(0)));
      });
  if (!done) cannot_read("a page", done.error());
}

void FileCheck::check_strings() {
  const auto done =
      database_.for_each_row("select rank, id from string", [&](const Statement& row) {
        strings_[static_cast<int>(row.integer(0))].insert(
            static_cast<model::StringId>(row.integer(1)));
      });
  if (!done) cannot_read("table string", done.error());
}

void FileCheck::check_chunks() {
  std::int64_t last = INT64_MIN;
  const auto problem = visit_news(database_, std::string(kSelectChunks) + ",data from chunk", last,
                                  [this](const Statement& row) { check_chunk(row); });
  if (problem) cannot_read("some of table chunk", *problem);
  for (const auto& [rank, count] : unnamed_) {
    add(rank, in_digits(count, "event") + " with a name that table string lacks");
  }
  for (const auto& [rank, count] : reversed_) {
    report_.notes.push_back("rank " + std::to_string(rank) + ": " + in_digits(count, "event") +
                            " that end before they start");
  }
}

void FileCheck::check_chunk(const Statement& row) {
  if (stopped_) return;
  const ChunkEntry chunk = chunk_entry(row);
  const auto data = row.blob(9);
  bytes_read_ += static_cast<std::int64_t>(data.size());
  stopped_ = !goes_on_(bytes_read_);
  VerifiedRank& rank = report_.ranks[chunk.rank];
  // What no chunk can hold is not lost with it.
  const std::int64_t count =
      std::clamp<std::int64_t>(chunk.header.count, 0, static_cast<std::int64_t>(kMostChunkEvents));
  ++rank.chunks;
  rank.events += count;
  const auto events = decode_chunk(chunk.header, data, opener_);
  if (!events) {
    add({"", chunk.rank, chunk.lane, std::string(row.text(3)), chunk.header.first_ns,
         chunk.header.last_ns, count, events.error().message});
    return;
  }
  rank.readable_events += count;
  const std::set<model::StringId>& known = strings_[chunk.rank];
  for (const model::Event& event : *events) {
    if (event.name != 0 && !known.contains(event.name)) ++unnamed_[chunk.rank];
    if (event.duration_ns < 0) ++reversed_[chunk.rank];
  }
}

// Rows are numbered one by one, and every commit says how far it came.
void FileCheck::check_counts(int rank) {
  const std::string of_rank = " where " + numbered_of(rank);
  for (const std::string& mark : mark_names()) {
    const std::string table = mark.substr(std::string_view("last_").size());
    const auto told = database_.integer("select " + mark + " from batch" + of_rank +
                                        " order by row_id desc limit 1");
    if (!told) return cannot_read("table batch", told.error());
    const auto found = database_.integer("select count(*) from " + table + of_rank);
    if (!found) {
      cannot_read("table " + table, found.error());
      continue;
    }
    if (table == "collective") {
      VerifiedRank& figures = report_.ranks[rank];
      figures.events = base::saturated_add(figures.events, *found);
      figures.readable_events = base::saturated_add(figures.readable_events, *found);
    }
    // Nothing was committed, or a version without this table wrote the file.
    if (*told == 0) continue;
    const std::int64_t expected = base::saturated_difference(*told, first_row_id(rank));
    if (*found == expected) continue;
    add(rank, "table " + table + " has " + in_digits(*found, "row") + " of " +
                  std::to_string(expected) + " that were committed");
  }
}

// Every row is the one that was written.
void FileCheck::check_rows(int rank) {
  const auto done =
      RowCheck(database_, rank).run([&](std::string what) { add(rank, std::move(what)); });
  if (!done) cannot_read("a row", done.error());
}

// Every row belongs to a rank that the file has, or to the run.
void FileCheck::check_strays(const std::vector<int>& ranks) {
  for (const TableSchema& table : trace_tables()) {
    if (table.name == "setting") continue;
    const std::int64_t all = count_rows(table.name, "");
    const bool is_meta = table.name == "meta";
    std::int64_t known = is_meta ? count_rows("meta", rows_of_rank("meta", kRunRank)) : 0;
    for (const int rank : ranks) {
      // A rank that has not committed anything has no checksum that would cover another's number.
      const std::string numbers = is_meta ? " and " + numbered_of(rank) : "";
      known += count_rows(table.name, rows_of_rank(table.name, rank) + numbers);
    }
    if (all <= known) continue;  // fewer: a table could not be counted, which is told
    add(kRunRank, "table " + table.name + " has " + in_digits(all - known, "row") +
                      " of ranks that the file does not have");
  }
}

std::int64_t FileCheck::count_rows(const std::string& table, const std::string& condition) {
  const auto count = database_.integer("select count(*) from " + table + " " + condition);
  if (!count) cannot_read("table " + table, count.error());
  return count.value_or(0);
}

// What the file says of the whole run, if it does.
void FileCheck::check_run() {
  const auto seal = read_run_seal(database_);
  if (!seal) return cannot_read("table meta", seal.error());
  if (seal->kept == seal->found) return;
  add(kRunRank, seal->kept.empty()
                    ? "the run's name, status and settings have no checksum (table meta lacks it, "
                      "or has several)"
                    : "the run's name, status or settings were changed (tables meta and setting "
                      "have another checksum)");
}

// What the recorder counted is in the file, or counted as lost.
void FileCheck::check_losses(int rank) {
  const std::string of_rank = " where rank = " + std::to_string(rank);
  std::int64_t lost = 0;
  const auto done = database_.for_each_row(
      "select reason, count from lost" + of_rank + " order by reason", [&](const Statement& row) {
        const std::int64_t count = row.integer(1);
        lost = base::saturated_add(lost, count);
        auto& all = report_.lost;
        const bool is_another =
            all.empty() || all.back().rank != rank || all.back().reason != row.text(0);
        if (is_another) all.push_back({rank, std::string(row.text(0)), 0});
        all.back().count = base::saturated_add(all.back().count, count);
      });
  if (!done) return cannot_read("table lost", done.error());
  const auto recorded = database_.integer("select events from recorder_cost" + of_rank);
  if (!recorded) return cannot_read("table recorder_cost", recorded.error());
  const std::int64_t kept = report_.ranks[rank].events;
  const std::int64_t missing =
      base::saturated_difference(base::saturated_difference(*recorded, kept), lost);
  if (missing <= 0) return;
  add({.rank = rank,
       .events = missing,
       .what = std::to_string(missing) + " of " + in_digits(*recorded, "recorded event") +
               " are neither in the file nor counted as lost"});
}

// A job that ended in order has left a file of every rank.
void check_ranks(const fs::path& run, const model::RunInfo& info, VerifyReport& report) {
  const bool ended = info.status == model::RunStatus::kDone ||
                     info.status == model::RunStatus::kStopped ||
                     info.status == model::RunStatus::kIncomplete;
  const int expected = info.recorded_ranks > 0 ? info.recorded_ranks : info.world_size;
  std::error_code error;
  const int found = fs::is_directory(run, error) ? static_cast<int>(rank_files(run).size())
                                                 : static_cast<int>(report.ranks.size());
  if (found >= expected) return;
  const std::string there =
      std::to_string(found) + " of " + std::to_string(expected) + " ranks are there";
  if (!ended) {
    const bool runs = info.status == model::RunStatus::kRunning;
    report.notes.push_back(there +
                           (runs ? " so far" : ": the run failed, and the others left no file"));
    return;
  }
  report.damage.push_back(
      {.file = base::quoted(run), .what = there + ": the others' files are missing"});
}

// Whether the files of a folder are one run's.
void check_times(const fs::path& run, VerifyReport& report) {
  std::error_code error;
  if (!fs::is_directory(run, error)) return;
  for (const auto& [rank, path] : rank_files(run)) {
    // What else is wrong with it was told, also that it is no trace at all.
    const auto file = open_rank_file(run, path);
    if (file || file.error().kind != base::ErrorKind::kForeign) continue;
    if (!TraceFile::open(path)) continue;
    report.damage.push_back(
        {.file = base::quoted(path), .rank = rank, .what = file.error().message});
  }
}

base::Result<void> check_file(const fs::path& path, VerifyReport& report,
                              const std::function<bool(std::int64_t)>& goes_on) {
  ++report.files;
  report.bytes += bytes_with_wal(path);
  auto file = TraceFile::open(path);
  if (!file) {
    report.damage.push_back({.file = base::quoted(path), .what = file.error().message});
    return {};
  }
  return FileCheck(path, file->database(), report, goes_on).run();
}

}  // namespace

base::Result<VerifyReport> verify_run(const fs::path& run, const VerifyOptions& options) {
  std::error_code error;
  if (!fs::exists(run, error)) {
    return base::fail(base::ErrorKind::kMissing, "there is no run " + base::quoted(run) +
                                                     ": name a run's folder or a packed file");
  }
  VerifyReport report;
  const auto files = files_of_run(run);
  std::int64_t all = 1;
  for (const fs::path& file : files) all += bytes_with_wal(file);
  std::int64_t done = 0;
  const auto goes_on = [&](std::int64_t within) {
    const double part = static_cast<double>(done + within) / static_cast<double>(all);
    return !options.progress || options.progress(std::min(1.0, part));
  };
  for (const fs::path& file : files) {
    TRY(check_file(file, report, goes_on));
    done += bytes_with_wal(file);
  }
  const auto info = read_run_info(run);
  if (info) {
    report.start_ns = info->start_ns;
    check_ranks(run, *info, report);
    check_times(run, report);
  }
  return report;
}

}  // namespace shardlens::trace::store
