#include "trace/interop/kineto_import.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "trace/base/number_text.h"
#include "trace/base/saturated.h"
#include "trace/base/text.h"
#include "trace/interop/imported_rows.h"
#include "trace/interop/json/json_events.h"
#include "trace/interop/kineto_groups.h"
#include "trace/interop/kineto_job.h"
#include "trace/interop/kineto_rank.h"
#include "trace/job/settings/settings.h"
#include "trace/model/packed.h"
#include "trace/model/untold.h"
#include "trace/store/run/run_folder.h"

namespace shardlens::trace::interop {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEventsPerReport = 5'000;
constexpr std::int64_t kMostClockDifference = 60'000'000'000;  // between hosts, far beyond NTP's

struct KinetoFile {
  fs::path path;
  KinetoRank rows;
  KinetoJob job;
  std::int64_t events = 0;
  bool cut_off = false;
  base::Interval times;
};

tl::unexpected<base::Error> stopped() {
  return base::fail(base::ErrorKind::kFailed, "the import was stopped; nothing was written");
}

// "worker0_step_12.json.gz" → "worker0_step_12", and "gpu17_4711.1755000000000000000.pt.trace.json"
// → "trace": the name of a host is none of a run, which may be given away.
std::string plain_name(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view suffix : {".gz", ".json", ".trace", ".pt"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  }
  const std::string_view untold = model::untold_trace_name(name);
  if (!untold.empty()) name.replace(name.find(untold), untold.size(), "trace");
  return name;
}

// What the files' names begin with, less a number that differs and the word "rank": "job" of
// "job_rank10.json" and "job_rank11.json". The first one's where they have nothing in common.
std::string common_name(std::span<const fs::path> files) {
  const std::string first = plain_name(files.front());
  std::string common = first;
  for (const fs::path& file : files) {
    const std::string name = plain_name(file);
    common.erase(std::ranges::mismatch(common, name).in1, common.end());
  }
  if (common.size() == first.size()) return first;
  const auto trim = [&](std::string_view ends) {
    common.resize(common.find_last_not_of(ends) + 1);
  };
  trim("0123456789");
  trim(" _-.");
  if (common.ends_with("rank")) common.resize(common.size() - 4);
  trim(" _-.");
  return common.empty() ? first : common;
}

tl::unexpected<base::Error> not_one_job(const KinetoFile& a, const KinetoFile& b,
                                        const std::string& why) {
  return base::fail(base::ErrorKind::kUsage, "'" + a.path.string() + "' and '" + b.path.string() +
                                                 "' are not of one job: " + why +
                                                 ". Import them as runs of their own");
}

const std::vector<int>* ranks_of_world(const KinetoJob& job) {
  const auto found = std::ranges::find(job.groups, "default_pg", &KinetoJob::Group::description);
  return found == job.groups.end() || found->ranks.empty() ? nullptr : &found->ranks;
}

// What their distributedInfo says; "": of one.
std::string why_not_one_job(const KinetoJob& a, const KinetoJob& b) {
  if ((a.rank >= 0) != (b.rank >= 0)) return "only one of them says of which rank it is";
  if (a.world_size > 0 && b.world_size > 0 && a.world_size != b.world_size) {
    return "the one is of " + base::counted(a.world_size, "rank") + ", the other of " +
           base::grouped(b.world_size);
  }
  if (!a.backend.empty() && !b.backend.empty() && a.backend != b.backend) {
    return "the one communicates with " + a.backend + ", the other with " + b.backend;
  }
  const auto* world = ranks_of_world(a);
  const auto* other = ranks_of_world(b);
  if (world != nullptr && other != nullptr && *world != *other) {
    return "their default process groups have other members";
  }
  return {};
}

// Numbers that no job has: a damaged file, and memory for nothing.
base::Result<void> check_numbers(const KinetoFile& file) {
  const int largest = std::max(file.job.rank, file.job.world_size - 1);
  if (largest < job::kMostRunRanks) return {};
  return base::fail(base::ErrorKind::kDamaged,
                    "'" + file.path.string() + "' says that it is of rank " +
                        base::grouped(file.job.rank) + " of " + base::grouped(file.job.world_size) +
                        ", but runs have at most " + base::grouped(job::kMostRunRanks) +
                        " ranks: look at its distributedInfo");
}

base::Result<void> check_steps(const KinetoFile& file) {
  const auto step = file.rows.repeated_step();
  if (!step) return {};
  return base::fail(base::ErrorKind::kForeign,
                    "'" + file.path.string() + "' marks step " + base::grouped(*step) +
                        " more than once, as where traces of several ranks were merged: give one "
                        "file per rank, as the profiler exported it");
}

base::Result<void> check_one_job(const std::vector<KinetoFile>& files) {
  for (const KinetoFile& file : files) {
    TRY(check_numbers(file));
    const std::string why = why_not_one_job(files.front().job, file.job);
    if (!why.empty()) return not_one_job(files.front(), file, why);
  }
  return {};
}

using Calls = std::set<std::pair<model::CollectiveFunction, std::int64_t>>;  // with their bytes

std::map<int, Calls> calls_by_group(const model::Batch& rows) {
  std::map<int, Calls> calls;
  for (const model::Collective& call : rows.collectives) {
    calls[call.process_group].emplace(call.function, call.bytes);
  }
  return calls;
}

// What a rank does together with another one.
Calls calls_with(int other, const model::Batch& rows, const std::map<int, Calls>& by_group) {
  Calls calls;
  for (const model::ProcessGroup& group : rows.process_groups) {
    const auto found = by_group.find(group.id);
    const bool is_shared = std::ranges::find(group.ranks, other) != group.ranks.end();
    if (is_shared && found != by_group.end()) {
      calls.insert(found->second.begin(), found->second.end());
    }
  }
  return calls;
}

bool have_nothing_in_common(const Calls& calls, const Calls& others) {
  return !calls.empty() && !others.empty() &&
         std::ranges::none_of(calls, [&](const auto& call) { return others.contains(call); });
}

// The first steps of a program whose profiler left none out: as many as of our own runs, but of few
// no more than leave what a prediction needs, and always the very first. A schedule has left steps
// out where its first number is not 0.
std::int64_t warmup_steps(const std::map<int, model::Batch>& ranks) {
  constexpr std::int64_t kLeastLeft = 4;
  std::int64_t count = INT64_MAX, first = INT64_MAX;
  for (const auto& [rank, rows] : ranks) {
    count = std::min(count, std::ssize(rows.steps));
    for (const model::Step& step : rows.steps) first = std::min(first, step.index);
  }
  if (first != 0 || count < 2) return 0;
  return std::clamp<std::int64_t>(count - kLeastLeft, 1, job::Settings().skip_steps);
}

class Import {
 public:
  Import(std::span<const fs::path> files, const ImportOptions& options)
      : paths_(files), options_(options) {}

