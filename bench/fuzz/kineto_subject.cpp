// Traces of PyTorch's profiler: structure, numbers and names of JSON, damaged compression.
#include <zlib.h>

#include <string_view>

#include "app/report/run_check.h"
#include "app/report/tuning/prediction.h"
#include "bench/fuzz/fuzz_files.h"
#include "bench/fuzz/kineto_samples.h"
#include "bench/fuzz/subjects.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

std::string compressed(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_SPEED, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return text;
  std::string out(deflateBound(&stream, text.size()), '\0');
  std::string in = text;
  stream.next_in = reinterpret_cast<Bytef*>(in.data());
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

class KinetoSubject final : public Subject {
 public:
  std::string_view name() const override { return "kineto"; }
  int weight() const override { return 2; }

  trace::base::Result<void> prepare(const fs::path&) override {
    for (const bool on_gpu : {false, true}) {
      for (const KinetoProgram program : kKinetoPrograms) {
        for (const int rank : {0, 1}) samples_.push_back(kineto_sample(program, rank, on_gpu));
      }
    }
    return {};
  }

  void damage(Mutation& mutation, const fs::path& input) override {
    files_.clear();
    const std::size_t job = 2 * mutation.below(samples_.size() / 2);
    const bool is_packed = mutation.one_in(4);
    const std::size_t ranks = 1 + mutation.below(2);
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      std::string text = samples_[job + rank];
      if (rank == 0 || mutation.one_in(2)) text = mutation.json(std::move(text));
      if (is_packed) text = compressed(text);
      if (is_packed && mutation.one_in(2)) text = mutation.bytes(std::move(text));
      files_.push_back(input /
                       ("rank" + std::to_string(rank) + (is_packed ? ".json.gz" : ".json")));
      write_text_file(files_.back(), text);
    }
    if (mutation.one_in(200)) mutation.replace_file(files_.front());
  }

  void read(const fs::path&, const fs::path& scratch, Findings& findings) override {
    static_cast<void>(trace::interop::may_be_kineto(files_.front()));
    trace::interop::ImportOptions options;
    options.name = "imported";
    const auto run = trace::interop::import_kineto(files_, scratch, options);
    if (!findings.check(run)) {
      if (!fs::is_empty(scratch)) findings.add("a refused import left a part of a run");
      return;
    }
    for (const std::string& warning : run->warnings) {
      findings.check(trace::base::Error{trace::base::ErrorKind::kUsage, warning});
    }
    const auto checked = app::report::check_run(run->folder);
    if (!findings.check(checked)) return;
    if (!checked->damage.empty()) {
      findings.add("an import made a damaged run: " + checked->damage.front().what);
    }
    for (const char* change : {"bucket_cap_mb=0.01", "sharding_strategy=shard_grad_op",
                               "gradient_accumulation_steps=2"}) {
      findings.check(
          app::report::predict_run(run->folder, {.from_file = {}, .assignments = {change}}));
    }
  }

 private:
  std::vector<std::string> samples_;
  std::vector<fs::path> files_;
};

}  // namespace

std::unique_ptr<Subject> kineto_subject() { return std::make_unique<KinetoSubject>(); }

}  // namespace shardlens::bench
