#include "app/window/quit_signals.h"

#include <utility>

namespace shardlens::app::window {

QuitSignals::QuitSignals(std::function<void()> on_signal)
    : thread_([this, tell = std::move(on_signal)](const std::stop_token& stop) {
        while (!stop.stop_requested()) {
          if (!signals_.wait(std::chrono::milliseconds(300))) continue;
          arrived_ = true;
          tell();
          return;
        }
      }) {}

}  // namespace shardlens::app::window
