#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <barrier>
#include <chrono>
#include <cstddef>
#include <fstream>
#include <ostream>
#include <string_view>
#include <thread>
#include <utility>

#include "tests/file_size_limit.h"
#include "tests/files.h"
#include "tests/trainer/checkpoint/sample_state.h"
#include "tests/trainer/comm/rank_threads.h"
#include "trace/base/file_system.h"
#include "trainer/checkpoint/rank_exchange.h"
#include "trainer/checkpoint/tensor_bytes.h"
#include "trainer/checkpoint/whole_folder.h"

namespace shardlens::trainer::checkpoint {
namespace {

namespace fs = std::filesystem;
using test::numel_of;
using test::sample_options;
using test::sample_parameters;
using test::sample_pieces;
using testing::AllOf;
using testing::HasSubstr;
using trace::base::ErrorKind;

class Checkpoints : public testing::Test {
 protected:
  fs::path folder() const { return folder_.path() / "checkpoints"; }

  // Saves from `ranks` threads; returns rank 0's result after all agreed.
  fs::path save(int ranks, const SaveOptions& options, int version = 0) const {
    std::vector<fs::path> results(static_cast<std::size_t>(ranks));
    comm::on_ranks(ranks, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
      const auto pieces = sample_pieces(communicator.rank(), ranks, version);
      const auto saved = save_checkpoint(folder(), options, pieces, communicator);
      EXPECT_TRUE(saved) << saved.error().message;
      results[static_cast<std::size_t>(communicator.rank())] = saved.value_or("");
    });
    for (const fs::path& result : results) EXPECT_EQ(result, results.front());
    return results.front();
  }
  trace::job::CheckpointInfo info_of(const fs::path& checkpoint) const {
    const auto info = trace::job::read_checkpoint_info(checkpoint);
    EXPECT_TRUE(info) << info.error().message;
    return info.value_or(trace::job::CheckpointInfo{});
  }
  // What `pieces` hold is what sample_pieces() made of them.
  void expect_loaded(const fs::path& checkpoint, int rank, int ranks, int version = 0) const {
    const std::vector<StatePiece> expected = sample_pieces(rank, ranks, version);
    std::vector<StatePiece> wanted = sample_pieces(rank, ranks, version);
    for (StatePiece& piece : wanted) {
      piece.optimizer_steps = -1;
      for (auto* tensor : {&piece.value, &piece.first_moment, &piece.second_moment}) {
        if (tensor->defined()) tensor->fill_(-1);
      }
    }
    const auto loaded = load_checkpoint(info_of(checkpoint), wanted);
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(torch::equal(wanted[i].value, expected[i].value)) << wanted[i].name;
      EXPECT_EQ(wanted[i].optimizer_steps, expected[i].optimizer_steps);
      if (!wanted[i].first_moment.defined()) continue;
      EXPECT_TRUE(torch::equal(wanted[i].first_moment, expected[i].first_moment));
      EXPECT_TRUE(torch::equal(wanted[i].second_moment, expected[i].second_moment));
    }
  }
  std::string load_error(const fs::path& checkpoint, std::vector<StatePiece> wanted) const {
    const auto loaded = load_checkpoint(info_of(checkpoint), wanted);
    return loaded ? "loaded" : loaded.error().message;
  }
  std::vector<std::string> names() const { return trace::test::names_in(folder()); }

 private:
  trace::base::TemporaryFolder folder_ = std::move(*trace::base::TemporaryFolder::create());
};

void flip_byte(const fs::path& file, std::int64_t from_end) {
  trace::test::flip(file, fs::file_size(file) - static_cast<std::uintmax_t>(from_end));
}

struct Resharding {
  int saved, loaded;
  const char* format;
};
void PrintTo(const Resharding& change, std::ostream* out) {
  *out << change.saved << " to " << change.loaded << ", " << change.format;
}
class Resharded : public Checkpoints, public testing::WithParamInterface<Resharding> {};

TEST_P(Resharded, GivesEachRankItsRangesOfWhateverWasSaved) {
  const auto [saved, loaded, format] = GetParam();
  const fs::path checkpoint = save(saved, sample_options(20, format));
  for (int rank = 0; rank < loaded; ++rank) expect_loaded(checkpoint, rank, loaded);
  const trace::job::CheckpointInfo info = info_of(checkpoint);
  EXPECT_EQ(info.world_size, saved);
  EXPECT_EQ(info.optimizer_steps, 5);
  EXPECT_EQ(info.parameters.size(), sample_parameters().size());
  EXPECT_EQ(info.files.size(), format == std::string("full") ? 2u : 2u * unsigned(saved));
}

