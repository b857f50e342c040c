#include "app/session/files/run_packing.h"

#include <cmath>
#include <utility>

#include "app/session/files/text_file.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::session {

RunPacking::RunPacking(std::filesystem::path save_dir, std::function<void()> on_publish)
    : save_dir_(std::move(save_dir)),
      on_publish_(std::move(on_publish)),
      worker_([this](const auto& run, const auto& wanted) { work(run, wanted); }) {}

void RunPacking::pack(const std::filesystem::path& run) {
  if (!worker_.is_idle())
    return publish("Another run is being packed. Try again in a moment", true);
  worker_.ask(run);
}

PackingState RunPacking::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void RunPacking::publish(const std::string& notice, bool is_error) {
  {
    const std::lock_guard lock(mutex_);
    state_ = {notice, is_error, state_.version + 1};
  }
  on_publish_();
}

void RunPacking::work(const std::filesystem::path& run, const Wanted& wanted) {
  const std::string name = run.filename().string();
  const auto file = free_file_name(save_dir_, run.stem().string() + ".shardlens");
  int shown = -1;
  trace::store::PackOptions options;
  options.progress = [&](double part) {
    const int percent = static_cast<int>(std::floor(part * 100));
    if (percent != std::exchange(shown, percent)) {
      publish("Packing " + name + ": " + std::to_string(percent) + " %", false);
    }
    return wanted();
  };
  const auto packed = trace::store::pack_run(run, file, options);
  if (!wanted()) return;
  publish(packed ? "Saved " + std::filesystem::absolute(file).lexically_normal().string()
                 : packed.error().message,
          !packed);
}

}  // namespace shardlens::app::session
