#include "bench/fuzz/guided/guided_fuzz.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/fuzz/fuzz_files.h"

namespace shardlens::bench {

void stop_at(const Findings& findings) {
  if (findings.problem().empty()) return;
  std::fprintf(stderr, "found: %s\n", findings.problem().c_str());
  std::abort();
}

void begin_with(int argc, char** argv, const std::vector<std::string>& samples) {
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path folder = argv[i];
    if (!std::filesystem::is_directory(folder)) continue;
    if (!std::filesystem::is_empty(folder)) return;
    for (std::size_t each = 0; each < samples.size(); ++each) {
      write_text_file(folder / ("sample" + std::to_string(each)), samples[each]);
    }
    return;
  }
}

std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                   const std::function<std::string(Mutation&, std::string)>& change) {
  constexpr std::uint64_t kOwnShare = 4;
  Mutation mutation(seed);
  if (mutation.one_in(kOwnShare)) return LLVMFuzzerMutate(data, size, most);
  const auto* const text = reinterpret_cast<const char*>(data);
  const std::string changed = change(mutation, std::string(text, size));
  const std::size_t kept = std::min(changed.size(), most);
  std::copy_n(changed.begin(), kept, data);
  return kept;
}

}  // namespace shardlens::bench