INSTANTIATE_TEST_SUITE_P(Checkpoints, Resharded,
                         testing::Values(Resharding{1, 1, "full"}, Resharding{1, 1, "sharded"},
                                         Resharding{2, 2, "full"}, Resharding{2, 2, "sharded"},
                                         Resharding{2, 1, "sharded"}, Resharding{1, 4, "full"},
                                         Resharding{1, 4, "sharded"}, Resharding{4, 2, "full"},
                                         Resharding{4, 2, "sharded"}, Resharding{3, 5, "sharded"}));

TEST_F(Checkpoints, SaveReplicasOnceAndAnyShapeOrDimension) {
  fs::path checkpoint;
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    std::vector<StatePiece> pieces = sample_pieces(0, 1);
    for (StatePiece& piece : pieces) {
      piece.writes = communicator.rank() == 0;
      piece.value = piece.value.view(piece.full_sizes).set_requires_grad(true);
      if (communicator.rank() == 1) piece.first_moment.reset();
    }
    const auto saved = save_checkpoint(folder(), sample_options(1, "full"), pieces, communicator);
    ASSERT_TRUE(saved) << saved.error().message;
    if (communicator.rank() == 0) checkpoint = *saved;
  });
  std::vector<StatePiece> wanted = sample_pieces(0, 1);
  for (StatePiece& piece : wanted) {
    piece.value = torch::zeros(piece.full_sizes).set_requires_grad(true);
  }
  const auto loaded = load_checkpoint(info_of(checkpoint), wanted);
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto expected = sample_pieces(0, 1);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(torch::equal(wanted[i].value.view({-1}), expected[i].value));
  }
}

TEST_F(Checkpoints, KeepEveryTypeAndTensorsLargerThanAChunk) {
  const std::int64_t numel = (std::int64_t{4} << 20) + 1001;
  const auto make = [&](bool zero) {
    std::vector<StatePiece> pieces;
    StatePiece large = test::piece_of({"large", {numel}}, 0, numel);
    large.value =
        zero ? torch::zeros({numel}) : torch::arange(numel).remainder(8191).to(torch::kFloat32);
    pieces.push_back(large);
    for (const auto type : {torch::kFloat16, torch::kBFloat16, torch::kInt64, torch::kUInt8}) {
      StatePiece piece = test::piece_of({"type " + std::to_string(int(type)), {3}}, 0, 3);
      piece.value = (zero ? torch::zeros({3}) : torch::arange(3) + 1).to(type);
      pieces.push_back(piece);
    }
    return pieces;
  };
  const auto saved_pieces = make(false);
  comm::on_ranks(1, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const auto saved =
        save_checkpoint(folder(), sample_options(1, "full"), saved_pieces, communicator);
    ASSERT_TRUE(saved) << saved.error().message;
  });
  auto wanted = make(true);
  const auto loaded = load_checkpoint(info_of(folder() / "step_000001"), wanted);
  ASSERT_TRUE(loaded) << loaded.error().message;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    EXPECT_TRUE(torch::equal(wanted[i].value, saved_pieces[i].value)) << wanted[i].name;
  }
  const auto file = SafetensorsFile::open(folder() / "step_000001" / "model.safetensors");
  const TensorEntry* const large = file->find("large");
  ASSERT_NE(large, nullptr);
  const auto stored = torch::empty(large->sizes);
  ASSERT_TRUE(file->read(*large, 0, writable_bytes_of_tensor(stored)));
  EXPECT_TRUE(torch::equal(stored, saved_pieces[0].value));
  EXPECT_EQ(file->find("small"), nullptr);
}

