// Until ranks have met, SIGTERM and SIGINT end the process as they do by default: nothing is
// trained yet, and LibTorch waits for two minutes without asking whether it still should. Later
// they are heard at the end of a step. One at a time.
#pragma once

#include <array>
#include <atomic>
#include <csignal>

namespace shardlens::trainer::rank {

class EndsAtOnce {
 public:
  // `stop_signal`: the one that came before, or 0.
  explicit EndsAtOnce(const std::atomic<int>& stop_signal) {
    struct sigaction ends = {};
    ends.sa_handler = SIG_DFL;
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &ends, &before_[i]);
    if (const int signal = stop_signal; signal != 0) raise(signal);
  }
  ~EndsAtOnce() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;

 private:
  static constexpr std::array kSignals{SIGTERM, SIGINT};
  std::array<struct sigaction, kSignals.size()> before_{};
};

}  // namespace shardlens::trainer::rank
