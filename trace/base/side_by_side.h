// Work on many things by several threads. Any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <system_error>
#include <thread>
#include <vector>

namespace shardlens::trace::base {

// 0: as many as there are cores.
inline int thread_count(int wanted) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  return wanted > 0 ? wanted : cores > 0 ? cores : 1;
}

// Calls work(worker, i) once for each i < count, on up to `threads` threads, this one among them:
// on fewer where the system has no more.
template <typename Work>
void for_each_side_by_side(int threads, std::size_t count, Work&& work) {
  std::atomic<std::size_t> next = 0;
  const auto run = [&](int worker) {
    for (std::size_t i = next++; i < count; i = next++) work(worker, i);
  };
  std::vector<std::jthread> others;
  for (int worker = 1; worker < threads && static_cast<std::size_t>(worker) < count; ++worker) {
    try {
      others.emplace_back(run, worker);
    } catch (const std::system_error&) {
      break;
    }
  }
  run(0);
}

}  // namespace shardlens::trace::base
