// What NCCL's kernels and PyTorch's collectives are called, and what they mean. Any thread.
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/model/events.h"

namespace shardlens::trace::interop {

// "ncclDevKernel_AllGather_RING_LL(…)", "ncclKernel_SendRecv…", "nccl:all_reduce".
bool is_nccl_kernel(std::string_view name);

// "gloo:all_reduce", "mpi:broadcast": collectives that a thread of the host carries out.
bool is_host_collective(std::string_view name);

// From PyTorch's name of the collective ("_allgather_base"), else from the kernel's. kOther without
// the former where kernels run many: Generic, and SendRecv.
model::CollectiveFunction collective_function(std::string_view collective, std::string_view kernel);

struct TorchType {
  std::string_view name;   // "bfloat16", as Python writes it
  std::int64_t bytes = 0;  // of a value; 0: not known
};
// From c10's name: "BFloat16", "Float", "Long", …; of others the name as it is.
TorchType torch_type(std::string_view c10_name);
// The other way: from Python's name to c10's, or the name as it is.
TorchType c10_type(std::string_view python_name);
// From C++'s name of a value, as an operator's inputs have it: "float", "c10::BFloat16".
TorchType torch_type_of_input(std::string_view cpp_name);
// From a kernel's: "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(…)". Empty: none, or of integers,
// since unsigned ones run for others and those that only copy are of bytes.
TorchType torch_type_of_kernel(std::string_view kernel);

// S of nccl-tests: the total over ranks for gather and scatter. kNotKnown where a count or the
// size of a value is not told.
std::int64_t collective_bytes(model::CollectiveFunction function, std::int64_t in_elements,
                              std::int64_t out_elements, std::int64_t element_bytes);

}  // namespace shardlens::trace::interop
