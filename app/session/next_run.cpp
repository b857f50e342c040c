#include "app/session/next_run.h"

#include <algorithm>
#include <string_view>
#include <system_error>
#include <utility>

#include "trace/frameworks/read/foreign_settings.h"
#include "trace/frameworks/write/framework_export.h"
#include "trace/store/run/settings_file.h"

namespace shardlens::app::session {

using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;
using trace::frameworks::TunedJob;
using trace::job::Settings;
using trace::model::RunStatus;

namespace {

bool has_ended_usefully(const ui::state::LedgerRow& row) {
  return row.status == RunStatus::kDone || row.status == RunStatus::kStopped ||
         row.status == RunStatus::kIncomplete;
}

// The user's newest. Null: there is none.
const ui::state::LedgerRow* last_run(LedgerRows rows) {
  const auto found = std::ranges::find_if(rows, [](const ui::state::LedgerRow& row) {
    return !row.is_bundled && !row.is_imported && has_ended_usefully(row);
  });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

void Baseline::take(const ui::state::LedgerRow& row) {
  folder_ = row.folder;
  // What another program's run was told is not known: the settings stay beside those of the run
  // before.
  if (!row.is_imported) knobs_.set_baseline(row.settings, row.ordinal, row.name);
  library_.set_baseline(row.folder);
}

void Baseline::choose_first(LedgerRows rows, const std::string& pinned_folder) {
  const auto* last = last_run(rows);
  const auto* pinned = row_of(rows, is_pinned_ ? folder_ : pinned_folder);
  const bool replaces = last != nullptr && !edited_;
  if (replaces) knobs_.begin_with(last->settings);
  is_pinned_ = pinned != nullptr;
  if (last != nullptr) take(*last);
  if (pinned != nullptr) take(*pinned);
  is_library_read_ = true;
  const auto changes = std::exchange(early_changes_, {});
  edited_ = edited_ || !changes.empty();
  if (!replaces) return;
  for (const auto& change : changes) change(knobs_);
}

void Baseline::follow_library(LedgerRows rows) {
  const auto* back = is_expected_back_ ? row_of(rows, left_) : nullptr;
  if (back != nullptr && !back->is_being_read) return pin(*back);
  const auto* row = row_of(rows, folder_);
  if (row == nullptr && leaving_.erase(folder_) > 0) return move_on(rows);
  if (row != nullptr && !row->is_being_read) take(*row);
}

void Baseline::begin_change(LedgerRows rows) {
  if (!is_library_read_) return;
  edited_ = true;
  if (is_pinned_) return;
  const auto* last = last_run(rows);
  if (last != nullptr && last->folder != folder_) take(*last);
}

void Baseline::keep_settings() {
  edited_ = true;
  early_changes_.clear();
}

void Baseline::pin(const ui::state::LedgerRow& row) {
  is_pinned_ = true;
  left_.clear();
  library_.pin_baseline(row.folder);
  take(row);
}

void Baseline::unpin(LedgerRows rows) {
  is_pinned_ = false;
  left_.clear();
  library_.pin_baseline("");
  if (const auto* last = last_run(rows); last != nullptr) take(*last);
}

void Baseline::leave(const std::vector<std::string>& folders) {
  leaving_.insert(folders.begin(), folders.end());
  if (std::ranges::find(folders, folder_) != folders.end()) is_expected_back_ = false;
}

void Baseline::move_on(LedgerRows rows) {
  if (std::exchange(is_pinned_, false)) {
    left_ = folder_;
    library_.pin_baseline("");
  }
  const auto* last = last_run(rows);
  if (last != nullptr) return take(*last);
  // As where the window opens without runs.
  folder_.clear();
  library_.set_baseline("");
  knobs_.compare_with_defaults();
}

namespace {

struct DroppedSettings {
  Settings settings;
  std::string notice;  // that they are taken over, and which keys are not
};

std::string notice_of(const std::filesystem::path& file,
                      const trace::frameworks::ForeignSettings& foreign) {
  std::string text = file.filename().string() + ": the settings are taken over";
  const char* separator = ", but not ";
  for (const auto& each : foreign.ignored) {
    text += separator + each.key;
    separator = ", ";
  }
  return text + (foreign.ignored.empty() && foreign.remarks.empty()
                     ? ""
                     : "; `shardlens settings` says why and what differs");
}

// By suffix and content: YAML of ours, a ds_config.json, Accelerate's YAML. Nothing of any other
// file, as a trace in JSON. What the latter two do not speak of, as the model, is as in `next`.
std::optional<Result<DroppedSettings>> read_dropped_settings(const std::filesystem::path& file,
                                                             const Settings& next) {
  using Dropped = Result<DroppedSettings>;
  const auto suffix = file.extension();
  const bool is_yaml = suffix == ".yaml" || suffix == ".yml";
  std::error_code error;
  if (!is_yaml && suffix != ".json") return std::nullopt;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;
  const auto text = trace::store::read_settings_text(file);
  if (!text) {  // too large to be settings; a trace may be
    return is_yaml ? std::optional<Dropped>(tl::make_unexpected(text.error())) : std::nullopt;
  }
  const std::string name = file.filename().string();
  auto foreign = trace::frameworks::parse_foreign_settings(*text, name, next.ranks);
  if (!foreign) return Dropped(tl::make_unexpected(foreign.error()));
  if (*foreign) {
    return Dropped({trace::frameworks::changed_by(**foreign, next), notice_of(file, **foreign)});
  }
  if (!is_yaml) return std::nullopt;
  auto ours = trace::store::parse_settings(*text, name);
  if (!ours) return Dropped(tl::make_unexpected(ours.error()));
  return Dropped({std::move(*ours), name + ": the settings are taken over"});
}

constexpr const char* kRunIsGone = "This run is no longer in the library. Was its folder deleted?";

Result<TunedJob> next_job(const Settings& next, bool on_gpu) {
  const auto problems = trace::job::problems_of(next);
  if (!problems.empty()) return fail(ErrorKind::kUsage, problems.front().message);
  return TunedJob{next, "", 1, on_gpu};
}

Result<TunedJob> job_of(const ui::state::LedgerRow* row) {
  if (row == nullptr) return fail(ErrorKind::kMissing, kRunIsGone);
  TunedJob job{row->settings, row->name, row->nodes, row->on_gpu};
  if (row->ranks > 0) job.settings.ranks = row->ranks;
  return job;
}

std::string copied_notice(const trace::frameworks::FrameworkFile& file) {
  std::string text = "Copied; start with: " + file.start;
  const char* separator = ". Left out: ";
  for (const auto& each : file.left_out) {
    text += separator + std::string(each.knob) + " (" + each.reason + ")";
    separator = ", ";
  }
  return text;
}

}  // namespace

void NextRun::follow_library(const LibraryState& library) {
  ledger_ = library.ledger;
  if (library.loaded && !baseline_.is_chosen()) {
    baseline_.choose_first(rows(), library.pinned_baseline);
  }
  baseline_.follow_library(rows());
}

void NextRun::begin_change() {
  if (!before_lessons_.is_kept()) baseline_.begin_change(rows());
}

void NextRun::keep(const Settings& settings) {
  knobs_.replace(settings);
  baseline_.keep_settings();
  before_lessons_.keep_settings();
}

void NextRun::carry_out(const ui::state::SetKnob& command) {
  begin_change();
  notice_.take(baseline_.change_knob(command.name, [command](KnobEditor& knobs) {
    return knobs.set(command.name, command.text);
  }));
}

void NextRun::carry_out(const ui::state::ResetKnob& command) {
  notice_.take(baseline_.change_knob(
      command.name, [command](KnobEditor& knobs) { return knobs.reset(command.name); }));
}

void NextRun::carry_out(const ui::state::ResetKnobs&) {
  baseline_.change([](KnobEditor& knobs) { knobs.reset_all(); });
  notice_.clear();
}

void NextRun::carry_out(const ui::state::SetBaseline& command) {
  const auto* row = row_of(rows(), command.folder);
  const bool unpins = command.folder.empty();
  if (row == nullptr && !unpins) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  unpins ? baseline_.unpin(rows()) : baseline_.pin(*row);
}

// Null: it has none, or is neither in the library nor, which it need not be, on screen.
const Settings* NextRun::settings_of(const std::string& folder) const {
  if (const auto* row = row_of(rows(), folder)) return &row->settings;
  const auto& shown = shown_.now().view;
  if (!shown) return nullptr;
  const trace::model::RunInfo& info = shown->figures.info;
  return info.folder == folder && trace::model::has_settings(info) ? &info.settings : nullptr;
}

void NextRun::carry_out(const ui::state::CopySettings& command) {
  const auto* settings = settings_of(command.folder);
  if (settings == nullptr) return notice_.say_why_not(kRunIsGone);
  notice_.clear();
  begin_change();
  baseline_.change([settings = *settings](KnobEditor& knobs) { knobs.replace(settings); });
}

std::optional<bool> NextRun::take_over(const std::filesystem::path& file) {
  const auto dropped = read_dropped_settings(file, knobs_.next());
  if (!dropped) return std::nullopt;
  if (!*dropped) {
    notice_.say_why_not(dropped->error().message);
    return false;
  }
  begin_change();
  // What the file leaves open is as in the settings that it changes, on which it depends what is
  // taken over.
  baseline_.change([this, file](KnobEditor& knobs) {
    const auto read = read_dropped_settings(file, knobs.next());
    if (!read) {
      return notice_.say_why_not(file.filename().string() +
                                 " is gone: its settings are not taken over");
    }
    if (!*read) return notice_.say_why_not(read->error().message);
    knobs.replace((*read)->settings);
    notice_.say((*read)->notice);
  });
  before_lessons_.keep_settings();
  return true;
}

std::optional<std::string> NextRun::take_home(const ui::state::CopySettingsAs& command,
                                              bool on_gpu) {
  const auto job = command.folder.empty() ? next_job(knobs_.next(), on_gpu)
                                          : job_of(row_of(rows(), command.folder));
  const auto* const format = trace::frameworks::find_export_format(command.format);
  if (!job) notice_.say_why_not(job.error().message);
  if (!job || format == nullptr) return std::nullopt;
  notice_.clear();
  auto file = format->write(*job);
  if (!format->has_comments) notice_.say(copied_notice(file));
  return std::move(file.text);
}

}  // namespace shardlens::app::session
