// Runs: their bytes, rows, schema and chunks, read by all that reads runs.
#include <array>
#include <system_error>

#include "app/report/comparison_report.h"
#include "app/report/report_json.h"
#include "app/report/report_text.h"
#include "app/report/run_report.h"
#include "app/report/tuning/predicted_run.h"
#include "app/session/compare/comparison_reader.h"
#include "app/session/runs/listed_runs.h"
#include "bench/fuzz/sqlite_damage.h"
#include "bench/fuzz/subject.h"
#include "trace/explore/run_explorer.h"
#include "trace/interop/chrome/chrome_export.h"
#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/run/kept_file.h"
#include "trace/store/run/library_file.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/sql/query.h"
#include "trace/store/table/row_fields.h"
#include "trace/store/upkeep/export_rows.h"
#include "trace/store/upkeep/pack.h"
#include "trace/store/write/row_writer.h"
#include "trace/synthetic/synthetic_run.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;
using trace::base::Result;
using trace::model::Batch;

constexpr std::int64_t kStart = 1'790'000'000'000'000'000;
constexpr int kRanks = 2;
constexpr std::array<const char*, 6> kQueries{
    "select name, count(*), sum(duration_ns) from op group by name order by 3 desc limit 10",
    "select * from step limit 50",
    "select function, count(*), sum(bytes) from collective group by 1",
    "select s.step, count(*) from step s join kernel k on k.rank = s.rank and k.step = s.step "
    "group by 1",
    "select max(duration_ns), min(start_ns) from kernel where rank = 1",
    "select count(*) from lane, process_group"};

