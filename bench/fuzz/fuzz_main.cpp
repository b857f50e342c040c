#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <sstream>

#include "bench/benchmark.h"
#include "bench/fuzz/fuzz_run.h"
#include "trace/base/printable.h"

namespace shardlens::bench {

namespace {

std::vector<BenchRow> rows_of(const FuzzResult& result) {
  std::vector<BenchRow> rows;
  for (const auto& [subject, cases] : result.cases) {
    rows.push_back({subject + ": cases", static_cast<double>(cases), ""});
  }
  rows.push_back({"slowest case (" + std::to_string(result.slowest) + ")", result.slowest_s, "s"});
  const auto failures = static_cast<double>(result.failures.size());
  rows.push_back({"failures", failures, "", "<= 0", result.failures.empty()});
  return rows;
}

// So that every day damages otherwise, and all of a day alike.
std::uint64_t today() {
  const std::chrono::year_month_day date(
      std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now()));
  return static_cast<std::uint64_t>(static_cast<int>(date.year())) * 10'000 +
         static_cast<unsigned>(date.month()) * 100 + static_cast<unsigned>(date.day());
}

// What a case may take is a part of how it is repeated.
std::string limits_text(const FuzzOptions& options) {
  const FuzzOptions defaults;
  std::ostringstream text;
  if (options.computing_s != defaults.computing_s) text << " --computing " << options.computing_s;
  if (options.waiting_s != defaults.waiting_s) text << " --waiting " << options.waiting_s;
  if (options.memory_bytes != defaults.memory_bytes) {
    text << " --memory " << (options.memory_bytes >> 20);
  }
  return text.str();
}

// Of no use are a minute and a subject that had none of it.
bool has_idle_subjects(const FuzzResult& result) {
  bool is_idle = false;
  for (const auto& [subject, cases] : result.cases) {
    if (cases > 0) continue;
    std::fprintf(stderr, "%s: no case was run\n", subject.c_str());
    is_idle = true;
  }
  return is_idle;
}

}  // namespace

int fuzz_main(int argc, const char* const* argv, Subjects subjects) {
  FuzzOptions options;
  options.seed = today();
  bool fails = false;
  CLI::App app("Damages what strangers may give to this program, and reads it");
  app.add_option("--seconds", options.seconds, "How long")->capture_default_str();
  app.add_option("--seed", options.seed, "Other damage; the date in UTC unless given")
      ->capture_default_str();
  app.add_option("--case", options.only, "Only this one of the seed's cases")->type_name("NUMBER");
  std::vector<std::string> names;
  for (const auto& subject : subjects) names.emplace_back(subject->name());
  app.add_option("--subject", options.subject, "Only its cases")->check(CLI::IsMember(names));
  app.add_option("--keep", options.keep, "Where inputs of failures are kept")
      ->capture_default_str();
  app.add_option("--computing", options.computing_s, "Seconds that a case may compute")
      ->capture_default_str();
  app.add_option("--waiting", options.waiting_s, "Seconds that a case may take in all")
      ->capture_default_str();
  std::int64_t memory_mib = options.memory_bytes >> 20;
  app.add_option("--memory", memory_mib, "MiB that a case may take")->capture_default_str();
  app.add_option("--failures", options.most_failures, "Ends after so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag("--fail", fails, "Leaves with 1 after failures, or if a subject ran no case");
  CLI11_PARSE(app, argc, argv);
  options.memory_bytes = memory_mib << 20;
  std::fprintf(stderr, "seed %llu\n", static_cast<unsigned long long>(options.seed));
  const auto result = run_fuzzer(subjects, options, [&](const FuzzFailure& failure) {
    std::fprintf(stderr,
                 "%s: seed %llu, case %lld: %s\n  its input: %s\n  to repeat it: %s --seed %llu "
                 "--case %lld%s\n",
                 failure.subject.c_str(), static_cast<unsigned long long>(options.seed),
                 static_cast<long long>(failure.number),
                 trace::base::printable_line(failure.what).c_str(), failure.kept.c_str(), argv[0],
                 static_cast<unsigned long long>(options.seed),
                 static_cast<long long>(failure.number), limits_text(options).c_str());
  });
  if (!result) {
    std::fprintf(stderr, "error: %s\n", result.error().message.c_str());
    return 2;
  }
  print_rows(rows_of(*result));
  if (!fails) return 0;
  if (!result->failures.empty()) return 1;
  return !options.only && options.subject.empty() && has_idle_subjects(*result) ? 1 : 0;
}

}  // namespace shardlens::bench
