#include "bench/fuzz/subjects.h"

namespace shardlens::bench {

std::vector<std::unique_ptr<Subject>> all_subjects() {
  std::vector<std::unique_ptr<Subject>> subjects;
  subjects.push_back(trace_subject());
  subjects.push_back(kineto_subject());
  subjects.push_back(yaml_subject());
  subjects.push_back(framework_subject());
  subjects.push_back(model_folder_subject());
  subjects.push_back(text_subject());
  subjects.push_back(cache_subject());
  subjects.push_back(costs_subject());
  subjects.push_back(lesson_subject());
  return subjects;
}

}  // namespace shardlens::bench
