#include "app/session/files/run_export.h"

#include <cmath>
#include <utility>

#include "app/session/files/text_file.h"
#include "trace/interop/chrome/chrome_export.h"
#include "trace/store/run/run_folder.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::session {

RunExport::RunExport(std::filesystem::path save_dir, Notice& notice)
    : save_dir_(std::move(save_dir)),
      notice_(notice),
      worker_([this](const auto& run, const auto& wanted) { work(run, wanted); }) {}

void RunExport::write(const ui::state::ExportRun& command) {
  {
    const std::lock_guard lock(mutex_);
    if (written_.empty()) {
      written_ = std::filesystem::path(command.folder).filename().string();
      return worker_.ask(command);
    }
  }
  notice_.say_why_not("Another run is being exported. Try again in a moment");
}

std::string RunExport::under_way() const {
  const std::lock_guard lock(mutex_);
  return written_.empty() ? "" : "the export of " + written_;
}

namespace {

trace::base::Result<void> write_run(const ui::state::ExportRun& command,
                                    const std::filesystem::path& file,
                                    const std::function<bool(double)>& progress) {
  if (command.as_trace) {
    trace::interop::ChromeExportOptions options;
    options.progress = progress;
    TRY(trace::interop::export_chrome_trace(command.folder, file, options));
    return {};
  }
  trace::store::PackOptions options;
  options.progress = progress;
  TRY(trace::store::pack_run(command.folder, file, options));
  return {};
}

// Of a packed run without its own ending.
std::string file_name_of(const ui::state::ExportRun& command) {
  const std::filesystem::path name = std::filesystem::path(command.folder).filename();
  const bool is_packed = name.extension() == trace::store::kPackedSuffix;
  return (is_packed ? name.stem() : name).string() +
         (command.as_trace ? ".json.gz" : std::string(trace::store::kPackedSuffix));
}

}  // namespace

void RunExport::work(const ui::state::ExportRun& command, const Wanted& wanted) {
  const std::string name = std::filesystem::path(command.folder).filename().string();
  const auto file = free_file_name(save_dir_, file_name_of(command));
  int shown = -1;
  const auto written = write_run(command, file, [&](double part) {
    const int percent = static_cast<int>(std::floor(part * 100));
    if (percent != std::exchange(shown, percent)) {
      notice_.say("Exporting " + name + ": " + std::to_string(percent) + " %");
    }
    return wanted();
  });
  if (!wanted()) return;
  {
    const std::lock_guard lock(mutex_);
    written_.clear();
  }
  notice_.say(written ? "Saved " + std::filesystem::absolute(file).lexically_normal().string()
                      : written.error().message,
              !written);
}

}  // namespace shardlens::app::session