// A row of every table, and a few events: small files are soon damaged where it matters.
Batch rows_of_step(int rank, std::int64_t step) {
  Batch batch;
  const std::int64_t start = kStart + step * 100'000'000;
  trace::store::for_each_row_list([&](auto list) {
    auto& rows = batch.*list;
    rows.emplace_back();
    rows.back().rank = rank;
  });
  batch.strings.back() = {rank, static_cast<trace::model::StringId>(step + 1), "aten::mm"};
  trace::model::Step& of_step = batch.steps.back();
  of_step.index = step;
  of_step.start_ns = start;
  of_step.end_ns = start + 90'000'000;
  of_step.loss = 5.5;
  of_step.full_detail = true;
  batch.spans.back().step = batch.collectives.back().step = step;
  batch.spans.back().start_ns = batch.collectives.back().start_ns = start;
  batch.spans.back().end_ns = batch.collectives.back().end_ns = start + 40'000'000;
  batch.buckets.back().parameters = {1};
  batch.buckets.back().parameter_bytes = {64};
  for (const trace::model::EventKind kind :
       {trace::model::EventKind::kOperator, trace::model::EventKind::kKernel}) {
    trace::model::EventRun run{rank, 0, kind, {}};
    for (std::int64_t i = 0; i < 20; ++i) {
      run.events.push_back(
          {start + i * 1'000'000, 900'000, 1, 0, static_cast<std::uint32_t>(i), 7});
    }
    batch.events.push_back(std::move(run));
  }
  trace::model::PendingCollective pending;
  pending.rank = rank;
  batch.pending = {{pending}};
  batch.heartbeat =
      trace::model::Heartbeat{rank, start, start, step, trace::base::Phase::kBackward};
  batch.cost = trace::model::RecorderCost{rank, 1000, 2000, 0};
  batch.rank_info.emplace();
  batch.rank_info->rank = rank;
  return batch;
}

// A step is a transaction at its own time, where a TraceWriter commits by the clock: all is the
// same every time.
Result<void> write_small_rank(const fs::path& file, int rank) {
  TRY_ASSIGN(trace::store::RowWriter writer,
             trace::store::RowWriter::create_file(file, rank, kStart));
  for (std::int64_t step = 0; step < 4; ++step) {
    TRY(writer.begin());
    TRY(writer.write(rows_of_step(rank, step)));
    TRY(writer.commit(kStart + (step + 1) * 100'000'000));
  }
  { const trace::store::RowWriter closed = std::move(writer); }
  return trace::store::checkpoint_trace_file(file);
}

Result<fs::path> record_small_run(const fs::path& runs) {
  trace::model::RunInfo info;
  info.name = "small";
  info.start_ns = kStart;
  info.world_size = kRanks;
  TRY_ASSIGN(const fs::path folder, trace::store::create_run(runs, info, true));
  for (int rank = 0; rank < kRanks; ++rank) {
    TRY(write_small_rank(trace::store::rank_file(folder, rank), rank));
  }
  info.status = trace::model::RunStatus::kDone;
  info.end_ns = kStart + 1'000'000'000;
  TRY(trace::store::update_run(folder, info));
  return folder;
}

class TraceSubject final : public Subject {
 public:
  std::string_view name() const override { return "traces"; }
  bool is_kept(std::string_view file) const override {
    // The last is SQLite's, beside a write-ahead log that it finds.
    return file.starts_with(trace::store::kLibraryFile) || file == trace::store::kKeptFolder ||
           file.ends_with(".cache") || file.ends_with("-shm");
  }

  Result<void> prepare(const fs::path& folder) override {
    TRY_ASSIGN(small_, record_small_run(folder));
    trace::synthetic::SyntheticRunOptions options;
    options.ranks = kRanks;
    options.events = 1;
    options.threads = 1;
    TRY_ASSIGN(const auto large, trace::synthetic::generate_run(folder, options));
    large_ = large.folder;
    packed_ = folder / "packed.shardlens";
    TRY(trace::store::pack_run(small_, packed_));
    TRY_ASSIGN(other_, app::report::load_run(small_));
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    const fs::path from = mutation.one_in(8) ? large_ : mutation.one_in(4) ? packed_ : small_;
    run_ = input / from.filename();
    fs::copy(from, run_, fs::copy_options::recursive);
    changed_.clear();
    const std::string changed = damage_part(mutation);
    // What one change did, another may undo.
    bool is_alone = true;
    for (; mutation.one_in(4); is_alone = false) static_cast<void>(damage_part(mutation));
    if (is_alone) changed_ = changed;
    // In the end, since whoever opens the file may wait for a pipe.
    if (!mutation.one_in(50)) return;
    const fs::path file = from == packed_ ? run_ : run_ / trace::store::kRunFile;
    mutation.replace_file(trace::base::beside(file, "-journal"));
  }

  void read(const fs::path& input, const fs::path& scratch, Findings& findings) override {
    const auto report = app::report::load_report(run_);
    if (findings.check(report)) {
      static_cast<void>(app::report::report_text(*report));
      static_cast<void>(app::report::dump_json(app::report::report_json(*report)));
      compare(report->figures, findings);
    }
    verify(report.has_value() && report->figures.info.unreadable.empty(), findings);
    ask(findings);
    explore(findings);
    findings.check(trace::store::pack_run(run_, scratch / "packed.shardlens"));
    findings.check(trace::store::export_rows(run_, scratch / "rows.sqlite"));
    findings.check(trace::interop::export_chrome_trace(run_, scratch / "run.json"));
    findings.check(
        app::report::predict_run(run_, {.from_file = {}, .assignments = {"bucket_cap_mb=1"}}));
    for (auto& listed : app::session::listed_runs(input).runs) {
      findings.check(app::session::with_figures(std::move(listed)));
    }
    const auto info = trace::store::read_run_info(run_);
    if (findings.check(info)) findings.check(trace::store::find_run(info->name, input));
  }

 private:
  void compare(const trace::analysis::RunFigures& figures, Findings& findings) {
    const auto times = app::session::read_named_times(figures);
    findings.check(times);
    const app::report::ComparedRuns compared{
        {figures, other_},
        {trace::analysis::difference_between({figures, times ? &*times : nullptr}, {other_})}};
    static_cast<void>(app::report::comparison_text(compared));
    static_cast<void>(app::report::dump_json(app::report::comparison_json(compared)));
  }

  // A row that verify has to find, if this is all that changes; "": none.
  std::string damage_part(Mutation& mutation) {
    const bool is_file = run_.filename() == packed_.filename();
    const fs::path file =
        is_file ? run_
        : mutation.one_in(3)
            ? run_ / trace::store::kRunFile
            : trace::store::rank_file(run_, static_cast<int>(mutation.below(kRanks)));
    std::error_code error;
    if (!fs::is_regular_file(file, error)) return {};  // a pipe already, or a folder
    switch (mutation.below(5)) {
      case 0:
        damage_bytes(mutation, file);
        return {};
      case 1:
        damage_schema(file, mutation);
        return {};
      case 2:
        damage_chunk(mutation, is_file ? file : trace::store::rank_file(run_, 0));
        return {};
      default: {
        std::string changed = damage_row(file, mutation);
        // As somebody would who knows the format, and wants to be believed.
        if (!mutation.one_in(3)) return changed;
        seal(mutation, file);
        return {};
      }
    }
  }

  void damage_bytes(Mutation& mutation, const fs::path& file) {
    if (mutation.one_in(40)) return mutation.replace_file(file);
    write_text_file(file, mutation.bytes(text_of_file(file)));
    if (!mutation.one_in(20)) return;
    const auto suffix = mutation.pick(std::array<const char*, 3>{"-wal", "-journal", "-shm"});
    write_text_file(trace::base::beside(file, suffix), mutation.bytes(text_of_file(file)));
  }

  // With a checksum that is right, so that what decodes it is reached.
  void damage_chunk(Mutation& mutation, const fs::path& file) {
    BlobRow row = blob_of_row(file, "chunk", mutation);
    if (row.row_id == 0) return;
    row.data = mutation.bytes(std::move(row.data));
    write_blob(file, "chunk", row);
    if (!mutation.one_in(4)) seal_chunk(file, row.row_id);
  }

  static void seal_chunk(const fs::path& file, std::int64_t row_id) {
    auto database = trace::store::open_for_writing(file);
    if (!database) return;
    const std::string of_row = " where row_id=" + std::to_string(row_id);
    std::int64_t checksum = 0;
    {
      auto row = database->prepare("select data,first_ns,last_ns,count,codec from chunk" + of_row);
      if (!row || !row->step().value_or(false)) return;
      checksum = trace::store::chunk_checksum(
          {row->integer(1), row->integer(2), row->integer(3), static_cast<int>(row->integer(4)), 0},
          row->blob(0));
    }
    static_cast<void>(
        database->execute("update chunk set checksum=" + std::to_string(checksum) + of_row));
    for (int rank = 0; rank < kRanks; ++rank) {
      static_cast<void>(trace::store::RowCheck(*database, rank).seal());
    }
  }

  static void seal(Mutation& mutation, const fs::path& file) {
    auto database = trace::store::open_for_writing(file);
    if (!database) return;
    for (int rank = 0; rank < kRanks; ++rank) {
      static_cast<void>(trace::store::RowCheck(*database, rank).seal());
    }
    if (mutation.one_in(2)) static_cast<void>(trace::store::seal_run(*database));
  }

  void verify(bool has_report, Findings& findings) {
    const auto checked = app::report::check_run(run_);
    if (!findings.check(checked)) {
      if (has_report) findings.add("a run is refused by verify and not by report");
      return;
    }
    if (!checked->damage.empty()) return;
    if (!has_report) findings.add("verify says intact, report refuses it");
    if (!changed_.empty()) findings.add("verify says intact after: " + changed_);
  }

  void ask(Findings& findings) {
    trace::store::QueryOptions options;
    options.row_limit = 1000;
    for (const char* sql : kQueries) findings.check(trace::store::query_run(run_, sql, options));
  }

  // As the window: the whole run in a thousand pixels, and all that is asked of it.
  void explore(Findings& findings) {
    const auto explorer = trace::explore::RunExplorer::open(run_);
    if (!findings.check(explorer)) return;
    Result<bool> more = true;
    for (int i = 0; i < 100 && more && *more; ++i) more = (*explorer)->work();
    findings.check(more);
    const auto rows = (*explorer)->rows();
    trace::timeline::PictureRequest request;
    request.ns_per_pixel = 1e6;
    for (int row = 0; row < 20; ++row) {
      request.windows.push_back({row, kStart - 1'000'000'000, kStart + 1'000'000'000});
    }
    if (rows) findings.check((*explorer)->picture(request));
    findings.check((*explorer)->statistics({kStart, kStart + 1'000'000'000, {}}));
  }

  fs::path small_, large_, packed_;
  trace::analysis::RunFigures other_;
  fs::path run_;         // of the case
  std::string changed_;  // a row that verify has to find
};

}  // namespace

std::unique_ptr<Subject> trace_subject() { return std::make_unique<TraceSubject>(); }

}  // namespace shardlens::bench