TEST_F(Checkpoints, RestoreTheGeneratorsOfTheSameNumberOfRanks) {
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    SaveOptions options = sample_options(1, "full");
    auto generator = at::make_generator<at::CPUGeneratorImpl>(40 + communicator.rank());
    torch::rand({7}, generator);
    options.generator_state = generator.get_state();
    const auto expected = torch::rand({5}, generator);
    const auto pieces = sample_pieces(communicator.rank(), 2);
    const auto saved = save_checkpoint(folder(), options, pieces, communicator);
    ASSERT_TRUE(saved) << saved.error().message;
    const auto state = load_generator_state(info_of(*saved), communicator.rank(), 2);
    ASSERT_TRUE(state) << state.error().message;
    auto other = at::make_generator<at::CPUGeneratorImpl>(0);
    other.set_state(*state);
    EXPECT_TRUE(torch::equal(torch::rand({5}, other), expected));
    EXPECT_FALSE(load_generator_state(info_of(*saved), 0, 4)->defined());
  });
  EXPECT_FALSE(load_generator_state(info_of(save(1, sample_options(2, "full"))), 0, 1)->defined());
  const fs::path file = folder() / "step_000001" / "random.safetensors";
  flip_byte(file, 100);
  const auto state = load_generator_state(info_of(folder() / "step_000001"), 1, 2);
  ASSERT_FALSE(state);
  EXPECT_THAT(state.error().message, AllOf(HasSubstr(file.string()), HasSubstr("'rank_1'")));
}

TEST_F(Checkpoints, KeepTheLastOnes) {
  for (const int step : {10, 20, 30}) {
    SaveOptions options = sample_options(step, step == 20 ? "sharded" : "full");
    options.keep_last = 2;
    save(2, options, step);
  }
  EXPECT_EQ(names(), (std::vector<std::string>{"step_000020", "step_000030"}));
  expect_loaded(folder() / "step_000020", 0, 1, 20);
  expect_loaded(*trace::job::find_checkpoint(folder()), 0, 1, 30);
}

TEST_F(Checkpoints, NameTheTensorsThatAreMissingOrOfAnotherShape) {
  const fs::path checkpoint = save(1, sample_options(1, "full"));
  auto wanted = sample_pieces(0, 1);
  wanted[0].full_sizes = {5, 7};
  wanted[1].name = "transformer.h.1.attn.c_attn.weight";
  EXPECT_THAT(load_error(checkpoint, wanted),
              AllOf(HasSubstr("'transformer.wte.weight' is [7, 5] there and [5, 7] here"),
                    HasSubstr("'transformer.h.1.attn.c_attn.weight' is not in the checkpoint"),
                    HasSubstr("model 'sample'")));
  wanted = sample_pieces(0, 1);
  wanted[2].first_moment = torch::zeros({3});
  EXPECT_THAT(load_error(checkpoint, wanted),
              HasSubstr("'transformer.h.0.attn.c_attn.bias.first_moment' was not saved"));
  wanted = sample_pieces(0, 1);
  wanted[0].value = wanted[0].value.to(torch::kBFloat16);
  EXPECT_THAT(load_error(checkpoint, wanted), HasSubstr("'transformer.wte.weight' is F32 there"));
  wanted = sample_pieces(0, 1);
  wanted[0].end = 36;
  EXPECT_THAT(load_error(checkpoint, wanted), HasSubstr("outside"));
}

TEST_F(Checkpoints, NameTheFileAndTheTensorWhoseBytesChanged) {
  for (const std::string format : {"full", "sharded"}) {
    const fs::path checkpoint = save(2, sample_options(1, format));
    const std::string rank = format == "full" ? "" : "_rank_00001_of_00002";
    const fs::path model = checkpoint / ("model" + rank + ".safetensors");
    flip_byte(model, 2);
    EXPECT_THAT(load_error(checkpoint, sample_pieces(0, 1)),
                AllOf(HasSubstr(model.string()), HasSubstr("'transformer.ln_f.weight'"),
                      HasSubstr("has changed")));
    flip_byte(model, 2);
    const fs::path optimizer = checkpoint / ("optimizer" + rank + ".safetensors");
    flip_byte(optimizer, 2);
    EXPECT_THAT(
        load_error(checkpoint, sample_pieces(0, 1)),
        AllOf(HasSubstr(optimizer.string()), HasSubstr("'transformer.ln_f.weight.second_moment'")));
    fs::remove_all(checkpoint);
  }
}

