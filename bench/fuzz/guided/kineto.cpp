// Traces of one or two ranks, imported, verified, predicted from.
//   guided_kineto FOLDER -max_len=40000 -max_total_time=600
#include <unistd.h>

#include <string_view>

#include "bench/fuzz/fuzz_files.h"
#include "bench/fuzz/guided/guided_fuzz.h"
#include "bench/fuzz/kineto_samples.h"
#include "bench/fuzz/subjects.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

// Between the traces of an input.
constexpr std::string_view kNextRank = "\n=====\n";

std::vector<std::string> traces_of(std::string_view input) {
  const std::size_t at = input.find(kNextRank);
  std::vector<std::string> traces{std::string(input.substr(0, at))};
  if (at != std::string_view::npos) traces.emplace_back(input.substr(at + kNextRank.size()));
  return traces;
}

std::string input_of(const std::vector<std::string>& traces) {
  return traces.size() == 1 ? traces[0] : traces[0] + std::string(kNextRank) + traces[1];
}

std::string change_a_trace(Mutation& mutation, const std::string& input) {
  auto traces = traces_of(input);
  std::string& trace = traces[mutation.below(traces.size())];
  trace = mutation.json(std::move(trace));
  return input_of(traces);
}

}  // namespace
}  // namespace shardlens::bench

using namespace shardlens::bench;

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  std::vector<std::string> samples;
  for (const bool on_gpu : {false, true}) {
    for (const KinetoProgram program : kKinetoPrograms) {
      samples.push_back(kineto_sample(program, 0, on_gpu));
      samples.push_back(input_of({samples.back(), kineto_sample(program, 1, on_gpu)}));
    }
  }
  begin_with(*argc, *argv, samples);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  return mutate(data, size, most, seed, change_a_trace);
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const fs::path folder = fs::temp_directory_path() / ("guided_kineto" + std::to_string(getpid()));
  fs::create_directories(folder / "scratch");
  std::vector<fs::path> files;
  for (const std::string& trace : traces_of({reinterpret_cast<const char*>(data), size})) {
    files.push_back(folder / ("rank" + std::to_string(files.size()) + ".json"));
    write_text_file(files.back(), trace);
  }
  Findings findings;
  read_kineto(files, folder / "scratch", findings);
  fs::remove_all(folder);
  stop_at(findings);
  return 0;
}
