// Waiting for what another thread does. Test threads only.
#pragma once

#include <chrono>
#include <thread>

namespace shardlens::app::session {

// True as soon as `condition()` holds; false after ten seconds.
template <typename Condition>
bool eventually(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

}  // namespace shardlens::app::session
