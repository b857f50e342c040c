#include "profiler/inject/nccl_log.h"

#include <string>

namespace shardlens::profiler::inject {

std::filesystem::path nccl_log_file(std::string_view pattern, std::string_view host, int process) {
  std::string file;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char mark = pattern[i] == '%' && i + 1 < pattern.size() ? pattern[++i] : '\0';
    switch (mark) {
      case '\0':
        file += pattern[i];
        break;
      case '%':
        file += '%';
        break;
      case 'h':
        file += host.substr(0, host.find('.'));
        break;
      case 'p':
        file += std::to_string(process);
        break;
      default:
        file += {'%', mark};
    }
  }
  return file;
}

}  // namespace shardlens::profiler::inject