TEST_F(Checkpoints, WithADamagedHeaderOrFileAreRefusedBeforeAnythingIsLoaded) {
  const fs::path checkpoint = save(1, sample_options(1, "full"));
  const fs::path model = checkpoint / "model.safetensors";
  flip_byte(model, static_cast<std::int64_t>(fs::file_size(model)) - 40);
  EXPECT_THAT(trace::job::read_checkpoint_info(checkpoint).error().message,
              HasSubstr(model.string()));
  fs::resize_file(model, fs::file_size(model) - 1);
  EXPECT_THAT(trace::job::read_checkpoint_info(checkpoint).error().message,
              HasSubstr("bytes instead of"));
}

TEST_F(Checkpoints, AreReadOnlyWhereTheyAreWanted) {
  const fs::path checkpoint = save(2, sample_options(1, "sharded"));
  flip_byte(checkpoint / "model_rank_00001_of_00002.safetensors", 2);
  expect_loaded(checkpoint, 0, 2);
}

TEST_F(Checkpoints, ThatOneRankCannotSaveFailOnAllWithItsReason) {
  save(2, sample_options(1, "full"));
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    auto pieces = sample_pieces(communicator.rank(), 2);
    if (communicator.rank() == 1) pieces.back().value = torch::zeros({4, 3}).t();
    auto saved = save_checkpoint(folder(), sample_options(2, "full"), pieces, communicator);
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message,
                AllOf(HasSubstr("rank 1"), HasSubstr("'transformer.ln_f.weight'")));
    pieces = sample_pieces(communicator.rank(), 2);
    if (communicator.rank() == 0) pieces.pop_back();
    saved = save_checkpoint(folder(), sample_options(2, "sharded"), pieces, communicator);
    ASSERT_FALSE(saved);
    EXPECT_THAT(saved.error().message, HasSubstr("by no rank"));
  });
  EXPECT_EQ(names(), std::vector<std::string>{"step_000001"});
}

TEST_F(Checkpoints, OnAFullDiskLeaveThePreviousOneWhole) {
  const std::int64_t numel = 4 << 20;
  save(2, sample_options(1, "full"));
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const std::int64_t begin = communicator.rank() * numel;
    StatePiece piece = test::piece_of({"large", {2 * numel}}, begin, begin + numel);
    piece.value = torch::zeros({numel});
    // The recorder's own files are smaller.
    const trace::test::FileSizeLimit limit(8 << 20);
    communicator.barrier({trace::model::TagKind::kNamed, -1, "limited"});
    for (const std::string format : {"full", "sharded"}) {
      const auto saved =
          save_checkpoint(folder(), sample_options(2, format), std::span(&piece, 1), communicator);
      ASSERT_FALSE(saved);
      EXPECT_EQ(saved.error().kind, ErrorKind::kDiskFull) << saved.error().message;
      EXPECT_THAT(saved.error().message, AllOf(HasSubstr("rank "), HasSubstr("model")));
    }
    communicator.barrier({trace::model::TagKind::kNamed, -1, "done"});
  });
  EXPECT_EQ(names(), std::vector<std::string>{"step_000001"});
  expect_loaded(folder() / "step_000001", 0, 1);
}

TEST_F(Checkpoints, TellOnAllRanksThatTheyGetOnWhileTheyAreWritten) {
  std::array<int, 2> told{};
  comm::on_ranks(2, [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const bool writes = communicator.rank() == 0;
    std::vector<StatePiece> pieces = sample_pieces(0, 1);
    for (StatePiece& piece : pieces) piece.writes = writes;
    SaveOptions options = sample_options(1, "full");
    options.on_piece = [&, rank = communicator.rank()] { ++told.at(std::size_t(rank)); };
    const auto saved = save_checkpoint(folder(), options, pieces, communicator);
    ASSERT_TRUE(saved) << saved.error().message;
  });
  EXPECT_GT(told[1], 0) << "it waits for the other";
  EXPECT_GE(told[0], told[1] + std::ssize(sample_parameters())) << "each tensor's chunk";
}

comm::CommunicatorOptions with_timeout(std::chrono::seconds timeout) {
  comm::CommunicatorOptions options;
  options.timeout = timeout;
  return options;
}

