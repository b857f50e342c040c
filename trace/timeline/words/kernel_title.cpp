#include "trace/timeline/words/kernel_title.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace shardlens::trace::timeline {

namespace {

using Text = std::string_view;

constexpr Text kAnonymous = "(anonymous namespace)";

// Kernels that do nothing of their own: what is in their template arguments says it.
constexpr std::array<Text, 4> kCarriers{"elementwise_kernel", "reduce_kernel",
                                        "multi_tensor_apply_kernel", "index_kernel"};
// Of CUTLASS and Thrust: their first template argument is what they run.
constexpr std::array<Text, 4> kShells{"Kernel", "Kernel2", "device_kernel", "_kernel_agent"};
// Around an operation that is named after them.
constexpr std::array<Text, 8> kWrappers{"AUnaryFunctor",
                                        "BUnaryFunctor",
                                        "BinaryFunctor",
                                        "UnaryOpFunctor",
                                        "BinaryOpScalarFunctor",
                                        "BinaryOpScalarTensorFunctor",
                                        "BinaryOpListAlphaFunctor",
                                        "BinaryOpScalarListFunctor"};
constexpr std::array<Text, 5> kOperations{"Copy", "multiplies", "plus", "minus", "divides"};
constexpr std::array<Text, 4> kOperationEnds{"Functor", "_functor", "_kernel_cuda", "Ops"};
constexpr std::array<Text, 4> kOperationParts{"Functor_", "FunctorOnSelf_", "KernelImpl",
                                              "_kernel_impl"};
constexpr Text kLaunched = "launch_";
constexpr Text kNoOperation = "gpu_kernel_impl";

template <std::size_t count>
bool is_one_of(const std::array<Text, count>& texts, Text text) {
  return std::ranges::find(texts, text) != texts.end();
}

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Where what is declared begins: behind a return type, if there is one, as for templates. That may
// be one itself: "std::enable_if<!T7, void>::type kernel<…>(…)".
Text declaration(Text name) {
  constexpr Text kUsual = "void ";
  if (name.starts_with(kUsual)) return name.substr(kUsual.size());
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<') ++depth;
    if (name[i] == '>') --depth;
    if (depth > 0) continue;
    if (name[i] == ' ') begin = i + 1;
    if (name[i] != '(') continue;
    if (!name.substr(i).starts_with(kAnonymous)) break;
    i += kAnonymous.size() - 1;
  }
  return name.substr(begin);
}

// Up to the first list of template arguments or parameters, or where the argument ends.
Text qualified_name(Text name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '<' || name[i] == '>' || name[i] == ',') return name.substr(0, i);
    if (name[i] != '(') continue;
    if (!name.substr(i).starts_with(kAnonymous)) return name.substr(0, i);
    i += kAnonymous.size() - 1;
  }
  return name;
}

Text last_part(Text qualified) {
  const auto colons = qualified.rfind("::");
  return colons == Text::npos ? qualified : qualified.substr(colons + 2);
}

// cuBLAS has kernels that only their namespace tells apart.
Text kernel_name(Text qualified) {
  const Text own = last_part(qualified);
  if (own != "kernel" || own == qualified) return own;
  const Text around = last_part(qualified.substr(0, qualified.size() - own.size() - 2));
  return qualified.substr(static_cast<std::size_t>(around.data() - qualified.data()));
}

bool is_operation(Text word) {
  if (word.starts_with(kNoOperation) || is_one_of(kWrappers, word)) return false;
  if (is_one_of(kOperations, word)) return true;
  return word.starts_with(kLaunched) ||
         std::ranges::any_of(kOperationEnds, [&](Text end) { return word.ends_with(end); }) ||
         std::ranges::any_of(kOperationParts,
                             [&](Text part) { return word.find(part) != Text::npos; });
}

// "float" of "<float, 4>"; nothing where the first argument is no plain type.
Text first_type(Text after) {
  if (!after.starts_with('<')) return {};
  const Text arguments = after.substr(1);
  const Text type = arguments.substr(0, arguments.find_first_of(",>"));
  const Text plain = last_part(type);
  const bool is_plain = !plain.empty() && std::isalpha(static_cast<unsigned char>(plain[0])) != 0 &&
                        std::ranges::all_of(plain, is_word);
  return is_plain ? plain : Text();
}

// Without what says only where it is written.
Text without_marks(Text word) {
  constexpr std::array<Text, 3> kStarts{"CUDAFunctorOnSelf_", "CUDAFunctor_", kLaunched};
  constexpr std::array<Text, 6> kEnds{"_kernel_cuda", "CUDAKernelImpl", "_kernel_impl",
                                      "Functor",      "_functor",       "Ops"};
  for (const Text start : kStarts)
    if (word.starts_with(start) && word.size() > start.size()) word.remove_prefix(start.size());
  for (const Text end : kEnds)
    if (word.ends_with(end) && word.size() > end.size()) word.remove_suffix(end.size());
  return word;
}

std::optional<std::string> operation_of(Text arguments) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_word(arguments[i])) continue;
    const std::size_t begin = i;
    while (i < arguments.size() && is_word(arguments[i])) ++i;
    const Text word = arguments.substr(begin, i - begin);
    if (!is_operation(word)) continue;
    std::string operation(without_marks(word));
    if (const Text type = first_type(arguments.substr(i)); !type.empty())
      operation += "<" + std::string(type) + ">";
    return operation;
  }
  return std::nullopt;
}

}  // namespace

std::string kernel_title(std::string_view name) {
  if (name.find('<') == Text::npos && name.find('(') == Text::npos) return std::string(name);
  const Text declared = declaration(name);
  const Text qualified = qualified_name(declared);
  const Text own = kernel_name(qualified);
  if (own.empty()) return std::string(name);
  const Text rest = declared.substr(qualified.size());
  if (is_one_of(kShells, own) && rest.starts_with('<')) {
    const Text content = last_part(qualified_name(rest.substr(1)));
    if (!content.empty()) return std::string(content) + " · " + std::string(own);
  }
  const bool is_carrier =
      std::ranges::any_of(kCarriers, [&](Text carrier) { return own.ends_with(carrier); });
  if (is_carrier) {
    if (const auto operation = operation_of(rest)) return *operation + " · " + std::string(own);
  }
  return std::string(own);
}

std::string event_title(RowKind kind, std::string_view name) {
  return kind == RowKind::kKernels ? kernel_title(name) : std::string(name);
}

}  // namespace shardlens::trace::timeline
