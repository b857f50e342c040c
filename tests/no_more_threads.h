// A system that has no thread to give, as at RLIMIT_NPROC, from which root is exempt. For tests.
#pragma once

#include <pthread.h>

#include <cstddef>

namespace shardlens::trace::test {

// While it lives, no thread can be started: each would have a stack as large as all addresses.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_getattr_default_np(&before_);
    pthread_attr_t huge;
    pthread_getattr_default_np(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 47);
    pthread_setattr_default_np(&huge);
    pthread_attr_destroy(&huge);
  }
  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }
  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace shardlens::trace::test
