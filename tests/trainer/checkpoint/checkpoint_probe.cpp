// Saves checkpoints for tests that look at them from outside.
//   checkpoint_probe save CHECKPOINTS FORMAT      one of step 20, from two ranks
//   checkpoint_probe forever CHECKPOINTS FORMAT   step after step, each other values, until it is
//   killed
#include <iostream>
#include <string>

#include "tests/trainer/checkpoint/sample_state.h"
#include "tests/trainer/comm/rank_threads.h"

namespace shardlens::trainer::checkpoint {
namespace {

bool save(const std::string& folder, const std::string& format, int step, int version,
          comm::Communicator& communicator) {
  SaveOptions options = test::sample_options(step, format);
  options.keep_last = 2;
  const auto pieces = test::sample_pieces(communicator.rank(), communicator.world_size(), version);
  const auto saved = save_checkpoint(folder, options, pieces, communicator);
  if (!saved) std::cerr << saved.error().message << "\n";
  return saved.has_value();
}

int run(const std::string& mode, const std::string& folder, const std::string& format) {
  bool good = true;
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    if (mode == "save") good = save(folder, format, 20, 0, communicator);
    for (int step = 1; mode == "forever" && good; ++step) {
      good = save(folder, format, step, step, communicator);
      if (communicator.rank() == 0) std::cout << step << std::endl;
    }
  });
  return good ? 0 : 1;
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  return shardlens::trainer::checkpoint::run(argv[1], argv[2], argv[3]);
}
