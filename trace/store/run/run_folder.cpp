#include "trace/store/run/run_folder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <map>

#include "trace/base/number_text.h"
#include "trace/base/printable.h"
#include "trace/base/text.h"
#include "trace/base/this_machine.h"
#include "trace/base/wall_clock.h"
#include "trace/model/run_info.h"
#include "trace/store/digest/row_checksums.h"
#include "trace/store/run/run_files.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace fs = std::filesystem;

namespace {

using MetaValues = std::map<std::string, std::string, std::less<>>;

std::string joined_tags(const std::vector<std::string>& tags) { return base::joined(tags, "\n"); }

std::vector<std::string> tags_from(const std::string& text) {
  std::vector<std::string> tags;
  if (text.empty()) return tags;
  for (const auto tag : base::split(text, '\n')) tags.emplace_back(tag);
  return tags;
}

// What create_run writes and update_run may change.
void add_prediction(const model::StepPrediction& predicted, MetaValues& meta) {
  meta["predicted_step_ns"] = base::shortest_text(predicted.step_ns);
  if (predicted.low_ns) meta["predicted_low_ns"] = base::shortest_text(*predicted.low_ns);
  if (predicted.high_ns) meta["predicted_high_ns"] = base::shortest_text(*predicted.high_ns);
  meta["predicted_from"] = predicted.from;
}

// Of what `pack` shortens or leaves out.
std::string job_mark(const model::RunInfo& info) {
  return base::private_mark("job " + info.settings.model + "\n" + info.settings.data + "\n" +
                            info.command);
}

MetaValues meta_of(const model::RunInfo& info) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  MetaValues meta{{"name", info.name},
                  {"status", std::string(model::to_string(info.status))},
                  {"reason", info.reason},
                  {"start_ns", std::to_string(info.start_ns)},
                  {"end_ns", std::to_string(info.end_ns)},
                  {"device", info.device},
                  {"world_size", std::to_string(info.world_size)},
                  {"machine", info.machine},
                  {"job", info.job},
                  {"program", info.program},
                  {"imported_from", info.imported_from},
                  {"command", info.command},
                  {"note", info.note},
                  {"tags", joined_tags(info.tags)},
                  {"bookmarks", model::bookmarks_text(info.bookmarks)},
                  {"recorded_ranks", std::to_string(info.recorded_ranks)},
                  {"simulated_link", flag(info.simulated_link)},
                  {"shared_gpu", flag(info.shared_gpu)},
                  {"communication_off", flag(info.communication_off)}};
  if (info.predicted) add_prediction(*info.predicted, meta);
  return meta;
}

base::Result<void> write_meta(Database& database, const MetaValues& values) {
  for (const auto& [key, value] : values) TRY(set_run_value(database, key, value));
  return {};
}

// Of another program only what was said: the rest would be our defaults, and untrue.
base::Result<void> write_settings(Database& database, const model::RunInfo& info) {
  const job::Settings& settings = info.settings;
  const job::Settings defaults;
  TRY_ASSIGN(auto statement, database.prepare(insert_sql("setting")));
  for (const job::Knob& knob : job::knobs()) {
    const std::string value = job::value_text(settings, knob);
    if (!model::has_settings(info) && value == job::value_text(defaults, knob)) continue;
    statement.bind_text(1, knob.name);
    statement.bind_text(2, value);
    TRY(statement.run());
  }
  return {};
}

base::Result<MetaValues> read_pairs(Database& database, std::string_view sql) {
  MetaValues values;
  TRY(database.for_each_row(
      sql, [&](const Statement& row) { values[std::string(row.text(0))] = row.text(1); }));
  return values;
}

std::optional<double> time_from(const MetaValues& meta, const char* key) {
  const auto found = meta.find(key);
  if (found == meta.end()) return std::nullopt;
  const double value = std::strtod(found->second.c_str(), nullptr);
  return std::isfinite(value) && value > 0 ? std::optional(value) : std::nullopt;
}

std::optional<model::StepPrediction> prediction_from(MetaValues& meta) {
  const auto step_ns = time_from(meta, "predicted_step_ns");
  if (!step_ns) return std::nullopt;
  return model::StepPrediction{*step_ns, time_from(meta, "predicted_low_ns"),
                               time_from(meta, "predicted_high_ns"),
                               base::printable_line(meta["predicted_from"])};
}

