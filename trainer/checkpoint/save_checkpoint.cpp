#include <cmath>
#include <optional>
#include <utility>

#include "trace/base/checksum.h"
#include "trace/base/file_system.h"
#include "trace/base/wall_clock.h"
#include "trainer/checkpoint/checkpoint_plan.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/sharded_state.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/checkpoint/whole_folder.h"

namespace shardlens::trainer::checkpoint {

namespace fs = std::filesystem;
using trace::base::ErrorKind;
using trace::base::fail;
using trace::base::Result;

namespace {

constexpr const char* kTag = "checkpoint";

Result<PieceDescription> described(const StatePiece& piece) {
  PieceDescription description{piece.name, piece.full_sizes,      piece.begin,
                               piece.end,  piece.optimizer_steps, {}};
  for (const Slot slot : kSlots) {
    const torch::Tensor& tensor = piece.tensor(slot);
    if (!tensor.defined() && slot != Slot::kValue) continue;
    const bool fits = tensor.defined() && tensor.numel() == piece.end - piece.begin &&
                      tensor.is_contiguous() && data_type_of(tensor.scalar_type());
    if (!fits) {
      return fail(ErrorKind::kFailed, "cannot save a checkpoint: '" + piece.name +
                                          std::string(suffix_of(slot)) +
                                          "' is not a contiguous tensor of its range's size");
    }
    description.types[static_cast<std::size_t>(slot)] = data_type_of(tensor.scalar_type());
  }
  return description;
}

// One checkpoint being written, seen from one rank.
class Saving {
 public:
  Saving(const SaveOptions& options, std::span<const StatePiece> pieces,
         comm::Communicator& communicator)
      : options_(options),
        communicator_(communicator),
        work_(communicator, kTag, options.on_piece),
        rank_(static_cast<std::size_t>(communicator.rank())) {
    for (const StatePiece& piece : pieces) {
      if (piece.writes) pieces_.push_back(&piece);
    }
  }

  // Rank 0 makes the folder, all learn its name and what the others will write.
  Result<void> begin(const fs::path& checkpoints) {
    TRY_ASSIGN(const auto texts, work_.exchange(opening(checkpoints)));
    folder_ = texts.front().substr(0, texts.front().find('\n'));
    return work_.agree(plan_from(texts));
  }

  Result<void> write_tensors() {
    TRY_ASSIGN(const auto checksums, work_.exchange(written_chunks()));
    take_checksums(checksums);
    return work_.agree(write_headers());
  }

  Result<void> write_generators() {
    std::string state;
    if (options_.generator_state.defined()) {
      const auto bytes = options_.generator_state.cpu().contiguous();
      state.assign(static_cast<const char*>(bytes.const_data_ptr()), bytes.nbytes());
    }
    TRY_ASSIGN(const auto states, work_.exchange(state));
    const bool mine = rank_ == 0 && !states.front().empty();
    return work_.agree(mine ? write_random_file(states) : Result<void>());
  }

  // Rank 0 does it; the others get its result.
  Result<fs::path> publish() {
    Result<std::string> published = "";
    if (rank_ == 0) published = published_by_first();
    if (!published) abandon_folder(folder_);
    TRY_ASSIGN(const auto texts, work_.exchange(published));
    return fs::path(texts.front());
  }

  const fs::path& folder() const { return folder_; }

 private:
  Result<std::string> published_by_first() {
    TRY_ASSIGN(const fs::path finished, publish_checkpoint(folder_, info()));
    TRY(keep_last(finished.parent_path(), options_.keep_last, options_.info.step));
    return finished.string();
  }

  // The folder's path (rank 0 only) and, from the second line on, this rank's pieces.
  Result<std::string> opening(const fs::path& checkpoints) {
    std::vector<PieceDescription> descriptions;
    for (const StatePiece* piece : pieces_) {
      TRY_ASSIGN(PieceDescription description, described(*piece));
      descriptions.push_back(std::move(description));
    }
    std::string text;
    if (rank_ == 0) {
      TRY_ASSIGN(folder_, begin_checkpoint(checkpoints, options_.info.step));
      text = folder_.string();
    }
    return text + "\n" + pieces_to_text(descriptions);
  }

  Result<void> plan_from(const std::vector<std::string>& texts) {
    std::vector<std::vector<PieceDescription>> pieces_of_ranks;
    for (const std::string& text : texts) {
      TRY_ASSIGN(auto pieces, pieces_from_text(text.substr(text.find('\n') + 1)));
      pieces_of_ranks.push_back(std::move(pieces));
    }
    TRY_ASSIGN(plan_, plan_checkpoint(pieces_of_ranks, options_.info.format == "sharded"));
    return {};
  }

