#include "trace/timeline/words/kernel_class.h"

#include <algorithm>
#include <array>
#include <string>

#include "trace/base/text.h"

namespace shardlens::trace::timeline {

namespace {

struct NamePart {
  std::string_view text;  // in lower case, anywhere in the name
  KernelClass kernel_class;
};

// The first that fits decides. Where the names come from:
//   nccl…                        NCCL's device functions, src/device/generate.py
//   ("ncclDevKernel_…") multi_tensor_apply, Adam     PyTorch,
//   aten/src/ATen/native/cuda/{MultiTensorApply.cuh,Fused*.cu};
//                                NVIDIA Apex, csrc/multi_tensor_*.cu; norms and copies of many
//                                tensors (ForeachReduceOp.cu, ForeachUnaryOp.cu) go the same way
//   flash_, fmha, sdpa           FlashAttention, csrc/flash_attn; CUTLASS, examples/41_fused_multi_
//                                head_attention (PyTorch's memory-efficient attention); cuDNN's
//                                "cudnn_generated_fort_native_sdpa_…"
//   fprop, dgrad, scudnn, …      cuDNN's convolutions, "…implicit_gemm…", Winograd
//   gemm, xmma, nvjet, cutlass   cuBLAS: "ampere_sgemm_…", "sm90_xmma_gemm_…", since CUDA 12.5
//                                "nvjet_…"; CUTLASS; split-K reductions that finish a product
//   triton_poi_, _red_, _per_    PyTorch, torch/_inductor: pointwise, reduction, persistent
//   reduction …_kernel_cuda, Functor       PyTorch, aten/src/ATen/native/cuda
constexpr auto kNameParts = std::to_array<NamePart>({
    {"nccl", KernelClass::kCommunication},
    {"rccl", KernelClass::kCommunication},
    {"nvshmem", KernelClass::kCommunication},
    {"all_reduce_kernel", KernelClass::kCommunication},
    {"multimem_", KernelClass::kCommunication},
    {"adam", KernelClass::kOptimizer},
    {"fusedsgd", KernelClass::kOptimizer},
    {"fused_sgd", KernelClass::kOptimizer},
    {"lamb_stage", KernelClass::kOptimizer},
    {"adagrad", KernelClass::kOptimizer},
    {"native::copy<", KernelClass::kCopy},
    {"native4copyi", KernelClass::kCopy},
    {"_4copyi", KernelClass::kCopy},
    {"zerofunctor", KernelClass::kCopy},
    {"lpnorm", KernelClass::kReduction},
    {"multi_tensor_apply", KernelClass::kOptimizer},
    {"reshape_and_cache", KernelClass::kCopy},
    {"flash_fwd", KernelClass::kAttention},
    {"flash_bwd", KernelClass::kAttention},
    {"flash_attn", KernelClass::kAttention},
    {"flashattn", KernelClass::kAttention},
    {"flash::", KernelClass::kAttention},
    {"flashinfer", KernelClass::kAttention},
    {"fmha", KernelClass::kAttention},
    {"sdpa", KernelClass::kAttention},
    {"attention", KernelClass::kAttention},
    {"attn_", KernelClass::kAttention},
    {"implicit_gemm", KernelClass::kConvolution},
    {"implicit_convolve", KernelClass::kConvolution},
    {"implicitgemm", KernelClass::kConvolution},
    {"winograd", KernelClass::kConvolution},
    {"fprop", KernelClass::kConvolution},
    {"dgrad", KernelClass::kConvolution},
    {"wgrad", KernelClass::kConvolution},
    {"convolve", KernelClass::kConvolution},
    {"convolution", KernelClass::kConvolution},
    {"conv2d", KernelClass::kConvolution},
    {"conv_depthwise", KernelClass::kConvolution},
    {"conv1d", KernelClass::kConvolution},
    {"scudnn", KernelClass::kConvolution},
    {"cask_cudnn", KernelClass::kConvolution},
    {"softmax", KernelClass::kSoftmax},
    {"layer_norm", KernelClass::kNormalization},
    {"layernorm", KernelClass::kNormalization},
    {"batch_norm", KernelClass::kNormalization},
    {"batchnorm", KernelClass::kNormalization},
    {"bn_fw", KernelClass::kNormalization},
    {"bn_bw", KernelClass::kNormalization},
    {"group_norm", KernelClass::kNormalization},
    {"groupnorm", KernelClass::kNormalization},
    {"rms_norm", KernelClass::kNormalization},
    {"rmsnorm", KernelClass::kNormalization},
    {"gammabeta", KernelClass::kNormalization},
    {"rowwisemoments", KernelClass::kNormalization},
    {"gemm", KernelClass::kMatrixProduct},
    {"gemv", KernelClass::kMatrixProduct},
    {"xmma", KernelClass::kMatrixProduct},
    {"nvjet", KernelClass::kMatrixProduct},
    {"cutlass", KernelClass::kMatrixProduct},
    {"wgmma", KernelClass::kMatrixProduct},
    {"matmul", KernelClass::kMatrixProduct},
    {"splitkreduce", KernelClass::kMatrixProduct},
    {"bmm_", KernelClass::kMatrixProduct},
    {"triton_tem_fused", KernelClass::kMatrixProduct},
    {"embedding", KernelClass::kEmbedding},
    {"index", KernelClass::kEmbedding},
    {"compute_grad_weight", KernelClass::kEmbedding},
    {"gather", KernelClass::kEmbedding},
    {"scatter", KernelClass::kEmbedding},
    {"triton_red_", KernelClass::kReduction},
    {"triton_per_", KernelClass::kReduction},
    {"triton_poi_", KernelClass::kElementwise},
    {"memcpy", KernelClass::kCopy},
    {"memset", KernelClass::kCopy},
    {"copy", KernelClass::kCopy},
    {"catarray", KernelClass::kCopy},
    {"fillfunctor", KernelClass::kCopy},
    {"nchwtonhwc", KernelClass::kCopy},
    {"nhwctonchw", KernelClass::kCopy},
    {"transpose", KernelClass::kCopy},
    {"reduce", KernelClass::kReduction},
    {"reduction", KernelClass::kReduction},
    {"nll_loss", KernelClass::kReduction},
    {"nllcriterion", KernelClass::kReduction},
    {"dot_kernel", KernelClass::kReduction},
    {"elementwise", KernelClass::kElementwise},
    {"vectorized", KernelClass::kElementwise},
    {"dropout", KernelClass::kElementwise},
    {"pointwise", KernelClass::kElementwise},
    {"activation", KernelClass::kElementwise},
    {"gelu", KernelClass::kElementwise},
    {"relu", KernelClass::kElementwise},
    {"distribution_", KernelClass::kElementwise},
    {"scalepackedtensor", KernelClass::kElementwise},
    {"quant", KernelClass::kElementwise},
});

// Templates can be kilobytes long; what matters stands at their beginning.
constexpr std::size_t kLongestName = 512;

// Types of parameters say nothing of what a function does. "(anonymous namespace)" is no list.
std::string_view without_parameters(std::string_view name) {
  int angles = 0, parentheses = 0;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool is_anonymous = name.substr(i).starts_with("(anonymous");
    if (name[i] == '(' && angles == 0 && parentheses == 0 && i > 0 && !is_anonymous) {
      return name.substr(0, i);
    }
    if (name[i] == '(') ++parentheses;
    if (name[i] == ')') --parentheses;
    if (parentheses == 0 && name[i] == '<') ++angles;
    if (parentheses == 0 && name[i] == '>') --angles;
  }
  return name;
}

}  // namespace

KernelClass kernel_class_of(std::string_view name) {
  const std::string text = base::lower_case(without_parameters(name.substr(0, kLongestName)));
  const auto found = std::ranges::find_if(
      kNameParts, [&](const NamePart& part) { return text.find(part.text) != std::string::npos; });
  return found == kNameParts.end() ? KernelClass::kOther : found->kernel_class;
}

std::string_view to_string(KernelClass kernel_class) {
  static constexpr std::array<std::string_view, 12> kNames{
      "matrix product",      "attention",     "convolution",   "normalization",
      "elementwise",         "reduction",     "softmax",       "optimizer",
      "embedding and index", "communication", "copy and fill", "other"};
  return base::enum_name<KernelClass::kOther>(kNames, kernel_class);
}

}  // namespace shardlens::trace::timeline
