// The trace store, the timeline and the Inspect workspace against their budgets, on a made-up run
// of 8 ranks: 2,200 kernels per step with launches, operators, collectives, copies, memory.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/benchmark.h"
#include "bench/trace/stages.h"
#include "trace/base/file_system.h"
#include "trace/base/number_text.h"
#include "trace/store/upkeep/export_rows.h"
#include "trace/synthetic/synthetic_run.h"

namespace shardlens::bench {
namespace {

namespace fs = std::filesystem;
using trace::base::formatted;

struct Options {
  std::int64_t events = 10'000'000;
  int ranks = 8;
  double soak_s = 10;
  bool plain = true;
  bool window_only = false;
  std::string run;  // "": one is made
};

std::string millions(double events) { return formatted("%.3g M events", events / 1e6); }

void say(const char* what) { std::fprintf(stderr, "%s\n", what); }

class Bench {
 public:
  Bench(Options options, fs::path folder) : options_(options), folder_(std::move(folder)) {}

  std::vector<BenchRow> run() {
    generate();
    size_ = run_stage([&] { return measure_sizes(run_); });
    events_ = size_.at("events");
    add_window();
    if (options_.window_only) return rows_;
    add_questions();
    add_sql();
    add_sizes();
    add_writing();
    return rows_;
  }

 private:
  // Of a run of about 10 million events, and of one of up to 100 million. NAN: it is measured, not
  // judged; a small run says nothing of either.
  double budget(double of_10m, double of_100m = NAN) const {
    if (events_ < 5e6) return NAN;
    if (events_ < 11e6) return of_10m;
    return events_ < 101e6 ? of_100m : NAN;
  }
  // `budget`: in the value's unit; smaller is better unless `at_least`.
  void add(const std::string& what, double value, const char* unit, double budget,
           bool at_least = false, const std::string& peer = "", double ratio = NAN) {
    BenchRow row{what, value, unit, "", {}, peer};
    if (std::isfinite(ratio)) row.ratio = ratio;
    if (std::isfinite(budget)) {
      row.budget = formatted("%s %g %s", at_least ? ">=" : "<=", budget, unit);
      row.met = at_least ? value >= budget : value <= budget;
    }
    rows_.push_back(row);
  }
  void add(const std::string& what, double value, const char* unit) { add(what, value, unit, NAN); }

  void generate() {
    if (!options_.run.empty()) {
      run_ = options_.run;
      return;
    }
    say("making a run");
    trace::synthetic::SyntheticRunOptions synthetic;
    synthetic.name = "bench";
    synthetic.ranks = options_.ranks;
    synthetic.events = options_.events;
    const auto made = must(trace::synthetic::generate_run(folder_, synthetic));
    run_ = made.folder;
    const auto events = static_cast<double>(made.events);
    // What is found out of a run that may still be written is not kept.
    for (const auto& entry : fs::directory_iterator(run_)) {
      fs::last_write_time(entry.path(), fs::file_time_type::clock::now() - std::chrono::hours(1));
    }
    add("making the run, " + millions(events) + ", " + std::to_string(options_.ranks) + " ranks",
        events / made.seconds / 1e6, "M events/s");
  }

  void add_window() {
    say("opening it, a journey through it");
    const Figures f = run_stage([&] { return measure_window(run_); });
    add("open to first frame", f.at("first_frame_s"), "s", budget(0.25, 0.25));
    add("resident at the first frame", f.at("first_mib"), "MiB");
    add("resident after everything was read and a journey", f.at("resident_mib"), "MiB",
        budget(250, 600e6 / (1 << 20)));
    add("figures and statistics of the whole run", f.at("all_read_s"), "s", budget(NAN, 10));
    add("the first of them", f.at("first_figures_s"), "s");
    add("interface thread per frame, zooming and panning, median", f.at("frame_p50_ms"), "ms");
    add("interface thread per frame, 99th percentile", f.at("frame_p99_ms"), "ms", budget(4, 6));
    add("interface thread per frame, longest", f.at("frame_max_ms"), "ms");
    add("a picture of the timeline, behind the frame, median", f.at("picture_p50_ms"), "ms");
    add("a picture of the timeline, 99th percentile", f.at("picture_p99_ms"), "ms");
    say("opening it again");
    const Figures again = run_stage([&] { return measure_window(run_); });
    add("opened again: statistics of the whole run", again.at("first_figures_s"), "s", budget(0.5));
    add("opened again: all of it, the steps' figures, too", again.at("all_read_s"), "s");
    add("opened again: resident after a journey", again.at("resident_mib"), "MiB");
  }

