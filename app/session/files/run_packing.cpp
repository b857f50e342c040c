#include "app/session/files/run_packing.h"

#include <cmath>
#include <utility>

#include "app/session/files/text_file.h"
#include "trace/store/upkeep/pack.h"

namespace shardlens::app::session {

RunPacking::RunPacking(std::filesystem::path save_dir, Notice& notice)
    : save_dir_(std::move(save_dir)),
      notice_(notice),
      worker_([this](const auto& run, const auto& wanted) { work(run, wanted); }) {}

void RunPacking::pack(const std::filesystem::path& run) {
  {
    const std::lock_guard lock(mutex_);
    if (packed_.empty()) {
      packed_ = run.filename().string();
      return worker_.ask(run);
    }
  }
  notice_.say_why_not("Another run is being packed. Try again in a moment");
}

std::string RunPacking::under_way() const {
  const std::lock_guard lock(mutex_);
  return packed_.empty() ? "" : "the packing of " + packed_;
}

void RunPacking::work(const std::filesystem::path& run, const Wanted& wanted) {
  const std::string name = run.filename().string();
  const auto file = free_file_name(save_dir_, name + ".shardlens");
  int shown = -1;
  trace::store::PackOptions options;
  options.progress = [&](double part) {
    const int percent = static_cast<int>(std::floor(part * 100));
    if (percent != std::exchange(shown, percent)) {
      notice_.say("Packing " + name + ": " + std::to_string(percent) + " %");
    }
    return wanted();
  };
  const auto packed = trace::store::pack_run(run, file, options);
  if (!wanted()) return;
  {
    const std::lock_guard lock(mutex_);
    packed_.clear();
  }
  notice_.say(packed ? "Saved " + std::filesystem::absolute(file).lexically_normal().string()
                     : packed.error().message,
              !packed);
}

}  // namespace shardlens::app::session
