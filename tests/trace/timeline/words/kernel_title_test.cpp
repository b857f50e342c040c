#include "trace/timeline/words/kernel_title.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace shardlens::trace::timeline {
namespace {

constexpr std::pair<const char*, const char*> kTitles[] = {
    {"nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", "nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN"},
    {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_1",
     "triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_1"},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     "ncclDevKernel_AllGather_RING_LL"},
    {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128>>(Flash_fwd_params)",
     "flash_fwd_kernel"},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float, float>(int)",
     "vectorized_layer_norm_kernel"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>, "
     "std::array<char*, 1ul> >(int, at::native::FillFunctor<float>, std::array<char*, 1ul>)",
     "Fill<float> · vectorized_elementwise_kernel"},
    {"void at::native::vectorized_elementwise_kernel<4, "
     "at::native::CUDAFunctor_add<c10::BFloat16>, "
     "std::array<char*, 3ul> >(int)",
     "add<BFloat16> · vectorized_elementwise_kernel"},
    {"void at::native::unrolled_elementwise_kernel<at::native::direct_copy_kernel_cuda("
     "at::TensorIteratorBase&)::{lambda()#3}::operator()() const>(int)",
     "direct_copy · unrolled_elementwise_kernel"},
    {"void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::"
     "CUDAFunctor_add<float> >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)",
     "add<float> · elementwise_kernel"},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::AUnaryFunctor<float, float, "
     "float, at::native::binary_internal::MulFunctor<float> >, std::array<char*, 2ul> >(int)",
     "Mul<float> · vectorized_elementwise_kernel"},
    {"void at::native::vectorized_elementwise_kernel<8, at::native::GeluCUDAKernelImpl("
     "at::TensorIteratorBase&, at::native::GeluType)::{lambda()#1}>(int)",
     "Gelu · vectorized_elementwise_kernel"},
    {"void at::native::reduce_kernel<128, 4, at::native::ReduceOp<float, at::native::func_wrapper_t"
     "<float, at::native::sum_functor<float, float, float>::operator()> > >(int)",
     "sum<float> · reduce_kernel"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous "
     "namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::UnaryOpFunctor<float, "
     "2, 1, 1>, at::native::Copy<float, float> >(int)",
     "Copy<float> · multi_tensor_apply_kernel"},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::"
     "FusedAdamMathFunctor<float, 4> >(int)",
     "FusedAdamMath<float> · multi_tensor_apply_kernel"},
    {"void at::native::elementwise_kernel_with_index<int, at::native::arange_cuda_out()>(int)",
     "elementwise_kernel_with_index"},
    {"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8>("
     "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8::Params)",
     "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_128x128_32x5_nn_align8 · Kernel2"},
    {"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int>, "
     "float> >(Params)",
     "GemmUniversal · device_kernel"},
    {"std::enable_if<!T7, void>::type internal::gemvx::kernel<int, int, float, false, "
     "cublasGemvParamsEx<int> >(cublasGemvParamsEx<int>)",
     "gemvx::kernel"},
    {"void kernel<(bool)1>(int)", "kernel"},
    {"Memcpy HtoD (Pinned -> Device)", "Memcpy HtoD (Pinned -> Device)"},
    {"void <(", "void <("},
    {"", ""},
};

TEST(KernelTitle, SaysWhatAKernelDoesInAFewWords) {
  for (const auto& [name, title] : kTitles) EXPECT_EQ(kernel_title(name), title) << name;
}

TEST(KernelTitle, IsOnlyForKernels) {
  EXPECT_EQ(event_title(RowKind::kKernels, "void native::f<int>(int)"), "f");
  EXPECT_EQ(event_title(RowKind::kOperators, "void native::f<int>(int)"),
            "void native::f<int>(int)");
}

TEST(KernelTitle, TakesAnything) {
  for (const char c : {'<', '>', '(', ':', ' ', 'a'}) {
    const std::string name(5000, c);
    EXPECT_LE(kernel_title(name).size(), name.size());
  }
}

}  // namespace
}  // namespace shardlens::trace::timeline
