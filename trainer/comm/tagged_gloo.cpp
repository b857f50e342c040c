#include "trainer/comm/tagged_gloo.h"

#include <vector>

namespace shardlens::trainer::comm {

void TaggedGloo::gather_in_place(const torch::Tensor& output, const torch::Tensor& input) {
  const torch::Tensor flat = output.view({-1});
  const torch::Tensor mine = input.view({-1});
  const auto part_of = [&](int rank) { return flat.narrow(0, rank * mine.numel(), mine.numel()); };
  const int tag = static_cast<int>(nextTag() & 0x7fffffffu);
  std::vector<c10::intrusive_ptr<c10d::Work>> works;
  const auto start = [&](auto action) {
    for (int other = 0; other < getSize(); ++other) {
      if (other != getRank()) works.push_back(action(other));
    }
  };
  start([&](int other) {
    std::vector<torch::Tensor> part{part_of(other)};
    return recv(part, other, tag);
  });
  start([&](int other) {
    std::vector<torch::Tensor> part{mine};
    return send(part, other, tag);
  });
  part_of(getRank()).copy_(mine);
  for (const auto& work : works) work->wait(getOptions()->timeout);
}

}  // namespace shardlens::trainer::comm
