#include "trainer/lora/base_fingerprint.h"

#include <algorithm>
#include <cstdint>

#include "trace/base/checksum.h"
#include "trainer/lora/adapters.h"

namespace shardlens::trainer::lora {

namespace {

constexpr std::int64_t kElementsAtATime = std::int64_t{1} << 22;

torch::Tensor bits_of(const torch::Tensor& values) {
  switch (values.element_size()) {
    case 1:
      return values.view(torch::kInt8);
    case 2:
      return values.view(torch::kInt16);
    default:
      return values.view(torch::kInt32);
  }
}

// The sum of bits times an odd number that tells the position, modulo 2^64: sums of ranges add up
// to that of the whole, wherever it is cut.
torch::Tensor checksum_of(const strategy::LocalParameter& part) {
  const torch::Tensor bits = bits_of(part.value.detach().contiguous().flatten());
  torch::Tensor sum = torch::zeros({1}, bits.options().dtype(torch::kInt64));
  for (std::int64_t first = 0; first < bits.numel(); first += kElementsAtATime) {
    const std::int64_t count = std::min(kElementsAtATime, bits.numel() - first);
    const std::int64_t position = part.begin + first;
    const torch::Tensor odd =
        torch::arange(position, position + count, sum.options()).mul_(2).add_(1);
    sum += odd.mul_(bits.narrow(0, first, count)).sum();
  }
  return sum.mul_(static_cast<std::int64_t>(stable_hash(part.name, 0) | 1));
}

}  // namespace

std::string base_fingerprint(std::span<const strategy::LocalParameter> parameters,
                             comm::Communicator& communicator) {
  const torch::NoGradGuard no_grad;
  torch::Tensor sum = torch::zeros({1}, torch::dtype(torch::kInt64).device(communicator.device()));
  for (const strategy::LocalParameter& part : parameters) {
    if (part.is_frozen && part.is_primary) sum += checksum_of(part).to(sum.device());
  }
  if (communicator.world_size() > 1) {
    communicator.all_reduce(sum, comm::named_tag("base fingerprint"))->wait();
  }
  return trace::base::checksum_text(static_cast<std::uint64_t>(sum.item<std::int64_t>()));
}

}  // namespace shardlens::trainer::lora
