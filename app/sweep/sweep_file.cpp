#include "app/sweep/sweep_file.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <utility>

#include "trace/base/file_system.h"
#include "trace/base/text.h"

namespace shardlens::app::sweep {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using trace::base::ErrorKind;
using trace::base::Result;

constexpr const char* kSweepsFolder = ".sweeps";
constexpr const char* kSweepFile = "sweep.json";
constexpr int kSchema = 1;
constexpr std::uintmax_t kLargestSweep = 64u << 20;

Json texts_of(const trace::job::Settings& settings, const trace::job::Settings& base) {
  Json texts = Json::object();
  for (const trace::job::Knob* knob : trace::job::differing_knobs(base, settings)) {
    texts[std::string(knob->name)] = trace::job::value_text(settings, *knob);
  }
  return texts;
}

Json search_json(const std::optional<SearchPlan>& search) {
  if (!search) return nullptr;
  return {{"goal", std::string(to_string(search->goal))},
          {"budget_s", search->budget_seconds},
          {"ended", search->ended}};
}

Json predicted_json(const std::optional<PredictedCost>& predicted) {
  if (!predicted || !std::isfinite(predicted->cost) || !std::isfinite(predicted->half_width)) {
    return nullptr;
  }
  return {{"cost", predicted->cost}, {"half_width", predicted->half_width}};
}

Json json_of(const SweepRecord& record) {
  const SweepPlan& plan = record.plan;
  // All knobs: the defaults of another version may be others.
  Json base = Json::object(), varied = Json::array(), points = Json::array(), runs = Json::array();
  for (const trace::job::Knob& knob : trace::job::knobs()) {
    base[std::string(knob.name)] = trace::job::value_text(plan.points.settings.front(), knob);
  }
  for (const auto* knob : plan.points.varied) varied.push_back(std::string(knob->name));
  for (const auto& settings : plan.points.settings) {
    points.push_back(texts_of(settings, plan.points.settings.front()));
  }
  for (const auto& [slot, run] : record.runs) {
    runs.push_back({{"point", slot.point},
                    {"round", slot.round},
                    {"run", run.file_name},
                    {"failure", run.failure},
                    {"failed_before", run.failed_before},
                    {"predicted", predicted_json(run.predicted)}});
  }
  return {{"schema", kSchema},
          {"name", plan.name},
          {"created_ns", record.created_ns},
          {"repeat", plan.repeats},
          {"seed", plan.seed},
          {"early_stop", plan.stops_early},
          {"search", search_json(plan.search)},
          {"settings", std::move(base)},
          {"varied", std::move(varied)},
          {"points", std::move(points)},
          {"runs", std::move(runs)}};
}

tl::unexpected<trace::base::Error> damaged(const std::string& source, const std::string& why) {
  return trace::base::fail(ErrorKind::kDamaged,
                           "the sweep " + source + " is damaged (" + why +
                               "): begin it anew under another name, or overwrite it; runs that it "
                               "recorded stay until they are replaced");
}

Result<void> apply(const Json& texts, const std::string& source, trace::job::Settings& settings) {
  for (const auto& [key, value] : texts.items()) {
    const auto set = trace::job::set_value(settings, key, value.get<std::string>());
    if (!set) return damaged(source, set.error().message);
  }
  return {};
}

Result<SweepPoints> points_in(const Json& json, const std::string& source) {
  SweepPoints points;
  trace::job::Settings base;
  TRY(apply(json.at("settings"), source, base));
  for (const auto& name : json.at("varied")) {
    const auto* knob = trace::job::find_knob(name.get<std::string>());
    if (knob == nullptr) return damaged(source, "it varies an unknown setting");
    points.varied.push_back(knob);
  }
  const Json& all = json.at("points");
  // Asked before they are made: each takes far more room than it has in the file.
  if (all.empty() || all.size() > kMostPoints) {
    return damaged(source, "it has no points, or too many");
  }
  for (const auto& texts : all) TRY(apply(texts, source, points.settings.emplace_back(base)));
  return points;
}

// None: it is no search, as all of before there were searches.
Result<std::optional<SearchPlan>> search_in(const Json& json, const std::string& source) {
  const auto found = json.find("search");
  if (found == json.end() || found->is_null()) return std::nullopt;
  SearchPlan search;
  const auto goal =
      trace::base::enum_from_text(found->at("goal").get<std::string>(), kGoals.back());
  search.budget_seconds = found->at("budget_s").get<double>();
  if (!goal || !(search.budget_seconds > 0)) return damaged(source, "its search");
  search.goal = *goal;
  search.ended = found->at("ended").get<std::string>();
  return search;
}

// None: nothing was predicted, or it is of before that was kept.
std::optional<PredictedCost> predicted_in(const Json& run) {
  const auto found = run.find("predicted");
  if (found == run.end() || found->is_null()) return std::nullopt;
  return PredictedCost{found->at("cost").get<double>(), found->at("half_width").get<double>()};
}

Result<SweepRecord> record_in(const Json& json, const std::string& source) {
  if (json.at("schema").get<int>() != kSchema) {
    return trace::base::fail(ErrorKind::kOtherVersion,
                             "the sweep " + source +
                                 " was written by another version of this program: go on with "
                                 "that one, or choose another name");
  }
  SweepRecord record;
  SweepPlan& plan = record.plan;
  plan.name = json.at("name").get<std::string>();
  plan.repeats = json.at("repeat").get<int>();
  plan.seed = json.at("seed").get<std::uint64_t>();
  plan.stops_early = json.at("early_stop").get<bool>();
  TRY_ASSIGN(plan.search, search_in(json, source));
  record.created_ns = json.at("created_ns").get<std::int64_t>();
  TRY_ASSIGN(plan.points, points_in(json, source));
  if (!check_sweep_name(plan.name)) return damaged(source, "its name cannot be a sweep's");
  if (plan.repeats < 1 || plan.repeats > kMostRepeats) return damaged(source, "its repeats");
  for (const auto& entry : json.at("runs")) {
    SlotResult run;
    const Slot slot{entry.at("point").get<std::size_t>(), entry.at("round").get<int>()};
    run.file_name = entry.at("run").get<std::string>();
    run.failure = entry.at("failure").get<std::string>();
    run.failed_before = entry.value("failed_before", "");  // older ones have none
    run.predicted = predicted_in(entry);
    const bool is_there =
        slot.point < plan.points.settings.size() && slot.round >= 0 && slot.round < kMostRepeats;
    // A name within the library, never a way out of it.
    if (!is_there || run.file_name.find('/') != std::string::npos || run.file_name == "..") {
      return damaged(source, "one of its runs");
    }
    record.runs[slot] = std::move(run);
  }
  return record;
}

fs::path file_of(const fs::path& runs_dir, const std::string& name) {
  return sweep_folder(runs_dir, name) / kSweepFile;
}

}  // namespace

