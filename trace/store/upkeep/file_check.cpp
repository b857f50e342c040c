#include "trace/store/upkeep/file_check.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "trace/base/saturated.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/chunk_file.h"
#include "trace/store/digest/row_check.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/sqlite/stop_reading.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr std::size_t kMostDamage = 1000;
constexpr const char* kMostPageProblems = "20";

// A run's own file has rows of no rank, a rank's of that one, a packed run of any.
std::vector<int> belonging(std::vector<int> ranks, const std::filesystem::path& file) {
  const std::string name = file.filename();
  const auto only = rank_of_file_name(name);
  if (name == kRunFile || only) std::erase_if(ranks, [&](int rank) { return rank != only; });
  return ranks;
}

std::string in_digits(std::int64_t number, const char* noun) {
  return std::to_string(number) + " " + noun + (number == 1 ? "" : "s");
}

}  // namespace

FileCheck::FileCheck(std::filesystem::path path, Database& database, VerifyReport& report,
                     std::function<bool(std::int64_t)> goes_on)
    : path_(std::move(path)), database_(database), report_(report), goes_on_(std::move(goes_on)) {}

void FileCheck::add(Damage damage) {
  damage.file = database_.file();
  if (report_.damage.size() < kMostDamage) {
    report_.damage.push_back(std::move(damage));
  } else {
    ++report_.further_damage;
  }
}

void FileCheck::cannot_read(const std::string& what, const base::Error& error) {
  if (stopped_) return;
  Damage damage;
  damage.what = what + " cannot be read: " + error.message;
  add(std::move(damage));
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
  const auto done = [&]() -> base::Result<void> {
    TRY_ASSIGN(auto statement,
               database_.prepare(std::string("pragma integrity_check(") + kMostPageProblems + ")"));
    while (true) {
      TRY_ASSIGN(const bool more, statement.step());
      if (!more) return {};
      if (statement.text(0) == "ok") continue;
      Damage damage;
      damage.what = "page check: " + std::string(statement.text(0));
      add(std::move(damage));
    }
  }();
  if (!done) cannot_read("a page", done.error());
}

void FileCheck::check_strings() {
  const auto done = [&]() -> base::Result<void> {
    TRY_ASSIGN(auto statement, database_.prepare("select rank, id from string"));
    while (true) {
      TRY_ASSIGN(const bool more, statement.step());
      if (!more) return {};
      strings_[static_cast<int>(statement.integer(0))].insert(
          static_cast<model::StringId>(statement.integer(1)));
    }
  }();
  if (!done) cannot_read("table string", done.error());
}

void FileCheck::check_chunks() {
  std::int64_t last = INT64_MIN;
  const auto problem = visit_news(database_, std::string(kSelectChunks) + ",data from chunk", last,
                                  [this](const Statement& row) { check_chunk(row); });
  if (problem) cannot_read("some of table chunk", *problem);
  for (const auto& [rank, count] : unnamed_) {
    Damage damage;
    damage.rank = rank;
    damage.what = in_digits(count, "event") + " with a name that table string lacks";
    add(std::move(damage));
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
    Damage damage;
    damage.rank = rank;
    damage.what = "table " + table + " has " + in_digits(*found, "row") + " of " +
                  std::to_string(expected) + " that were committed";
    add(std::move(damage));
  }
}

// Every row is the one that was written.
void FileCheck::check_rows(int rank) {
  const auto done = RowCheck(database_, rank).run([&](std::string what) {
    Damage damage;
    damage.rank = rank;
    damage.what = std::move(what);
    add(std::move(damage));
  });
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
    Damage damage;
    damage.what = "table " + table.name + " has " + in_digits(all - known, "row") +
                  " of ranks that the file does not have";
    add(std::move(damage));
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
  Damage damage;
  damage.what = seal->kept.empty()
                    ? "the run's name, status and settings have no checksum (table meta lacks it)"
                    : "the run's name, status or settings were changed (tables meta and setting "
                      "have another checksum)";
  add(std::move(damage));
}

// What the recorder counted is in the file, or counted as lost.
void FileCheck::check_losses(int rank) {
  const std::string of_rank = " where rank = " + std::to_string(rank);
  std::int64_t lost = 0;
  const auto done = [&]() -> base::Result<void> {
    TRY_ASSIGN(auto statement,
               database_.prepare("select reason, count from lost" + of_rank + " order by reason"));
    while (true) {
      TRY_ASSIGN(const bool more, statement.step());
      if (!more) return {};
      const std::int64_t count = statement.integer(1);
      lost = base::saturated_add(lost, count);
      auto& all = report_.lost;
      const bool is_another =
          all.empty() || all.back().rank != rank || all.back().reason != statement.text(0);
      if (is_another) all.push_back({rank, std::string(statement.text(0)), 0});
      all.back().count = base::saturated_add(all.back().count, count);
    }
  }();
  if (!done) return cannot_read("table lost", done.error());
  const auto recorded = database_.integer("select events from recorder_cost" + of_rank);
  if (!recorded) return cannot_read("table recorder_cost", recorded.error());
  const std::int64_t kept = report_.ranks[rank].events;
  const std::int64_t missing =
      base::saturated_difference(base::saturated_difference(*recorded, kept), lost);
  if (missing <= 0) return;
  Damage damage;
  damage.rank = rank;
  damage.events = missing;
  damage.what = std::to_string(missing) + " of " + in_digits(*recorded, "recorded event") +
                " are neither in the file nor counted as lost";
  add(std::move(damage));
}

}  // namespace shardlens::trace::store
