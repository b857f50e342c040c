// All that this program reads and others may have made. One thread.
#pragma once

#include <memory>
#include <vector>

#include "bench/fuzz/subject.h"

namespace shardlens::bench {

std::unique_ptr<Subject> trace_subject();         // runs, as folders and packed
std::unique_ptr<Subject> kineto_subject();        // traces of PyTorch's profiler
std::unique_ptr<Subject> yaml_subject();          // jobs' and checkpoints' YAML
std::unique_ptr<Subject> framework_subject();     // files of DeepSpeed and Accelerate
std::unique_ptr<Subject> model_folder_subject();  // configuration, tokenizer, template, weights
std::unique_ptr<Subject> text_subject();          // what is learnt from
std::unique_ptr<Subject> cache_subject();         // of tokens, of figures, of the library
std::unique_ptr<Subject> costs_subject();         // of collectives, and tables of nccl-tests
std::unique_ptr<Subject> lesson_subject();        // Markdown

std::vector<std::unique_ptr<Subject>> all_subjects();

}  // namespace shardlens::bench
