// Traces of PyTorch's profiler: structure, numbers and names of JSON, damaged compression.
#include <zlib.h>

#include <string>
#include <vector>

#include "app/report/run_report.h"
#include "app/report/tuning/predicted_run.h"
#include "bench/fuzz/subject.h"
#include "tests/trace/interop/ddp_traces.h"
#include "tests/trace/interop/fsdp1_traces.h"
#include "tests/trace/interop/fsdp_traces.h"
#include "trace/interop/kineto_import.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;

// What the traces of made-up jobs leave out: members of the trace itself, and events, each with a
// comma behind it.
constexpr const char* kMembers =
    R"("schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA H100","numSms":132,
"totalGlobalMem":85000000000}],"baseTimeNanoseconds":1700000000000000000,"displayTimeUnit":"ms",)";
constexpr const char* kEvents = R"(
{"name":"thread_name","ph":"M","ts":1,"pid":77,"tid":77,"args":{"name":"thread 77"}},
{"ph":"X","cat":"user_annotation","name":"## forward ##","pid":77,"tid":77,"ts":1003,"dur":30,"args":{}},
{"ph":"X","cat":"cpu_op","name":"aten::addmm","pid":77,"tid":77,"ts":1004,"dur":5,"args":{"External id":1,"Sequence number":3,"Fwd thread id":0}},
{"ph":"X","cat":"cpu_op","name":"AddmmBackward0","pid":77,"tid":78,"ts":1034,"dur":5,"args":{"Sequence number":3,"Fwd thread id":1}},
{"ph":"X","cat":"cpu_op","name":"record_param_comms","pid":77,"tid":77,"ts":1010,"dur":2,"args":{"Collective name":"allreduce",
"In msg nelems":1000,"Out msg nelems":1000,"Group size":2,"dtype":"Float","Process Group Name":"0","Process Group Ranks":"[0, 1]","Seq":7}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":77,"tid":77,"ts":1005,"args":{"Total Allocated":1024,"Bytes":512,"Device Type":0}},
{"ph":"s","id":1,"pid":77,"tid":77,"ts":1006,"cat":"ac2g","name":"ac2g"},)";
constexpr const char* kEventsOfGpu = R"(
{"ph":"X","cat":"gpu_memcpy","name":"Memcpy DtoH","pid":0,"tid":7,"ts":1008,"dur":4,"args":{"device":0,"stream":7,"bytes":64}},
{"ph":"i","cat":"cpu_instant_event","name":"[memory]","pid":77,"tid":77,"ts":1007,"args":{"Total Allocated":4096,
"Total Reserved":8192,"Bytes":-512,"Device Type":1,"Device Id":0}},)";

// `text`: of a trace that has events.
std::string with_the_rest(std::string text, bool on_gpu) {
  text.insert(1, kMembers);
  const std::size_t events = text.find('[', text.find("\"traceEvents\"")) + 1;
  return text.insert(events, std::string(kEvents) + (on_gpu ? kEventsOfGpu : ""));
}

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
      trace::interop::DdpJob replicas;
      replicas.gradients = {600, 400};
      replicas.buckets = {2};
      replicas.steps = 4;
      replicas.on_gpu = on_gpu;
      replicas.marks_phases = true;
      add_job<trace::interop::DdpTraceWriter>(replicas);
      trace::interop::FsdpJob shards;
      shards.units = {1000, 600};
      shards.steps = 4;
      shards.on_gpu = on_gpu;
      add_job<trace::interop::FsdpTraceWriter>(shards);
      add_job<trace::interop::Fsdp1TraceWriter>(shards);
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
  // Both of its ranks.
  template <typename Writer, typename Job>
  void add_job(const Job& job) {
    for (const int rank : {0, 1}) {
      samples_.push_back(with_the_rest(Writer(job, rank).text(), job.on_gpu));
    }
  }

  std::vector<std::string> samples_;
  std::vector<fs::path> files_;
};

}  // namespace

std::unique_ptr<Subject> kineto_subject() { return std::make_unique<KinetoSubject>(); }

}  // namespace shardlens::bench
