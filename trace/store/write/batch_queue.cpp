#include "trace/store/write/batch_queue.h"

#include <iterator>
#include <utility>

#include "trace/store/table/row_fields.h"

namespace shardlens::trace::store {

namespace {
// Some 200 MB: reached only if the disk stands still for minutes.
constexpr std::int64_t kMostRows = 1'000'000;
}  // namespace

std::int64_t count_rows(const model::Batch& batch) {
  std::size_t rows = 0;
  for_each_row_list([&](auto list) { rows += (batch.*list).size(); });
  return static_cast<std::int64_t>(rows);
}

model::UnwrittenRecords count_by_kind(const model::Batch& batch) {
  const auto count = [](const auto& rows) { return static_cast<std::int64_t>(rows.size()); };
  model::UnwrittenRecords records;
  records.steps = count(batch.steps);
  records.spans = count(batch.spans);
  records.events = count_events(batch) + count(batch.collectives);
  records.others = count_rows(batch) - records.steps - records.spans - count(batch.collectives) -
                   count(batch.lost);
  return records;
}

void append(model::Batch& to, model::Batch&& from) {
  const auto move_all = [](auto& target, auto& source) {
    target.insert(target.end(), std::make_move_iterator(source.begin()),
                  std::make_move_iterator(source.end()));
  };
  for_each_row_list([&](auto list) { move_all(to.*list, from.*list); });
  move_all(to.events, from.events);
  if (from.pending) to.pending = std::move(from.pending);
  if (from.heartbeat) to.heartbeat = from.heartbeat;
  if (from.cost) to.cost = from.cost;
  if (from.rank_info) to.rank_info = std::move(from.rank_info);
}

std::int64_t BatchQueue::push(model::Batch&& batch) {
  const std::lock_guard lock(mutex_);
  if (closed_) return count_rows(batch) + count_events(batch);
  std::int64_t dropped = 0;
  const bool full = batches_.size() >= capacity_;
  if (full) {
    dropped += count_events(batch);
    batch.events.clear();
    if (rows_ + count_rows(batch) > kMostRows) {
      dropped += count_rows(batch);
      return dropped;
    }
  }
  rows_ += count_rows(batch);
  if (full) {
    append(batches_.back(), std::move(batch));
  } else {
    batches_.push_back(std::move(batch));
  }
  if (batches_.size() >= (capacity_ + 1) / 2) changed_.notify_one();
  return dropped;
}

std::vector<model::Batch> BatchQueue::take(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline,
                      [&] { return closed_ || batches_.size() >= (capacity_ + 1) / 2; });
  rows_ = 0;
  return std::exchange(batches_, {});
}

void BatchQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  changed_.notify_one();
}

bool BatchQueue::closed() const {
  const std::lock_guard lock(mutex_);
  return closed_;
}

}  // namespace shardlens::trace::store
