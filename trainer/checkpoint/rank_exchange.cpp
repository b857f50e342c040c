#include "trainer/checkpoint/rank_exchange.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace shardlens::trainer::checkpoint {

using trace::base::ErrorKind;
using trace::base::Result;

namespace {

using std::chrono::steady_clock;

constexpr char kGood = '+';
// In place of a text's length: the text comes later.
constexpr std::int64_t kAtWork = -1;
// Rare enough to cost nothing, and often enough for collectives that may last only a second.
constexpr std::chrono::seconds kLongestInterval{10};
constexpr int kTellingsPerTimeout = 8;

// The first character says whether it is an error, and of which kind.
std::string packed(const Result<std::string>& mine) {
  if (mine) return kGood + *mine;
  return static_cast<char>('a' + static_cast<int>(mine.error().kind)) + mine.error().message;
}

std::vector<std::string> gathered(comm::Communicator& communicator, const std::string& mine,
                                  const std::vector<std::int64_t>& lengths,
                                  const comm::CollectiveTag& tag) {
  const auto options = torch::TensorOptions().device(communicator.device());
  const std::int64_t ranks = communicator.world_size();
  const std::int64_t longest = std::ranges::max(lengths);
  auto text = torch::zeros({longest}, torch::kUInt8);
  std::memcpy(text.data_ptr(), mine.data(), mine.size());
  auto all_texts = torch::empty({ranks * longest}, options.dtype(torch::kUInt8));
  communicator.all_gather(all_texts, text.to(communicator.device()), tag)->wait();
  const auto texts = all_texts.cpu();
  const auto* const bytes = static_cast<const char*>(texts.const_data_ptr());
  std::vector<std::string> result;
  for (const std::int64_t length : lengths) {
    result.emplace_back(bytes + std::ssize(result) * longest, static_cast<std::size_t>(length));
  }
  return result;
}

}  // namespace

SharedWork::SharedWork(comm::Communicator& communicator, std::string tag,
                       std::function<void()> on_progress)
    : communicator_(communicator),
      tag_(std::move(tag)),
      on_progress_(std::move(on_progress)),
      interval_(std::min<steady_clock::duration>(
          kLongestInterval, steady_clock::duration(communicator.timeout()) / kTellingsPerTimeout)),
      next_telling_(steady_clock::now() + interval_) {}

// Returns what each rank told.
std::vector<std::int64_t> SharedWork::tell(std::int64_t length) {
  const std::int64_t ranks = communicator_.world_size();
  const auto options = torch::TensorOptions().device(communicator_.device());
  const auto mine = torch::tensor({length}).to(communicator_.device());
  auto all = torch::empty({ranks}, options.dtype(torch::kInt64));
  communicator_.all_gather(all, mine, comm::named_tag(tag_))->wait();
  const auto lengths = all.cpu();
  next_telling_ = steady_clock::now() + interval_;
  if (on_progress_) on_progress_();
  const auto* const first = lengths.const_data_ptr<std::int64_t>();
  return {first, first + lengths.numel()};
}

void SharedWork::piece_done() {
  if (on_progress_) on_progress_();
  if (communicator_.world_size() > 1 && steady_clock::now() >= next_telling_) tell(kAtWork);
}

Result<std::vector<std::string>> SharedWork::exchange(const Result<std::string>& mine) {
  const std::string text = packed(mine);
  std::vector<std::int64_t> lengths;
  do {
    lengths = tell(std::ssize(text));
  } while (std::ranges::find(lengths, kAtWork) != lengths.end());
  std::vector<std::string> texts = gathered(communicator_, text, lengths, comm::named_tag(tag_));
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const char mark = texts[rank].front();
    texts[rank].erase(0, 1);
    if (mark == kGood) continue;
    const std::string who = texts.size() > 1 ? "rank " + std::to_string(rank) + ": " : "";
    return trace::base::fail(static_cast<ErrorKind>(mark - 'a'), who + texts[rank]);
  }
  return texts;
}

Result<void> SharedWork::agree(const Result<void>& mine) {
  TRY(exchange(mine.map([] { return std::string(); })));
  return {};
}

}  // namespace shardlens::trainer::checkpoint