  base::Result<ImportedRun> run(const fs::path& runs_dir);

 private:
  base::Result<void> read(const fs::path& path, std::size_t index);
  base::Result<void> take_in(JsonEvents& input, KinetoFile& file, std::size_t index);
  base::Result<void> number_ranks();
  base::Result<void> check_times(const KinetoFile& file, const base::Interval& times);
  base::Result<void> describe();
  void tell_groups(Carrier carrier);
  void tell_unknown();
  void compare_collectives();
  store::TakenName taken_name() const;
  base::Result<void> check_place(const fs::path& runs_dir) const;
  base::Result<store::ClaimedRun> create(const fs::path& runs_dir);
  base::Result<void> write(const fs::path& folder);
  bool goes_on(double part) const { return !options_.progress || options_.progress(part); }

  std::span<const fs::path> paths_;
  const ImportOptions& options_;
  std::map<int, KinetoFile> by_rank_;
  std::map<int, model::Batch> rows_;
  std::vector<KinetoFile> files_;
  int world_size_ = 0;
  bool uses_nccl_ = false;
  GroupNumbers group_numbers_;
  model::RunInfo info_;
  ImportedRun result_;
};

base::Result<void> Import::take_in(JsonEvents& input, KinetoFile& file, std::size_t index) {
  KinetoParser parser;
  KinetoEvent event;
  const auto count = static_cast<double>(paths_.size());
  for (;;) {
    TRY_ASSIGN(const auto piece, input.next());
    if (!piece) break;
    if (!piece->is_event) {
      take_in_member(file.job, piece->key, piece->text);
      continue;
    }
    if (!parser.parse(piece->text, event)) {
      file.rows.leave_out("not readable as an event");
      continue;
    }
    file.rows.add(event);
    if (++file.events % kEventsPerReport != 0) continue;
    if (!goes_on((static_cast<double>(index) + input.progress()) / count)) return stopped();
  }
  file.cut_off = input.was_cut_off();
  return {};
}

base::Result<void> Import::read(const fs::path& path, std::size_t index) {
  TRY_ASSIGN(JsonEvents input, JsonEvents::open(path));
  KinetoFile& file = files_.emplace_back();
  file.path = path;
  TRY(take_in(input, file, index));
  if (file.events == 0) {
    return base::fail(
        base::ErrorKind::kForeign,
        "'" + path.string() + "' holds no events: expected a trace of PyTorch's profiler");
  }
  if (file.cut_off) {
    file.rows.note_cut_off();
    result_.warnings.push_back("'" + path.string() + "' was cut off after " +
                               base::grouped(file.events) + " events, which were imported");
  }
  result_.events += file.events;
  return {};
}

base::Result<void> Import::number_ranks() {
  TRY(check_one_job(files_));
  const bool all_know = files_.front().job.rank >= 0;
  int next = 0, named = 0;
  bool communicates = false;
  for (KinetoFile& file : files_) {
    const int rank = file.job.rank = all_know ? file.job.rank : next++;
    // Without distributedInfo the groups of its collectives tell.
    named =
        std::max(named, file.job.world_size > 0 ? file.job.world_size : file.rows.named_ranks());
    communicates = communicates || file.rows.communicates();
    uses_nccl_ = uses_nccl_ || file.rows.uses_nccl();
    world_size_ = std::max(world_size_, rank + 1);
    const std::string path = file.path.string();
    const auto [found, is_new] = by_rank_.try_emplace(rank, std::move(file));
    if (!is_new) {
      return base::fail(base::ErrorKind::kUsage,
                        "'" + found->second.path.string() + "' and '" + path +
                            "' are both of rank " + std::to_string(rank) +
                            ": give one file per rank, of one job and one session of "
                            "its profiler");
    }
    result_.ranks.push_back(rank);
  }
  std::ranges::sort(result_.ranks);
  // Ranks that were not given may take part in what those do together.
  world_size_ = named == 0 && communicates ? 0 : std::max(world_size_, named);
  if (world_size_ == 0) result_.warnings.emplace_back(model::kUnknownRanks);
  return {};
}

// Ranks of one job work at the same time, as far as their hosts' clocks agree.
base::Result<void> Import::check_times(const KinetoFile& file, const base::Interval& times) {
  if (times.start_ns > times.end_ns) {
    return base::fail(base::ErrorKind::kForeign,
                      "'" + file.path.string() +
                          "' holds no events that take place: expected a trace of "
                          "PyTorch's profiler");
  }
  const KinetoFile& first = by_rank_.begin()->second;
  const std::int64_t apart =
      std::max(base::saturated_difference(times.start_ns, first.times.end_ns),
               base::saturated_difference(first.times.start_ns, times.end_ns));
  if (&file == &first || apart <= kMostClockDifference) return {};
  return not_one_job(first, file,
                     "the one ends " + base::grouped(apart / 1'000'000'000) +
                         " s before the other begins: ranks of one job work at the same time");
}

base::Result<void> Import::describe() {
  info_.name = !options_.name.empty()     ? options_.name
               : !options_.folder.empty() ? options_.folder.filename().string()
                                          : common_name(paths_);
  info_.world_size = world_size_;
  info_.recorded_ranks = static_cast<int>(by_rank_.size());
  info_.program = info_.imported_from = "PyTorch profiler";
  info_.device = "cpu";
  info_.start_ns = INT64_MAX;
  std::set<int> should_tell_parts;
  for (auto& [rank, file] : by_rank_) {
    if (!goes_on(1)) return stopped();
    if (file.rows.uses_gpu()) info_.device = "cuda";
    if (file.rows.has_parts()) should_tell_parts.insert(rank);
    file.rows.collect(world_size_, uses_nccl_, file.job);
    TRY(check_steps(file));
  }
  for (const Carrier carrier : {Carrier::kGpu, Carrier::kHost}) tell_groups(carrier);
  for (auto& [rank, file] : by_rank_) {
    if (!goes_on(1)) return stopped();
    model::Batch rows = file.rows.finish(
        rank, world_size_, file.job,
        std::string(model::kImportedFrom) + file.path.filename().string(), group_numbers_);
    file.times = times_of(rows);
    TRY(check_times(file, file.times));
    for (const model::Lost& lost : rows.lost) {
      result_.events -= lost.count;
      result_.warnings.push_back("'" + file.path.string() + "': " + base::grouped(lost.count) +
                                 (lost.count == 1 ? " event was" : " events were") +
                                 " left out: " + lost.reason);
    }
    for (const model::LogLine& line : rows.log) {
      // The same of all ranks, as a rule.
      const bool is_new = std::ranges::find(result_.warnings, line.text) == result_.warnings.end();
      if (should_tell_parts.contains(rank) && is_new) result_.warnings.push_back(line.text);
    }
    info_.start_ns = std::min(info_.start_ns, file.times.start_ns);
    info_.end_ns = std::max(info_.end_ns, file.times.end_ns);
    rows_.emplace(rank, std::move(rows));
  }
  number_calls(rows_);
  info_.settings.skip_steps = warmup_steps(rows_);
  tell_unknown();
  compare_collectives();
  return {};
}

void Import::tell_groups(Carrier carrier) {
  std::vector<RankCalls> steps;
  std::vector<UnnamedCalls> unnamed;
  for (const auto& [rank, file] : by_rank_) {
    steps.push_back(file.rows.steps_of_unnamed(carrier));
    unnamed.push_back(file.rows.unnamed_calls(carrier, rank));
  }
  const auto places = places_of_calls(steps);
  for (std::size_t i = 0; i < unnamed.size(); ++i) {
    for (std::size_t call = 0; call < places[i].size(); ++call) {
      unnamed[i].calls[call].place = places[i][call];
    }
  }
  const auto groups = groups_of_calls(unnamed);
  std::size_t i = 0;
  for (auto& [rank, file] : by_rank_) file.rows.set_groups(carrier, groups[i++]);
}

void Import::tell_unknown() {
  std::map<int, std::vector<std::int64_t>> steps;
  std::string unmarked, missing, cut_off;
  bool has_unknown_groups = false;
  for (const auto& [rank, rows] : rows_) {
    auto& own = steps[rank];
    for (const model::Step& step : rows.steps) own.push_back(step.index);
    std::ranges::sort(own);
    if (unmarked.empty()) unmarked = model::unmarked_steps(rows.rank_info->sources);
    if (cut_off.empty()) cut_off = model::cut_off_trace(rows.rank_info->sources);
    if (missing.empty()) missing = model::missing_collectives(rows.rank_info->sources);
    has_unknown_groups |= std::ranges::any_of(rows.collectives, [](const model::Collective& call) {
      return call.process_group == kNoGroup;
    });
  }
  for (const std::string& text :
       {missing, cut_off, unmarked, model::different_steps(steps, unmarked.empty())}) {
    if (!text.empty()) result_.warnings.push_back(text);
  }
  if (has_unknown_groups && world_size_ > 0) result_.warnings.emplace_back(model::kUnknownGroups);
}

// Ranks of one job enter the same collectives of the groups that they share.
void Import::compare_collectives() {
  const auto& [first, rows] = *rows_.begin();
  const auto by_group = calls_by_group(rows);
  for (const auto& [rank, others] : rows_) {
    const auto theirs = calls_with(first, others, calls_by_group(others));
    if (!have_nothing_in_common(calls_with(rank, rows, by_group), theirs)) continue;
    result_.warnings.push_back("'" + by_rank_.at(first).path.string() + "' and '" +
                               by_rank_.at(rank).path.string() +
                               "' seem to be of different jobs: no collective of the one has "
                               "function and size of one of the other");
  }
}

store::TakenName Import::taken_name() const {
  if (options_.overwrite) return store::TakenName::kIsReplaced;
  return options_.name.empty() ? store::TakenName::kIsNumbered : store::TakenName::kIsRefused;
}

base::Result<void> Import::check_place(const fs::path& runs_dir) const {
  if (!options_.folder.empty()) return store::check_run_place(options_.folder, options_.overwrite);
  if (options_.name.empty()) return {};
  TRY(store::runs_to_replace(runs_dir, options_.name, taken_name()));
  return {};
}

base::Result<store::ClaimedRun> Import::create(const fs::path& runs_dir) {
  return options_.folder.empty() ? store::create_claimed_run(runs_dir, info_, taken_name())
                                 : store::create_run_in(options_.folder, info_, options_.overwrite);
}

base::Result<void> Import::write(const fs::path& folder) {
  for (const auto& [rank, rows] : rows_) {
    bool was_stopped = false;
    const auto written = write_imported_rows(store::rank_file(folder, rank), rank, rows, [&] {
      was_stopped = !goes_on(1);
      return !was_stopped;
    });
    if (was_stopped) return stopped();
    TRY(written);
  }
  info_.status = model::RunStatus::kDone;
  return store::update_run(folder, info_);
}

base::Result<ImportedRun> Import::run(const fs::path& runs_dir) {
  if (paths_.empty()) {
    return base::fail(base::ErrorKind::kUsage,
                      "give at least one trace: FILE.json or FILE.json.gz");
  }
  TRY(check_place(runs_dir));
  for (std::size_t i = 0; i < paths_.size(); ++i) TRY(read(paths_[i], i));
  TRY(number_ranks());
  TRY(describe());
  TRY_ASSIGN(store::ClaimedRun made, create(runs_dir));
  if (options_.begun) options_.begun(made.folder);
  if (const auto written = write(made.folder); !written) {
    std::error_code ignored;
    fs::remove_all(made.folder, ignored);
    return tl::make_unexpected(written.error());
  }
  if (options_.whole) options_.whole();
  if (const auto placed = store::take_place(made); !placed) {
    // Of the old run nothing may be left.
    return base::fail(
        placed.error().kind,
        placed.error().message + ". What was imported is whole, in " + base::quoted(made.folder));
  }
  result_.folder = std::move(made.folder);
  return result_;
}

}  // namespace

namespace {

// In a folder, in the order of numbers at their names' ends: those of 2 before those of 10.
std::vector<fs::path> traces_in(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    const bool is_named = name.ends_with(".json") || name.ends_with(".json.gz");
    if (is_named && may_be_kineto(entry->path())) found.push_back(entry->path());
  }
  std::ranges::sort(found, {}, [](const fs::path& path) {
    return std::pair(path.native().size(), path.native());
  });
  return found;
}

base::Result<std::vector<fs::path>> files_of(std::span<const fs::path> paths) {
  std::vector<fs::path> files;
  for (const fs::path& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      files.push_back(path);
      continue;
    }
    const auto found = traces_in(path);
    if (found.empty()) {
      return base::fail(base::ErrorKind::kForeign,
                        base::quoted(path) + " holds no traces: .json or .json.gz, one per rank");
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  return files;
}

}  // namespace

bool may_be_kineto(const fs::path& file) {
  std::error_code error;
  if (fs::is_directory(file, error)) {
    return !fs::exists(file / store::kRunFile, error) && !traces_in(file).empty();
  }
  if (!fs::is_regular_file(file, error)) return false;
  std::ifstream input(file, std::ios::binary);
  std::array<char, 64> begin{};
  input.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<std::size_t>(input.gcount()));
  if (text.starts_with("\x1f\x8b")) return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

base::Result<ImportedRun> import_kineto(std::span<const fs::path> files, const fs::path& runs_dir,
                                        const ImportOptions& options) {
  TRY_ASSIGN(const std::vector<fs::path> traces, files_of(files));
  return Import(traces, options).run(runs_dir);
}

}  // namespace shardlens::trace::interop