fs::path sweep_folder(const fs::path& runs_dir, const std::string& name) {
  return runs_dir / kSweepsFolder / name;
}

bool has_sweep(const fs::path& runs_dir, const std::string& name) {
  std::error_code error;
  return fs::exists(file_of(runs_dir, name), error);
}

std::vector<std::string> sweep_names(const fs::path& runs_dir) {
  std::vector<std::string> names;
  for (const fs::path& folder : trace::base::entries_of(runs_dir / kSweepsFolder)) {
    auto name = folder.filename().string();
    if (has_sweep(runs_dir, name)) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

std::string free_name(const std::string& wanted, const SweepPoints& points,
                      const fs::path& runs_dir) {
  std::string name = wanted;
  for (int number = 2; has_sweep(runs_dir, name); ++number) {
    const auto there = read_sweep(runs_dir, name);
    if (there && difference_text(there->plan.points, points).empty()) break;
    name = wanted + " " + std::to_string(number);
  }
  return name;
}

Result<SweepRecord> parse_sweep(const std::string& text, const std::string& source) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return damaged(source, "it is not JSON");
  try {
    return record_in(json, source);
  } catch (const Json::exception& error) {
    return damaged(source, error.what());
  }
}

Result<SweepRecord> read_sweep(const fs::path& runs_dir, const std::string& name) {
  const fs::path file = file_of(runs_dir, name);
  if (!has_sweep(runs_dir, name)) {
    std::string message = "there is no sweep '" + name + "' in " + trace::base::quoted(runs_dir);
    const auto others = trace::base::joined(sweep_names(runs_dir), ", ",
                                            [](const auto& other) { return "'" + other + "'"; });
    message += others.empty() ? "" : ", but " + others;
    return trace::base::fail(ErrorKind::kMissing, message + ": say what is to vary to begin one");
  }
  std::error_code error;
  if (fs::file_size(file, error) > kLargestSweep) {
    return damaged(trace::base::quoted(file), "it is too large");
  }
  const auto text = trace::base::whole_text(file);
  if (!text) {
    return trace::base::fail(
        ErrorKind::kIo, "cannot read " + trace::base::quoted(file) + ": check its permissions");
  }
  return parse_sweep(*text, trace::base::quoted(file));
}

Result<void> write_sweep(const fs::path& runs_dir, const SweepRecord& record) {
  const fs::path file = file_of(runs_dir, record.plan.name);
  const std::string text =
      json_of(record).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  // Of a sweep that is through there is nothing to write, where nobody may, either.
  if (trace::base::whole_text(file) == text) return {};
  if (const std::error_code error = trace::base::replace_text(file, text)) {
    return trace::base::fail(trace::base::write_error_kind(error.value()),
                             "cannot write " + trace::base::quoted(file) + ": " + error.message());
  }
  return trace::base::synchronize(file.parent_path());
}

}  // namespace shardlens::app::sweep
