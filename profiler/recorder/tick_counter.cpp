#include "profiler/recorder/tick_counter.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace shardlens::profiler::recorder {

bool tick_counter_is_steady() {
#if defined(__x86_64__)
  static const bool is_steady = [] {
    unsigned a = 0, b = 0, c = 0, d = 0;
    constexpr unsigned kPowerManagement = 0x8000'0007, kInvariantCounter = 1u << 8;
    return __get_cpuid(kPowerManagement, &a, &b, &c, &d) != 0 && (d & kInvariantCounter) != 0;
  }();
  return is_steady;
#else
  return false;
#endif
}

}  // namespace shardlens::profiler::recorder