model::RunInfo info_from(MetaValues& meta) {
  const auto number = [&](const char* key) {
    return static_cast<std::int64_t>(std::strtoll(meta[key].c_str(), nullptr, 10));
  };
  model::RunInfo info;
  info.name = base::printable_line(meta["name"]);  // as create_run has it
  info.status = base::enum_from_text(meta["status"], model::RunStatus::kIncomplete)
                    .value_or(model::RunStatus::kFailed);
  info.reason = meta["reason"];
  info.start_ns = number("start_ns");
  info.end_ns = number("end_ns");
  info.device = meta["device"];
  info.world_size = static_cast<int>(number("world_size"));
  info.machine = meta["machine"];
  info.job = meta["job"];
  info.is_packed = number("packed") != 0;
  info.program = meta["program"];
  info.imported_from = meta["imported_from"];
  info.command = meta["command"];
  info.note = meta["note"];
  info.tags = tags_from(meta["tags"]);
  info.bookmarks = model::parse_bookmarks(meta["bookmarks"]);
  info.recorded_ranks = static_cast<int>(number("recorded_ranks"));
  info.simulated_link = number("simulated_link") != 0;
  info.shared_gpu = number("shared_gpu") != 0;
  info.communication_off = number("communication_off") != 0;
  info.predicted = prediction_from(meta);
  return info;
}

// Settings that this version does not have are left out, so that it still reads the run.
base::Result<job::Settings> settings_from(const MetaValues& values, const std::string& file) {
  job::Settings settings;
  for (const auto& [key, value] : values) {
    if (!job::find_knob(key)) continue;
    const auto done = job::set_value(settings, key, value);
    if (!done) return base::fail(base::ErrorKind::kDamaged, file + ": " + done.error().message);
  }
  return settings;
}

// The seal follows if it was whole: what somebody else has changed stays told. `values` is asked
// for once nobody else can change them.
base::Result<void> change_meta(const fs::path& file,
                               const std::function<base::Result<MetaValues>(Database&)>& wanted) {
  TRY_ASSIGN(Database database, open_for_writing(file));
  if (sqlite3_db_readonly(database.get(), "main") == 1) {
    return base::fail(base::ErrorKind::kIo,
                      base::quoted(file) +
                          " can only be read, so nothing can be noted in it. Copy the run "
                          "to a folder that you may write to");
  }
  TRY(database.execute("begin immediate"));
  TRY_ASSIGN(const RunSeal seal, read_run_seal(database));
  TRY_ASSIGN(const MetaValues values, wanted(database));
  TRY(write_meta(database, values));
  if (seal.is_whole()) TRY(seal_run(database));
  return database.execute("commit");
}

base::Result<void> change_meta(const fs::path& file, const MetaValues& values) {
  return change_meta(file, [&](Database&) -> base::Result<MetaValues> { return values; });
}

fs::path run_file_of(const fs::path& run) {
  std::error_code error;
  return fs::is_directory(run, error) ? run / kRunFile : run;
}

}  // namespace

fs::path rank_file(const fs::path& run_folder, int rank) {
  return run_folder / ("rank_" + std::to_string(rank) + ".sqlite");
}

fs::path rank_log(const fs::path& run_folder, int rank) {
  return run_folder / ("rank_" + std::to_string(rank) + ".log");
}

fs::path model_folder(const fs::path& run_folder) { return run_folder / "model"; }

fs::path adapter_folder(const fs::path& run_folder) { return run_folder / "adapter"; }

fs::path saved_model(const fs::path& run_folder) {
  std::error_code error;
  for (const fs::path& folder : {model_folder(run_folder), adapter_folder(run_folder)}) {
    if (fs::is_directory(folder, error)) return folder;
  }
  return {};
}

