#include "trainer/checkpoint/rank_exchange.h"

#include <cstring>

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::Result;

namespace {

constexpr char kGood = '+';

// The first character says whether it is an error, and of which kind.
std::string packed(const Result<std::string>& mine) {
  if (mine) return kGood + *mine;
  return static_cast<char>('a' + static_cast<int>(mine.error().kind)) + mine.error().message;
}

std::vector<std::string> gathered(comm::Communicator& communicator, const std::string& mine,
                                  const comm::CollectiveTag& tag) {
  const auto options = torch::TensorOptions().device(communicator.device());
  const std::int64_t ranks = communicator.world_size();
  const auto my_length = torch::tensor({std::ssize(mine)}).to(communicator.device());
  auto all_lengths = torch::empty({ranks}, options.dtype(torch::kInt64));
  communicator.all_gather(all_lengths, my_length, tag)->wait();
  const auto lengths = all_lengths.cpu();
  const std::int64_t longest = lengths.max().item<std::int64_t>();
  auto text = torch::zeros({longest}, torch::kUInt8);
  std::memcpy(text.data_ptr(), mine.data(), mine.size());
  auto all_texts = torch::empty({ranks * longest}, options.dtype(torch::kUInt8));
  communicator.all_gather(all_texts, text.to(communicator.device()), tag)->wait();
  const auto texts = all_texts.cpu();
  const auto* const bytes = static_cast<const char*>(texts.const_data_ptr());
  std::vector<std::string> result;
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    result.emplace_back(bytes + rank * longest,
                        static_cast<std::size_t>(lengths[rank].item<std::int64_t>()));
  }
  return result;
}

}  // namespace

Result<std::vector<std::string>> exchange(comm::Communicator& communicator,
                                          const Result<std::string>& mine, const std::string& tag) {
  std::vector<std::string> texts = gathered(communicator, packed(mine), comm::named_tag(tag));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const char mark = texts[rank].front();
    texts[rank].erase(0, 1);
    if (mark == kGood) continue;
    const std::string who = texts.size() > 1 ? "rank " + std::to_string(rank) + ": " : "";
    return trace::base::fail(static_cast<ErrorKind>(mark - 'a'), who + texts[rank]);
  }
  return texts;
}

Result<void> agree(comm::Communicator& communicator, const Result<void>& mine,
                   const std::string& tag) {
  TRY(exchange(communicator, mine.map([] { return std::string(); }), tag));
  return {};
}

}  // namespace shardlens::trainer::checkpoint