TEST(SharedWork, MayTakeLongerThanACollectiveWhereItGetsOn) {
  comm::on_ranks(
      2,
      [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
        int told = 0;
        SharedWork work(communicator, "test", [&] { ++told; });
        const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(2500);
        while (communicator.rank() == 1 && std::chrono::steady_clock::now() < end) {
          std::this_thread::sleep_for(std::chrono::milliseconds(20));
          work.piece_done();
        }
        const auto texts = work.exchange(std::to_string(communicator.rank()));
        ASSERT_TRUE(texts) << texts.error().message;
        EXPECT_EQ(*texts, (std::vector<std::string>{"0", "1"}));
        EXPECT_GT(told, 2) << "who waits would seem to hang";
      },
      with_timeout(std::chrono::seconds(1)));
}

TEST(SharedWork, ARankThatStandsStillIsNoticedAtTheTimeout) {
  std::barrier both_done(2);
  comm::on_ranks(
      2,
      [&](comm::Communicator& communicator, profiler::recorder::Recorder&) {
        SharedWork work(communicator, "test");
        if (communicator.rank() == 0) {
          const auto waits = [&] { static_cast<void>(work.agree({})); };
          EXPECT_THAT(comm::message_thrown_by(waits), HasSubstr("within 1 s"));
        }
        both_done.arrive_and_wait();
      },
      with_timeout(std::chrono::seconds(1)));
}

TEST(SharedWork, AFailureIsToldToAllHoweverLongTheyAreAtWork) {
  comm::on_ranks(
      3,
      [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
        const int rank = communicator.rank();
        SharedWork work(communicator, "test");
        for (const int failing : {0, 2}) {
          const auto end = std::chrono::steady_clock::now() + rank * std::chrono::milliseconds(400);
          while (std::chrono::steady_clock::now() < end) {
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
            work.piece_done();
          }
          trace::base::Result<void> mine;
          if (rank == failing) mine = trace::base::fail(trace::base::ErrorKind::kIo, "the cause");
          const auto agreed = work.agree(mine);
          ASSERT_FALSE(agreed);
          EXPECT_EQ(agreed.error().message, "rank " + std::to_string(failing) + ": the cause");
        }
      },
      with_timeout(std::chrono::seconds(2)));
}

TEST(TensorBytes, EveryTypeHasItsNameAndItsSize) {
  const std::pair<std::string_view, torch::ScalarType> types[] = {
      {"F32", torch::kFloat32}, {"F16", torch::kFloat16}, {"BF16", torch::kBFloat16},
      {"F64", torch::kFloat64}, {"I64", torch::kInt64},   {"I32", torch::kInt32},
      {"U8", torch::kUInt8},    {"BOOL", torch::kBool}};
  ASSERT_EQ(std::size(types), kDataTypeCount);
  for (const auto& [name, scalar_type] : types) {
    const auto type = data_type_from(name);
    ASSERT_TRUE(type) << name;
    EXPECT_EQ(name_of(*type), name);
    EXPECT_EQ(scalar_type_of(*type), scalar_type) << name;
    EXPECT_EQ(data_type_of(scalar_type), type) << name;
    EXPECT_EQ(bytes_of(*type), static_cast<std::int64_t>(torch::elementSize(scalar_type))) << name;
  }
  EXPECT_FALSE(data_type_from("F8_E4M3"));
  EXPECT_FALSE(data_type_of(torch::kInt16));
}

TEST(RankExchange, GivesAllTheTextsOrTheFirstFailure) {
  comm::on_ranks(3, [](comm::Communicator& communicator, profiler::recorder::Recorder&) {
    const int rank = communicator.rank();
    const std::string mine(static_cast<std::size_t>(rank), 'x');
    const auto texts = SharedWork(communicator, "test").exchange(mine);
    ASSERT_TRUE(texts);
    EXPECT_EQ(*texts, (std::vector<std::string>{"", "x", "xx"}));
    EXPECT_TRUE(SharedWork(communicator, "test").agree({}));
    const trace::base::Result<void> result =
        rank == 0 ? trace::base::Result<void>()
                  : trace::base::fail(ErrorKind::kOtherVersion, "no " + mine);
    const auto agreed = SharedWork(communicator, "test").agree(result);
    ASSERT_FALSE(agreed);
    EXPECT_EQ(agreed.error().kind, ErrorKind::kOtherVersion);
    EXPECT_EQ(agreed.error().message, "rank 1: no x");
  });
}

}  // namespace
}  // namespace shardlens::trainer::checkpoint
