#include "trace/store/write/row_writer.h"

#include <algorithm>

#include "trace/store/chunk/chunk_codec.h"
#include "trace/store/chunk/event_order.h"
#include "trace/store/run/trace_file.h"
#include "trace/store/table/schema.h"

namespace shardlens::trace::store {

namespace {

constexpr auto kStartsEarlier = [](const model::Event& a, const model::Event& b) {
  return a.start_ns < b.start_ns;
};

}  // namespace

base::Result<RowWriter> RowWriter::create_file(const std::filesystem::path& file, int rank,
                                               std::int64_t created_ns) {
  TRY(create_trace_file(file, [&](Database& database) {
    const std::string id = std::to_string(first_row_id(rank) + 1);
    return database.execute("insert into meta values(" + id + "," + std::to_string(rank) +
                            ",'created_ns','" + std::to_string(created_ns) + "')");
  }));
  TRY_ASSIGN(Database database, open_for_writing(file));
  // The first write creates the WAL before any reader can take the file for a finished one.
  TRY(database.execute("pragma journal_mode=wal; pragma synchronous=normal"));
  return create(std::move(database), rank);
}

base::Result<RowWriter> RowWriter::create(Database database, int rank) {
  RowWriter writer(std::move(database), rank);
  TRY(writer.prepare());
  return writer;
}

base::Result<void> RowWriter::prepare() {
  std::size_t next = 0;
  base::Result<void> done;
  for_each_row_list([&](auto list) {
    using Row = decltype(row_type_of(list));
    auto statement = database_.prepare(insert_sql(RowTable<Row>::kName));
    if (statement) {
      statement->tell_rows(*added_, RowTable<Row>::kName);
      inserts_[next++] = std::move(*statement);
    } else if (done) {
      done = tl::make_unexpected(statement.error());
    }
  });
  TRY(done);
  TRY_ASSIGN(bucket_parameter_, database_.prepare(insert_sql(RowTable<BucketParameter>::kName)));
  TRY_ASSIGN(pending_, database_.prepare(insert_sql(RowTable<model::PendingCollective>::kName)));
  TRY_ASSIGN(chunk_, database_.prepare(insert_sql("chunk")));
  TRY_ASSIGN(batch_, database_.prepare(insert_sql("batch")));
  bucket_parameter_.tell_rows(*added_, RowTable<BucketParameter>::kName);
  pending_.tell_rows(*replaced_, RowTable<model::PendingCollective>::kName);
  TRY_ASSIGN(chain_, first_of_chain(database_, rank_));
  marks_.fill(first_row_id(rank_));
  committed_marks_ = marks_;
  last_batch_ = first_row_id(rank_);
  return {};
}

base::Result<void> RowWriter::begin() { return database_.execute("begin immediate"); }

void RowWriter::roll_back() {
  if (sqlite3_get_autocommit(database_.get()) == 0) {
    // Fails only where SQLite has rolled back by itself.
    static_cast<void>(database_.execute("rollback"));
  }
  marks_ = committed_marks_;
  present_ = committed_present_;
  static_cast<void>(added_->take());
  buffered_.clear();
}

template <typename Row>
base::Result<void> RowWriter::insert(Statement& statement, std::int64_t& last_row_id,
                                     const Row& row) {
  statement.bind(1, ++last_row_id);
  RowBinder binder(statement, strings_, 2);
  row_fields(binder, row);
  return statement.run();
}

template <typename Row>
base::Result<void> RowWriter::replace(const Row& row, PresentRow which) {
  TRY_ASSIGN(auto statement, database_.prepare(insert_sql(RowTable<Row>::kName, true)));
  statement.tell_rows(*replaced_, RowTable<Row>::kName);
  RowBinder binder(statement, strings_, 1);
  row_fields(binder, row);
  TRY(statement.run());
  present_[static_cast<std::size_t>(which)] = replaced_->take();
  return {};
}

base::Result<void> RowWriter::write(const model::Batch& batch) {
  for (const model::InternedString& string : batch.strings) strings_.add(string.id, string.text);
  std::size_t next = 0;
  base::Result<void> done;
  for_each_row_list([&](auto list) {
    const std::size_t table = next++;
    for (const auto& row : batch.*list) {
      if (!done) return;
      done = insert(inserts_[table], marks_[table], row);
    }
  });
  TRY(done);
  for (const model::Bucket& bucket : batch.buckets) TRY(write_bucket_parameters(bucket));
  for (const model::EventRun& run : batch.events) TRY(buffer_events(run));
  return write_present(batch);
}

base::Result<void> RowWriter::write_present(const model::Batch& batch) {
  if (batch.rank_info) TRY(replace(*batch.rank_info, PresentRow::kRank));
  if (batch.heartbeat) TRY(replace(*batch.heartbeat, PresentRow::kHeartbeat));
  if (batch.cost) TRY(replace(*batch.cost, PresentRow::kCost));
  if (batch.pending) TRY(write_pending(*batch.pending));
  return {};
}

base::Result<void> RowWriter::write_bucket_parameters(const model::Bucket& bucket) {
  for (std::size_t i = 0; i < bucket.parameters.size(); ++i) {
    const std::int64_t bytes = i < bucket.parameter_bytes.size() ? bucket.parameter_bytes[i] : 0;
    const BucketParameter row{bucket.rank,         bucket.plan,          bucket.index,
                              static_cast<int>(i), bucket.parameters[i], bytes};
    TRY(insert(bucket_parameter_, marks_[kBucketParameterMark], row));
  }
  return {};
}

base::Result<void> RowWriter::write_pending(const std::vector<model::PendingCollective>& pending) {
  TRY(database_.execute("delete from pending"));
  std::int64_t last = first_row_id(rank_);
  for (const model::PendingCollective& row : pending) TRY(insert(pending_, last, row));
  present_[static_cast<std::size_t>(PresentRow::kPending)] = replaced_->take();
  return {};
}

base::Result<void> RowWriter::buffer_events(const model::EventRun& run) {
  const Lane lane{run.lane, run.kind};
  auto& events = buffered_[lane];
  // What fills chunks by itself is not copied.
  if (events.empty() && run.events.size() >= kChunkEvents &&
      std::ranges::is_sorted(run.events, kStartsEarlier)) {
    return write_chunks(lane, run.events);
  }
  events.insert(events.end(), run.events.begin(), run.events.end());
  if (events.size() < kChunkEvents) return {};
  return flush(lane, events);
}

base::Result<void> RowWriter::flush(const Lane& lane, std::vector<model::Event>& events) {
  order_events(events, kStartsEarlier);
  TRY(write_chunks(lane, events));
  events.clear();
  return {};
}

base::Result<void> RowWriter::write_chunks(const Lane& lane, std::span<const model::Event> events) {
  // Equal pieces: a small rest would compress badly.
  const std::size_t pieces = (events.size() + 2 * kChunkEvents - 1) / (2 * kChunkEvents);
  const std::size_t count = events.size();
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t from = i * count / pieces;
    const std::size_t to = (i + 1) * count / pieces;
    TRY(write_chunk(lane, events.subspan(from, to - from)));
  }
  return {};
}

