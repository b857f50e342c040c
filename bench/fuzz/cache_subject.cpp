// Caches, which must never change what is made with them: of tokens, of a run's figures, in the
// ledger and in Inspect, too, of the library's numbers.
#include <algorithm>
#include <set>

#include "app/session/runs/library_run.h"
#include "app/session/watch/run_follower.h"
#include "bench/fuzz/sqlite_damage.h"
#include "bench/fuzz/subject.h"
#include "trace/explore/kept_exploration.h"
#include "trace/store/run/library_file.h"
#include "trace/synthetic/synthetic_run.h"
#include "trace/timeline/values/straggler_figures.h"
#include "trainer/text/load_text.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;
using trace::base::Result;

constexpr std::array<const char*, 3> kRuns{"first", "second", "third"};

std::vector<std::int64_t> tokens_of(const trainer::text::EncodedText& text) {
  std::vector<std::int64_t> tokens(static_cast<std::size_t>(text.tokens()));
  text.copy(0, text.tokens(), tokens.data());
  return tokens;
}

Result<trace::store::RunNumbers> number_all(const fs::path& library) {
  std::vector<trace::store::RunPlace> places;
  for (const char* name : kRuns) places.push_back({name, 1'700'000'000'000'000'000});
  return trace::store::number_runs(library, places);
}

class CacheSubject final : public Subject {
 public:
  std::string_view name() const override { return "caches"; }
  int weight() const override { return 4; }
  // A damaged cache is made anew, or goes.
  bool is_kept(std::string_view) const override { return true; }

  Result<void> prepare(const fs::path& folder) override {
    folder_ = folder;
    TRY(prepare_tokens());
    TRY(prepare_record());
    TRY(prepare_inspect());
    TRY(number_all(folder));
    TRY(trace::store::pin_baseline(folder, kRuns[1]));
    library_ = text_of_file(folder / trace::store::kLibraryFile);
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    kind_ = mutation.pick(
        std::array{Kind::kTokens, Kind::kRecord, Kind::kFigures, Kind::kInspect, Kind::kLibrary});
    if (kind_ == Kind::kTokens) {
      write_text_file(input / tokens_file_, mutation.bytes(tokens_));
      if (mutation.one_in(50)) mutation.replace_file(input / tokens_file_);
    } else if (kind_ == Kind::kRecord) {
      write_text_file(input / app::session::kRecordCacheFile, mutation.bytes(record_));
      if (mutation.one_in(50)) mutation.replace_file(input / app::session::kRecordCacheFile);
    } else if (kind_ == Kind::kFigures) {
      damage_sealed(mutation, input, app::session::kFiguresCacheFile, figures_);
    } else if (kind_ == Kind::kInspect) {
      damage_sealed(mutation, input, trace::explore::kFiguresFile, inspect_);
    } else {
      const fs::path file = input / trace::store::kLibraryFile;
      write_text_file(file, library_);
      const std::size_t how = mutation.below(3);
      if (how == 0) write_text_file(file, mutation.bytes(library_));
      if (how == 1) damage_row(file, mutation);
      if (how == 2) damage_schema(file, mutation);
      if (mutation.one_in(50)) mutation.replace_file(file);
    }
  }

  void read(const fs::path& input, const fs::path& scratch, Findings& findings) override {
    if (kind_ == Kind::kTokens) return read_tokens(input, findings);
    if (kind_ == Kind::kRecord) return read_record(input, scratch, findings);
    if (kind_ == Kind::kFigures) return read_figures(input, scratch, findings);
    if (kind_ == Kind::kInspect) return read_inspect(input, scratch, findings);
    read_library(input, findings);
  }

 private:
  enum class Kind { kTokens, kRecord, kFigures, kInspect, kLibrary };

  Result<trainer::text::EncodedText> load(const fs::path& cache, Findings* findings) const {
    trainer::text::TextOptions options;
    options.data = folder_ / "data.txt";
    options.cache_folder = cache;
    return trainer::text::load_text(options, [&](const std::string& warning) {
      if (findings) findings->check(trace::base::Error{trace::base::ErrorKind::kUsage, warning});
    });
  }

  Result<void> prepare_tokens() {
    std::string text;
    for (int i = 0; i < 50; ++i) text += "line " + std::to_string(i) + "\n";
    write_text_file(folder_ / "data.txt", text);
    TRY_ASSIGN(const auto encoded, load(folder_ / "tokens", nullptr));
    expected_ = tokens_of(encoded);
    for (const auto& entry : fs::directory_iterator(folder_ / "tokens")) {
      const std::string content = text_of_file(entry.path());
      if (content.size() <= tokens_.size()) continue;
      tokens_ = content;
      tokens_file_ = entry.path().filename();
    }
    return {};
  }

