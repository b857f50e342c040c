#include "trace/interop/kineto_import.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <optional>
#include <utility>

#include "trace/interop/imported_rows.h"
#include "trace/interop/json_events.h"
#include "trace/interop/kineto_job.h"
#include "trace/interop/kineto_rank.h"
#include "trace/model/text.h"
#include "trace/store/run_folder.h"

namespace shardlens::trace {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kEventsPerReport = 20'000;

struct KinetoFile {
  fs::path path;
  KinetoRank rows;
  KinetoJob job;
  std::int64_t events = 0;
  bool cut_off = false;
};

tl::unexpected<Error> stopped() {
  return fail(ErrorKind::kFailed, "the import was stopped; nothing was written");
}

// "worker0_step_12.json.gz" → "worker0_step_12"
std::string plain_name(const fs::path& file) {
  std::string name = file.filename().string();
  for (const std::string_view suffix : {".gz", ".json", ".trace", ".pt"}) {
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      name.resize(name.size() - suffix.size());
    }
  }
  return name;
}

class Import {
 public:
  Import(std::span<const fs::path> files, const ImportOptions& options)
      : paths_(files), options_(options) {}

  Result<ImportedRun> run(const fs::path& runs_dir);

 private:
  Result<void> read(const fs::path& path, std::size_t index);
  Result<void> take_in(JsonEvents& input, KinetoFile& file, std::size_t index);
  Result<void> number_ranks();
  void describe();
  Result<void> write(const fs::path& folder);
  bool goes_on(double part) const { return !options_.progress || options_.progress(part); }

  std::span<const fs::path> paths_;
  const ImportOptions& options_;
  std::map<int, KinetoFile> by_rank_;
  std::map<int, Batch> rows_;
  std::vector<KinetoFile> files_;
  int world_size_ = 0;
  RunInfo info_;
  ImportedRun result_;
};

Result<void> Import::take_in(JsonEvents& input, KinetoFile& file, std::size_t index) {
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

Result<void> Import::read(const fs::path& path, std::size_t index) {
  TRY_ASSIGN(JsonEvents input, JsonEvents::open(path));
  KinetoFile& file = files_.emplace_back();
  file.path = path;
  TRY(take_in(input, file, index));
  if (file.events == 0) {
    return fail(ErrorKind::kForeign,
                "'" + path.string() + "' holds no events: expected a trace of PyTorch's profiler");
  }
  if (file.cut_off) {
    result_.warnings.push_back("'" + path.string() + "' was cut off after " + grouped(file.events) +
                               " events, which were imported");
  }
  result_.events += file.events;
  return {};
}

Result<void> Import::number_ranks() {
  const bool all_know =
      std::ranges::all_of(files_, [](const KinetoFile& file) { return file.job.rank >= 0; });
  int next = 0;
  for (KinetoFile& file : files_) {
    const int rank = all_know ? file.job.rank : next++;
    world_size_ = std::max({world_size_, rank + 1, file.job.world_size});
    const std::string path = file.path.string();
    const auto [found, is_new] = by_rank_.try_emplace(rank, std::move(file));
    if (!is_new) {
      return fail(ErrorKind::kUsage, "'" + found->second.path.string() + "' and '" + path +
                                         "' are both of rank " + std::to_string(rank) +
                                         ": give one file per rank of one job");
    }
    result_.ranks.push_back(rank);
  }
  std::ranges::sort(result_.ranks);
  return {};
}

void Import::describe() {
  info_.name = options_.name.empty() ? plain_name(paths_.front()) : options_.name;
  info_.world_size = world_size_;
  info_.recorded_ranks = static_cast<int>(by_rank_.size());
  info_.program = info_.imported_from = "PyTorch profiler";
  info_.settings.skip_steps = 0;  // the profiler's schedule has left the warm-up out
  info_.device = "cpu";
  info_.start_ns = INT64_MAX;
  for (auto& [rank, file] : by_rank_) {
    if (file.rows.uses_gpu()) info_.device = "cuda";
    Batch rows = file.rows.finish(rank, world_size_, file.job,
                                  "imported from " + file.path.filename().string());
    const ImportedTimes times = times_of(rows);
    info_.start_ns = std::min(info_.start_ns, times.start_ns);
    info_.end_ns = std::max(info_.end_ns, times.end_ns);
    rows_.emplace(rank, std::move(rows));
  }
}

Result<void> Import::write(const fs::path& folder) {
  for (const auto& [rank, rows] : rows_) {
    TRY(write_imported_rows(rank_file(folder, rank), rank, rows));
    if (!goes_on(1)) return stopped();
  }
  info_.status = RunStatus::kDone;
  return update_run(folder, info_);
}

Result<ImportedRun> Import::run(const fs::path& runs_dir) {
  if (paths_.empty()) {
    return fail(ErrorKind::kUsage, "give at least one trace: FILE.json or FILE.json.gz");
  }
  for (std::size_t i = 0; i < paths_.size(); ++i) TRY(read(paths_[i], i));
  TRY(number_ranks());
  describe();
  TRY_ASSIGN(result_.folder, create_run(runs_dir, info_, options_.overwrite));
  if (const auto written = write(result_.folder); !written) {
    std::error_code ignored;
    fs::remove_all(result_.folder, ignored);
    return tl::make_unexpected(written.error());
  }
  return result_;
}

}  // namespace

bool may_be_kineto(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return false;
  std::ifstream input(file, std::ios::binary);
  std::array<char, 64> begin{};
  input.read(begin.data(), begin.size());
  const std::string_view text(begin.data(), static_cast<std::size_t>(input.gcount()));
  if (text.starts_with("\x1f\x8b")) return true;
  const auto first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

Result<ImportedRun> import_kineto(std::span<const fs::path> files, const fs::path& runs_dir,
                                  const ImportOptions& options) {
  return Import(files, options).run(runs_dir);
}

}  // namespace shardlens::trace