base::Result<void> RowWriter::write_chunk(const Lane& lane, std::span<const model::Event> events) {
  const Chunk chunk = encode_chunk(events, packer_);
  chunk_.bind(1, ++marks_[kChunkMark]);
  chunk_.bind(2, std::int64_t{rank_});
  chunk_.bind(3, std::int64_t{lane.first});
  chunk_.bind_text(4, model::to_string(lane.second));
  chunk_.bind(5, chunk.header.first_ns);
  chunk_.bind(6, chunk.header.last_ns);
  chunk_.bind(7, chunk.header.count);
  chunk_.bind(8, std::int64_t{chunk.header.codec});
  chunk_.bind(9, chunk.header.checksum);
  chunk_.bind_blob(10, chunk.data);
  TRY(chunk_.run());
  added_->add_integer(marks_[kChunkMark]);
  added_->add_integer(rank_);
  added_->add_integer(lane.first);
  added_->add_text(model::to_string(lane.second));
  added_->add_integer(chunk.header.checksum);
  added_->end_row(RowDigest::number_of("chunk"));
  return {};
}

base::Result<void> RowWriter::commit(std::int64_t now_ns) {
  for (auto& [lane, events] : buffered_) {
    if (!events.empty()) TRY(flush(lane, events));
  }
  // The clock may be set back; commits stay in order.
  now_ns = std::max(now_ns, last_commit_ns_ + 1);
  TRY_ASSIGN(const std::uint64_t chain, write_batch(now_ns));
  TRY(database_.execute("commit"));
  committed_marks_ = marks_;
  committed_present_ = present_;
  chain_ = chain;
  last_commit_ns_ = now_ns;
  ++last_batch_;
  return {};
}

// The row of a commit, with which its transaction ends. Returns its checksum.
base::Result<std::uint64_t> RowWriter::write_batch(std::int64_t now_ns) {
  std::vector<std::int64_t> values{last_batch_ + 1, std::int64_t{rank_}, now_ns};
  values.insert(values.end(), marks_.begin(), marks_.end());
  values.push_back(static_cast<std::int64_t>(present_checksum(present_)));
  const std::uint64_t chain = next_of_chain(chain_, added_->take(), values);
  values.push_back(static_cast<std::int64_t>(chain));
  for (std::size_t i = 0; i < values.size(); ++i) batch_.bind(static_cast<int>(i) + 1, values[i]);
  TRY(batch_.run());
  return chain;
}

}  // namespace shardlens::trace::store