  void add_questions() {
    say("statistics and search");
    questions_ = run_stage([&] { return measure_questions(run_); });
  }

  void add_sql() {
    fs::path plain;
    if (options_.plain) {
      say("the same events as plain rows of SQLite");
      plain = folder_ / "plain.sqlite";
      must(trace::store::export_rows(run_, plain));
    }
    say("SQL");
    const Figures f = run_stage([&] { return measure_sql(run_, plain); });
    add_with_peer("range statistics over everything, decoded", questions_.at("statistics_warm_ms"),
                  "ms", budget(50), f, "plain_statistics_s", 1e3);
    add_with_peer("range statistics over everything, cold", questions_.at("statistics_cold_ms"),
                  "ms", budget(400), f, "plain_statistics_s", 1e3);
    add_with_peer("search by name, decoded", questions_.at("search_warm_ms"), "ms", budget(100), f,
                  "plain_search_s", 1e3);
    add_with_peer("search by name, cold", questions_.at("search_cold_ms"), "ms", NAN, f,
                  "plain_search_s", 1e3);
    add_with_peer("SQL: kernels grouped by name", f.at("group_s"), "s", budget(1.5), f,
                  "plain_group_s", 1);
    add_with_peer("SQL: kernels whose name is like a pattern", f.at("like_s"), "s", NAN, f,
                  "plain_like_s", 1);
    add("SQL: count of kernels", f.at("count_s"), "s");
    if (!plain.empty()) {
      const auto bytes = static_cast<double>(fs::file_size(plain));
      add("bytes of any event on disk, all of its file", size_.at("file_bytes") / events_, "B", NAN,
          false, "plain rows: " + std::to_string(static_cast<int>(bytes / events_)) + " B",
          size_.at("file_bytes") / bytes);
      fs::remove(plain);
    }
  }
  void add_with_peer(const std::string& what, double value, const char* unit, double budget,
                     const Figures& f, const char* peer, double scale) {
    const auto found = f.find(peer);
    if (found == f.end()) return add(what, value, unit, budget);
    const double theirs = found->second * scale;
    add(what, value, unit, budget, false, formatted("plain rows: %.3g %s", theirs, unit),
        value / theirs);
  }

  void add_sizes() {
    const double kernels = size_.at("kernels");
    add("bytes of a kernel on disk", size_.at("kernel_chunk_bytes") / kernels, "B", budget(12, 12));
  }

  void add_writing() {
    say("writing");
    const fs::path one = folder_ / "one", many = folder_ / "many";
    fs::create_directories(one);
    fs::create_directories(many);
    const Figures w = run_stage([&] { return measure_writing(one); });
    add("writing chunks, one core", w.at("events_per_core_s") / 1e6, "M events/s", 10, true);
    const Figures s = run_stage([&] { return measure_soak(many, options_.soak_s); });
    add(formatted("8 writers at 200 k events/s each for %g s: lost", options_.soak_s), s.at("lost"),
        "events", 0);
    add("  their memory at the end, at most 1.1 of that at half time", s.at("late_mib"), "MiB",
        s.at("early_mib") * 1.1);
    add("  their threads' time", 100 * s.at("writer_cpu_s") / options_.soak_s, "% of a core");
  }

  const Options options_;
  const fs::path folder_;
  fs::path run_;
  double events_ = 0;
  Figures size_, questions_;
  std::vector<BenchRow> rows_;
};

}  // namespace
}  // namespace shardlens::bench

int main(int argc, char** argv) {
  using namespace shardlens::bench;
  Options options;
  CLI::App app{"The trace store, the timeline and the Inspect workspace against their budgets."};
  app.add_option("--events", options.events, "Of the run; budgets are for 10 and up to 100 million")
      ->capture_default_str();
  app.add_option("--ranks", options.ranks)->capture_default_str();
  app.add_option("--soak", options.soak_s, "Seconds for which 8 recorders write at a steady rate")
      ->capture_default_str();
  app.add_flag("!--no-plain-rows", options.plain, "Without the comparison with plain rows");
  app.add_flag("--window-only", options.window_only, "Opening it and a journey, nothing else");
  app.add_option("--run", options.run, "A run that is there already, instead of a made-up one");
  CLI11_PARSE(app, argc, argv);
  return exit_code_of([&] {
    const auto folder = must(shardlens::trace::base::TemporaryFolder::create());
    print_rows(Bench(options, folder.path()).run());
  });
}
