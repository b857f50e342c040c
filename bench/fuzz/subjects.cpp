#include "bench/fuzz/subject.h"

namespace shardlens::bench {

std::vector<std::unique_ptr<Subject>> all_subjects() {
  std::vector<std::unique_ptr<Subject>> subjects;
  for (const auto make :
       {trace_subject, kineto_subject, yaml_subject, framework_subject, sweep_subject,
        model_folder_subject, text_subject, cache_subject, costs_subject, lesson_subject}) {
    subjects.push_back(make());
  }
  return subjects;
}

}  // namespace shardlens::bench