base::Result<void> create_run_at(const fs::path& run_folder, model::RunInfo& info) {
  std::error_code error;
  const bool is_new = fs::create_directories(run_folder, error);
  if (error) {
    return base::fail(base::ErrorKind::kIo, "cannot create the folder " + base::quoted(run_folder) +
                                                ": " + error.message() +
                                                "; choose another with --runs-dir");
  }
  if (fs::exists(run_folder / kRunFile, error)) {
    return base::fail(base::ErrorKind::kUsage, base::quoted(run_folder) +
                                                   " holds a run already: choose another "
                                                   "folder or delete that one");
  }
  if (info.start_ns == 0) {
    info.start_ns = base::wall_clock_ns();
  }
  if (!info.machine.empty()) info.job = job_mark(info);
  const auto fill = [&](Database& database) -> base::Result<void> {
    TRY(write_meta(database, meta_of(info)));
    TRY(write_settings(database, info));
    return seal_run(database);
  };
  const auto created = create_trace_file(run_folder / kRunFile, fill);
  if (!created && is_new) fs::remove(run_folder, error);
  TRY(created);
  info.folder = run_folder.string();
  return {};
}

base::Result<void> update_run(const fs::path& run_folder, const model::RunInfo& info) {
  MetaValues values = meta_of(info);
  constexpr std::array kMayChange{"status", "reason",     "end_ns",
                                  "device", "world_size", "recorded_ranks"};
  std::erase_if(values, [&](const auto& value) {
    return std::ranges::find(kMayChange, value.first) == kMayChange.end();
  });
  return change_meta(run_folder / kRunFile, values);
}

base::Result<void> write_words(const fs::path& run, const RunWords& words) {
  MetaValues values;
  if (words.name) values["name"] = *words.name;
  if (words.note) values["note"] = *words.note;
  if (words.tags) values["tags"] = joined_tags(*words.tags);
  return change_meta(run_file_of(run), values);
}

base::Result<model::Bookmarks> write_bookmarks(const fs::path& run,
                                               const std::vector<model::BookmarkChange>& changes) {
  model::Bookmarks bookmarks;
  const auto changed = [&](Database& database) -> base::Result<MetaValues> {
    TRY_ASSIGN(
        auto kept,
        read_pairs(database, "select key,value from meta where rank=-1 and key='bookmarks'"));
    bookmarks = model::parse_bookmarks(kept["bookmarks"]);
    for (const model::BookmarkChange& change : changes) model::change_bookmarks(bookmarks, change);
    return MetaValues{{"bookmarks", model::bookmarks_text(bookmarks)}};
  };
  TRY(change_meta(run_file_of(run), changed));
  return bookmarks;
}

base::Result<model::RunInfo> read_run_info(const fs::path& run_folder_or_packed) {
  const fs::path path = run_file_of(run_folder_or_packed);
  std::error_code error;
  if (path != run_folder_or_packed && !fs::exists(path, error)) {
    const std::string has_none = "has no " + std::string(kRunFile);
    const bool has_ranks = !rank_files(run_folder_or_packed).empty();
    if (!has_ranks) {
      return base::fail(base::ErrorKind::kForeign,
                        base::quoted(run_folder_or_packed) + " is not a run's folder: it " +
                            has_none + ". `shardlens import` takes traces of PyTorch's profiler");
    }
    return base::fail(base::ErrorKind::kDamaged,
                      base::quoted(run_folder_or_packed) + " is damaged: it " + has_none +
                          ", only files of ranks. Fetch it again from where it was "
                          "recorded, or delete the folder");
  }
  TRY_ASSIGN(TraceFile file, TraceFile::open(path));
  Database& database = file.database();
  TRY_ASSIGN(auto meta, read_pairs(database, "select key,value from meta where rank=-1"));
  if (!meta.contains("name")) {
    return base::fail(base::ErrorKind::kForeign, base::quoted(path) +
                                                     " holds one rank, not a whole run: name the "
                                                     "run's folder");
  }
  model::RunInfo info = info_from(meta);
  info.folder = run_folder_or_packed.string();
  TRY_ASSIGN(const auto settings, read_pairs(database, "select key,value from setting"));
  TRY_ASSIGN(info.settings, settings_from(settings, base::quoted(path)));
  return info;
}

base::Result<void> checkpoint_run(const fs::path& run_folder) {
  base::Result<void> first;
  for (const auto& [rank, file] : rank_files(run_folder)) {
    const auto done = checkpoint_trace_file(file);
    if (!done && first) first = done;
  }
  return first;
}

}  // namespace shardlens::trace::store
