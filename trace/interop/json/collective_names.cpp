#include "trace/interop/json/collective_names.h"

#include <algorithm>
#include <string>

namespace shardlens::trace::interop {

namespace {

struct FunctionName {
  std::string_view part;  // of the name in lower case, without underscores
  model::CollectiveFunction function;
};
// The first that fits: "reduce" is part of others.
constexpr FunctionName kFunctions[] = {
    {"allreduce", model::CollectiveFunction::kAllReduce},
    {"reducescatter", model::CollectiveFunction::kReduceScatter},
    {"allgather", model::CollectiveFunction::kAllGather},
    {"alltoall", model::CollectiveFunction::kAllToAll},
    {"broadcast", model::CollectiveFunction::kBroadcast},
    {"barrier", model::CollectiveFunction::kBarrier},
    // So is called what runs sends, receives and what is made of them, in NCCL 2.18 and older also
    // what has no kernel of its own.
    {"sendrecv", model::CollectiveFunction::kOther},
    {"recv", model::CollectiveFunction::kReceive},
    {"send", model::CollectiveFunction::kSend},
    {"reduce", model::CollectiveFunction::kReduce},
};

struct TypeName {
  std::string_view c10;
  TorchType type;
};
constexpr TypeName kTypes[] = {
    {"Float", {"float32", 4}},
    {"Half", {"float16", 2}},
    {"BFloat16", {"bfloat16", 2}},
    {"Double", {"float64", 8}},
    {"Long", {"int64", 8}},
    {"Int", {"int32", 4}},
    {"Short", {"int16", 2}},
    {"Char", {"int8", 1}},
    {"Byte", {"uint8", 1}},
    {"Bool", {"bool", 1}},
    {"Float8_e4m3fn", {"float8_e4m3fn", 1}},
    {"Float8_e5m2", {"float8_e5m2", 1}},
    {"Float8_e4m3fnuz", {"float8_e4m3fnuz", 1}},
    {"Float8_e5m2fnuz", {"float8_e5m2fnuz", 1}},
    {"Float8_e8m0fnu", {"float8_e8m0fnu", 1}},
    {"UInt16", {"uint16", 2}},
    {"UInt32", {"uint32", 4}},
    {"UInt64", {"uint64", 8}},
    {"ComplexHalf", {"complex32", 4}},
    {"ComplexFloat", {"complex64", 8}},
    {"ComplexDouble", {"complex128", 16}},
};

struct CppName {
  std::string_view cpp, c10;
};
// As GCC writes them, and as Clang does.
constexpr CppName kCppNames[] = {
    {"float", "Float"},
    {"double", "Double"},
    {"bool", "Bool"},
    {"unsigned char", "Byte"},
    {"signed char", "Char"},
    {"short int", "Short"},
    {"short", "Short"},
    {"int", "Int"},
    {"long int", "Long"},
    {"long", "Long"},
    {"long long", "Long"},
    {"short unsigned int", "UInt16"},
    {"unsigned short", "UInt16"},
    {"unsigned int", "UInt32"},
    {"long unsigned int", "UInt64"},
    {"unsigned long", "UInt64"},
    {"unsigned long long", "UInt64"},
    {"c10::complex<c10::Half>", "ComplexHalf"},
    {"c10::complex<float>", "ComplexFloat"},
    {"c10::complex<double>", "ComplexDouble"},
};

std::string plain(std::string_view name) {
  std::string text;
  for (const char c : name.substr(0, name.find('('))) {
    if (c != '_') text += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return text;
}

model::CollectiveFunction function_in(std::string_view name) {
  const std::string text = plain(name);
  for (const FunctionName& each : kFunctions) {
    if (text.find(each.part) != std::string::npos) return each.function;
  }
  return model::CollectiveFunction::kOther;
}

}  // namespace

bool is_nccl_kernel(std::string_view name) { return name.starts_with("nccl"); }

bool is_host_collective(std::string_view name) {
  return name.starts_with("gloo:") || name.starts_with("mpi:") || name.starts_with("ucc:");
}

model::CollectiveFunction collective_function(std::string_view collective,
                                              std::string_view kernel) {
  const model::CollectiveFunction named = function_in(collective);
  return named != model::CollectiveFunction::kOther ? named : function_in(kernel);
}

TorchType torch_type(std::string_view c10_name) {
  const auto found = std::ranges::find(kTypes, c10_name, &TypeName::c10);
  return found == std::end(kTypes) ? TorchType{c10_name, 0} : found->type;
}

TorchType c10_type(std::string_view python_name) {
  for (const TypeName& each : kTypes) {
    if (each.type.name == python_name) return {each.c10, each.type.bytes};
  }
  return {python_name, 0};
}

TorchType torch_type_of_input(std::string_view cpp_name) {
  const auto found = std::ranges::find(kCppNames, cpp_name, &CppName::cpp);
  if (found != std::end(kCppNames)) return torch_type(found->c10);
  constexpr std::string_view kNamespace = "c10::";
  if (cpp_name.starts_with(kNamespace)) cpp_name.remove_prefix(kNamespace.size());
  return torch_type(cpp_name);
}

TorchType torch_type_of_kernel(std::string_view kernel) {
  constexpr CppName kInNames[] = {{"f32", "Float"},  {"float", "Float"},   {"f16", "Half"},
                                  {"half", "Half"},  {"bf16", "BFloat16"}, {"bfloat16", "BFloat16"},
                                  {"f64", "Double"}, {"double", "Double"}};
  const std::string_view name = kernel.substr(0, kernel.find('('));
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find('_', begin), name.size());
    const auto found = std::ranges::find(kInNames, name.substr(begin, end - begin), &CppName::cpp);
    if (found != std::end(kInNames)) return torch_type(found->c10);
    begin = end + 1;
  }
  return {};
}

std::int64_t collective_bytes(model::CollectiveFunction function, std::int64_t in_elements,
                              std::int64_t out_elements, std::int64_t element_bytes) {
  const bool gathers = function == model::CollectiveFunction::kAllGather;
  const std::int64_t elements = gathers ? out_elements : in_elements;
  if (elements == 0 || function == model::CollectiveFunction::kBarrier) return 0;
  std::int64_t bytes = 0;
  const bool is_told =
      elements > 0 && element_bytes > 0 && !__builtin_mul_overflow(elements, element_bytes, &bytes);
  return is_told ? bytes : model::kNotKnown;
}

}  // namespace shardlens::trace::interop
