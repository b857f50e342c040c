#include "tests/fake_gpu/cupti/counters.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace shardlens::fake_gpu {
namespace {

// Null where no file is asked for or none can be had.
Counters* map_file() {
  const char* name = std::getenv("FAKE_GPU_COUNTERS");
  if (name == nullptr) return nullptr;
  const char* rank = std::getenv("RANK");
  const std::string path = std::string(name) + "." + (rank == nullptr ? "0" : rank);
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  if (ftruncate(file, sizeof(Counters)) == 0)
    mapped = mmap(nullptr, sizeof(Counters), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<Counters*>(mapped);
}

}  // namespace

Counters& counters() {
  static Counters* instance = [] {
    Counters* mapped = map_file();
    return mapped != nullptr ? mapped : new Counters{};
  }();
  return *instance;
}

}  // namespace shardlens::fake_gpu
