// `shardlens record -- COMMAND`: records a program that was not written for us.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>

#include "app/cli/commands.h"
#include "app/cli/terminal/options.h"
#include "app/cli/terminal/output.h"
#include "app/launch/recorded_program.h"
#include "app/launch/stop_signals.h"
#include "app/report/report_json.h"
#include "app/report/report_text.h"
#include "app/report/run_report.h"
#include "trace/base/file_system.h"
#include "trace/job/settings/grammars.h"

namespace shardlens::app::cli {
namespace {

using namespace std::chrono_literals;

// Waits for the program's end. A signal to us alone goes on to it; one from the terminal it has
// got already. The second ends it at once, with all its processes. True: the user stopped it.
bool watch(launch::RecordedProgram& program, launch::StopSignals& signals) {
  bool asked = false;
  while (!program.poll()) {
    const auto signal = signals.take(200ms);
    if (!signal) continue;
    if (asked) {
      program.kill_all();
    } else if (!signal->is_from_terminal) {
      program.send(signal->number);
    }
    asked = true;
  }
  return asked;
}

// One step or first..last, as `report --steps` has it, or what the setting `record` takes.
trace::base::Result<std::string> schedule_text(const std::string& steps) {
  if (steps.empty() || trace::job::parse_record_schedule(steps)) return steps;
  TRY_ASSIGN(const report::StepRange range, report::parse_step_range(steps));
  return std::to_string(range.first) + ".." + std::to_string(range.last);
}

// That none of the steps which were asked for, told as they were typed, was there.
void say_if_none_had_detail(const std::vector<trace::analysis::StepFigures>& found,
                            const std::string& typed) {
  const auto schedule = trace::job::parse_record_schedule(schedule_text(typed).value_or(""));
  if (typed.empty() || !schedule || schedule->is_empty() || found.empty()) return;
  const auto is_wanted = [&](const auto& step) { return schedule->includes(step.index); };
  if (std::ranges::any_of(found, is_wanted)) return;
  print_message("warning: the program had steps " + std::to_string(found.front().index) + " to " +
                std::to_string(found.back().index) + ", none of which is among --steps " + typed +
                ": nothing was recorded in detail");
}

constexpr const char* kNotPredictable =
    "\nTo predict other settings, import traces of torch.profiler: see `shardlens record --help`\n";

// `asked`: what the user typed.
trace::base::Result<int> print_outcome(const launch::RecordedProgram& program,
                                       const launch::RecordRequest& asked) {
  for (const auto& problem : program.save_errors()) {
    print_message("error: " + problem);
  }
  TRY_ASSIGN(const auto report, report::load_report(program.folder(), {}, &program.run()));
  const auto status = program.run().status;
  const bool failed =
      status == trace::model::RunStatus::kFailed || status == trace::model::RunStatus::kIncomplete;
  if (failed) print_message("error: " + program.run().reason);
  say_if_none_had_detail(report.figures.steps, asked.steps);
  print_result(asked.output_to_stderr ? report::dump_json(report::report_json(report))
                                      : report::report_text(report) + kNotPredictable +
                                            program.folder().string() + "\n");
  return failed || !program.save_errors().empty() ? kFailed : kDone;
}

struct RecordArguments {
  launch::RecordRequest request;
  const HandedOn* handed_on = nullptr;
};

trace::base::Result<int> record(const RecordArguments& arguments) {
  launch::RecordRequest request = arguments.request;
  request.command.insert(request.command.end(), arguments.handed_on->begin(),
                         arguments.handed_on->end());
  TRY_ASSIGN(request.steps, schedule_text(request.steps));
  launch::StopSignals signals;
  TRY_ASSIGN(const auto program, launch::RecordedProgram::start(request));
  print_message("Recording into " + program->folder().string());
  if (const auto warning = trace::base::network_file_system_warning(program->folder());
      !warning.empty()) {
    print_message("warning: " + warning);
  }
  const bool stopped = watch(*program, signals);
  if (auto concluded = program->conclude(stopped); !concluded) {
    if (program->exit_code() != 0) {
      print_message("The program ended with exit code " + std::to_string(program->exit_code()));
    }
    return tl::make_unexpected(concluded.error());
  }
  return print_outcome(*program, arguments.request);
}

}  // namespace

void add_record_command(CommandLine& line) {
  const auto [command, arguments] =
      add_command(line, "record", "Records any program that uses CUDA, NCCL or NVTX", record);
  arguments->handed_on = &line.handed_on;
  launch::RecordRequest* const request = &arguments->request;
  command->add_option("COMMAND", request->command, "The program and its arguments, behind --");
  command
      ->add_option("--steps", request->steps,
                   "Which steps in detail; the others are only timed. By default all")
      ->type_name("A..B");
  command
      ->add_option("--name", request->name,
                   "Of the run; by default that of the program, with a number where it is taken")
      ->type_name("NAME");
  command
      ->add_option("--limit", request->limit_mb,
                   "What a rank may write, in MiB; afterwards only steps are recorded")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))
      ->capture_default_str();
  command->add_flag("--overwrite", request->overwrite, "Replaces the run of this name");
  command->add_flag("--json", request->output_to_stderr,
                    "Prints the report as JSON, and nothing else, to standard output");
  add_runs_dir(*command, request->runs_dir);
  command->footer(
      "The program is not changed: CUDA, NCCL and NVTX load the recorder into each of its "
      "processes.\n"
      "Kernels, copies and collectives come from CUPTI and NCCL's profiler plugin. Steps and "
      "phases\n"
      "are NVTX ranges (\"step 7\", \"forward\", …), steps counted from the number of the first; "
      "without\n"
      "them a step ends with the optimizer's kernels or is what repeats. Ranks are those of "
      "torchrun, Slurm or MPI. Names of buckets "
      "and\n"
      "units are not known from outside, so that such a run shows what was, and other settings "
      "cannot be\n"
      "predicted from it: that needs traces by torch.profiler with record_shapes=True and\n"
      "schedule(wait=1, warmup=1, active=16), one per rank (shardlens import).\n\n"
      "Examples:\n"
      "  shardlens record -- torchrun --nproc-per-node 8 train.py\n"
      "  shardlens record --steps 20..40 --name \"batch 64\" -- python train.py --batch 64");
}

}  // namespace shardlens::app::cli