  // Writes this rank's chunks of all files; returns their checksums in the plan's order.
  Result<std::string> written_chunks() {
    std::string checksums;
    for (const PlannedFile& file : plan_.files) {
      SafetensorsWriter out(folder_ / file.name, file);
      for (const PlannedChunk& chunk : file.chunks) {
        if (chunk.rank != rank_) continue;
        const auto values =
            pieces_[chunk.piece]
                ->tensor(chunk.slot)
                .detach()
                .view({-1})
                .slice(0, chunk.piece_begin, chunk.piece_begin + chunk.end - chunk.begin)
                .cpu();
        const auto bytes = bytes_of_tensor(values);
        TRY(out.write(file.tensors[chunk.tensor], chunk.begin, bytes));
        checksums += trace::base::checksum_text(trace::base::checksum_of(bytes));
        work_.piece_done();
      }
      TRY(out.synchronize());
      work_.piece_done();
    }
    return checksums;
  }

  void take_checksums(const std::vector<std::string>& checksums) {
    constexpr std::size_t kDigits = 16;
    std::vector<std::size_t> at(checksums.size(), 0);
    for (PlannedFile& file : plan_.files) {
      for (PlannedChunk& chunk : file.chunks) {
        const std::string text = checksums[chunk.rank].substr(at[chunk.rank], kDigits);
        chunk.checksum = trace::base::checksum_from_text(text).value_or(0);
        at[chunk.rank] += kDigits;
      }
      file.encode();
    }
  }

  // Last, so that a file without all its tensors has no header.
  Result<void> write_headers() {
    for (const PlannedFile& file : plan_.files) {
      if (file.owner != rank_) continue;
      TRY(SafetensorsWriter(folder_ / file.name, file).write_header());
      work_.piece_done();
    }
    return {};
  }

  Result<void> write_random_file(const std::vector<std::string>& states) {
    std::vector<TensorBytes> tensors;
    Metadata metadata = {{"written_by", "shardlens"}};
    for (std::size_t rank = 0; rank < states.size(); ++rank) {
      const auto bytes = std::as_bytes(std::span(states[rank]));
      const std::string name = "rank_" + std::to_string(rank);
      if (bytes.empty()) {
        return fail(ErrorKind::kFailed, "cannot save a checkpoint: " + name + " has no generator");
      }
      tensors.push_back({{name, DataType::kU8, {std::ssize(bytes)}}, bytes});
      const ChecksumRange whole{0, std::ssize(bytes), trace::base::checksum_of(bytes)};
      metadata[std::string(kChecksumsKey) + name] = checksums_to_text(std::span(&whole, 1));
    }
    TRY_ASSIGN(random_, write_safetensors(folder_ / kRandomFile, tensors, std::move(metadata)));
    return {};
  }

  trace::job::CheckpointInfo info() const {
    trace::job::CheckpointInfo info = options_.info;
    info.world_size = communicator_.world_size();
    info.optimizer_steps = std::llround(plan_.optimizer_steps);
    info.saved_ns = trace::base::wall_clock_ns();
    info.parameters = plan_.parameters;
    info.files.clear();
    const auto add = [&info](const FileLayout& file) {
      info.files.push_back({file.name, file.bytes(), std::ssize(file.header),
                            trace::base::checksum_of(file.header)});
    };
    for (const PlannedFile& file : plan_.files) add(file);
    if (random_) add(*random_);
    return info;
  }

  const SaveOptions& options_;
  comm::Communicator& communicator_;
  SharedWork work_;
  const std::size_t rank_;
  std::vector<const StatePiece*> pieces_;  // those that this rank writes
  fs::path folder_;
  CheckpointPlan plan_;
  std::optional<FileLayout> random_;
};

Result<void> written(Saving& saving, const fs::path& checkpoints) {
  TRY(saving.begin(checkpoints));
  TRY(saving.write_tensors());
  return saving.write_generators();
}

}  // namespace

Result<fs::path> save_checkpoint(const fs::path& checkpoints, const SaveOptions& options,
                                 std::span<const StatePiece> pieces,
                                 comm::Communicator& communicator) {
  Saving saving(options, pieces, communicator);
  // A failure of one rank is known to all at the end of each stage, so that nobody writes any more.
  const auto done = written(saving, checkpoints);
  if (done) return saving.publish();
  if (communicator.rank() == 0 && !saving.folder().empty()) abandon_folder(saving.folder());
  return tl::make_unexpected(done.error());
}

}  // namespace shardlens::trainer::checkpoint
