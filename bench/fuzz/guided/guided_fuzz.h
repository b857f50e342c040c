// What coverage-guided fuzzers share. libFuzzer calls from one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/fuzz/subject.h"

// libFuzzer's own mutation.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

namespace shardlens::bench {

// Ends the program with what was found, so that libFuzzer keeps the input.
void stop_at(const Findings& findings);

// The folder of inputs among libFuzzer's arguments gets these, unless it has some.
void begin_with(int argc, char** argv, const std::vector<std::string>& samples);

// Changes an input as libFuzzer does or as `change` does; returns the new size.
std::size_t mutate(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed,
                   const std::function<std::string(Mutation&, std::string)>& change);

}  // namespace shardlens::bench