  Result<void> prepare_record() {
    trace::synthetic::SyntheticRunOptions options;
    options.ranks = 2;
    options.events = 1;
    options.threads = 1;
    TRY_ASSIGN(const auto run, trace::synthetic::generate_run(folder_, options));
    TRY_ASSIGN(const auto record, app::session::read_library_run(run.folder));
    stamp_ = trace::store::run_stamp(run.folder);
    app::session::keep_record(record, stamp_);
    record_ = text_of_file(run.folder / app::session::kRecordCacheFile);
    TRY_ASSIGN(const auto follower, app::session::RunFollower::open(run.folder));
    TRY(follower->advance().map([](bool) {}));
    TRY_ASSIGN(const auto view, follower->view(0, false, {}));
    app::session::keep_figures(run.folder, stamp_, view->figures);
    figures_ = text_of_file(run.folder / app::session::kFiguresCacheFile);
    run_ = run.folder;
    if (!record_.empty() && !figures_.empty()) return {};
    return trace::base::fail(trace::base::ErrorKind::kFailed, "a run's figures were not kept");
  }

  // As Inspect keeps it of a run of a few events.
  Result<void> prepare_inspect() {
    const fs::path run = folder_ / "inspected";
    fs::create_directory(run);
    trace::explore::KeptExploration kept;
    kept.chunks = kept.names = 3;
    kept.lanes.resize(2);
    kept.exposure[1] = {trace::base::TimeClass{}, trace::base::TimeClass{}};
    kept.chunk_names.resize(3);
    for (auto& chunk : kept.chunk_names) chunk.counts.resize(2);
    kept.figures.range.ranks = {0, 1};
    kept.figures.tables.resize(2);
    for (auto& table : kept.figures.tables) {
      table.rows.resize(3);
      for (auto& row : table.rows) row.name = "aten::addmm";
    }
    auto stragglers = std::make_shared<trace::timeline::StragglerFigures>();
    stragglers->calls.resize(2);
    for (auto& call : stragglers->calls) call.parts.resize(2);
    stragglers->ranks.resize(2);
    kept.figures.stragglers = std::move(stragglers);
    trace::explore::keep_exploration(run, stamp_, kept);
    inspect_ = text_of_file(run / trace::explore::kFiguresFile);
    if (!inspect_.empty()) return {};
    return trace::base::fail(trace::base::ErrorKind::kFailed,
                             "what Inspect found out was not kept");
  }

  // Half of them with a checksum that is right, as of somebody who means it.
  void damage_sealed(Mutation& mutation, const fs::path& input, std::string_view name,
                     const std::string& whole) {
    is_sealed_ = mutation.one_in(2);
    if (!is_sealed_) {
      write_text_file(input / name, mutation.bytes(whole));
      if (mutation.one_in(50)) mutation.replace_file(input / name);
      return;
    }
    const fs::path run = kind_ == Kind::kFigures ? run_ : folder_ / "inspected";
    const auto content = trace::store::read_kept(run, name, stamp_);
    trace::store::keep(input, name, stamp_, mutation.bytes(content.value_or("")));
  }

  void read_figures(const fs::path& input, const fs::path& scratch, Findings& findings) {
    auto kept = app::session::kept_figures(input, stamp_);
    if (!kept) return;
    kept->info.status = trace::model::RunStatus::kDone;
    app::session::keep_figures(scratch, stamp_, *kept);
    const std::string again = text_of_file(scratch / app::session::kFiguresCacheFile);
    if (!is_sealed_ && again != figures_) findings.add("a damaged cache changed a run's figures");
  }

  void read_inspect(const fs::path& input, const fs::path& scratch, Findings& findings) {
    const auto kept = trace::explore::read_kept_exploration(input, stamp_);
    if (!kept) return;
    trace::explore::keep_exploration(scratch, stamp_, *kept);
    const std::string again = text_of_file(scratch / trace::explore::kFiguresFile);
    if (!is_sealed_ && again != inspect_) findings.add("a damaged cache changed Inspect's figures");
  }

  void read_tokens(const fs::path& input, Findings& findings) {
    const auto text = load(input, &findings);
    if (!findings.check(text)) return findings.add("a damaged cache stops the training");
    if (tokens_of(*text) != expected_) findings.add("a damaged cache changed the text");
  }

  void read_record(const fs::path& input, const fs::path& scratch, Findings& findings) {
    auto record = app::session::kept_record(input, stamp_);
    if (!record) return;
    record->info.folder = scratch;
    app::session::keep_record(*record, stamp_);
    const std::string again = text_of_file(scratch / app::session::kRecordCacheFile);
    if (again != record_) findings.add("a damaged cache changed a run's figures");
  }

  static void read_library(const fs::path& input, Findings& findings) {
    const auto numbers = number_all(input);
    if (findings.check(numbers)) {
      const std::set<std::int64_t> different(numbers->numbers.begin(), numbers->numbers.end());
      if (different.size() != kRuns.size()) findings.add("two runs have one number");
      const bool is_new = numbers->next > *different.rbegin() || numbers->next == INT64_MAX;
      if (!is_new) findings.add("the next number is taken");
    }
    findings.check(trace::store::pinned_baseline(input));
    findings.check(trace::store::pin_baseline(input, "third"));
  }

  fs::path folder_, run_;
  std::string tokens_, tokens_file_, record_, figures_, inspect_, library_;
  std::vector<std::int64_t> expected_;
  trace::store::RunStamp stamp_;
  Kind kind_ = Kind::kTokens;
  bool is_sealed_ = false;
};

}  // namespace

std::unique_ptr<Subject> cache_subject() { return std::make_unique<CacheSubject>(); }

}  // namespace shardlens::bench
