#include "trace/timeline/words/kernel_class.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace shardlens::trace::timeline {
namespace {

// Names as they stand in traces of PyTorch, vLLM and cuDNN on V100, A100, H100 and B200.
constexpr std::pair<const char*, KernelClass> kKernels[] = {
    {"nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", KernelClass::kMatrixProduct},
    {"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64", KernelClass::kMatrixProduct},
    {"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(Params)",
     KernelClass::kMatrixProduct},
    {"volta_sgemm_64x32_sliced1x4_nn", KernelClass::kMatrixProduct},
    {"bmm_MxE4m3_MxE2m1MxE4m3_Fp32_t128x16x256u2", KernelClass::kMatrixProduct},
    {"void splitKreduce_kernel<float, float, float, float>(cublasSplitKParams<float>)",
     KernelClass::kMatrixProduct},
    {"void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>", KernelClass::kAttention},
    {"fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention)", KernelClass::kAttention},
    {"cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16", KernelClass::kAttention},
    {"void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16>(long)", KernelClass::kCopy},
    {"sm80_xmma_dgrad_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc", KernelClass::kConvolution},
    {"volta_scudnn_128x64_relu_interior_nn_v1", KernelClass::kConvolution},
    {"void cudnn::winograd_nonfused::winogradForwardData4x4<float, float>",
     KernelClass::kConvolution},
    {"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<float>(int)",
     KernelClass::kNormalization},
    {"std::enable_if<(((8)>(0)))&&_typeConvert<c10::BFloat16>::exists, void>::type "
     "vllm::fused_add_rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)",
     KernelClass::kNormalization},
    {"void cudnn::bn_fw_tr_1C11_singleread<float, 512, true, 1, 2, 0>",
     KernelClass::kNormalization},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>",
     KernelClass::kElementwise},
    {"triton_poi_fused_add_bitwise_and_bitwise_not_0", KernelClass::kElementwise},
    {"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, MeanOps>>",
     KernelClass::kReduction},
    {"triton_red_fused__to_copy_add_mean_mul_pow_rsqrt_1", KernelClass::kReduction},
    {"void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16>",
     KernelClass::kSoftmax},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor>",
     KernelClass::kOptimizer},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<2>, "
     "UnaryOpFunctor<float, 2, 1, 1>, at::native::Copy<float, float> >",
     KernelClass::kCopy},
    {"_ZN2at6native12_GLOBAL__N_125multi_tensor_apply_kernelINS1_18TensorListMetadataILi2EEENS1_"
     "14UnaryOpFunctorIfLi2ELi1ELi1EEEJNS0_4CopyIffEEEEEvT_T0_DpT1_",
     KernelClass::kCopy},
    {"void at::native::(anonymous namespace)::multi_tensor_apply_kernel<TensorListMetadata<1>, "
     "at::native::LpNormFunctor<float, (at::native::NormType)1, float, 1, 1, 0>, float*, int>",
     KernelClass::kReduction},
    {"void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>",
     KernelClass::kEmbedding},
    {"ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
     KernelClass::kCommunication},
    {"void (anonymous namespace)::multimem_all_reduce_kernel<c10::BFloat16, 16>",
     KernelClass::kCommunication},
    {"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>",
     KernelClass::kCopy},
    {"Memcpy HtoD (Pinned -> Device)", KernelClass::kCopy},
    {"void at::native::(anonymous namespace)::max_pool_forward_nchw<float, float>",
     KernelClass::kOther},
    {"", KernelClass::kOther},
};

TEST(KernelClass, FollowsFromTheName) {
  for (const auto& [name, expected] : kKernels) {
    EXPECT_EQ(to_string(kernel_class_of(name)), to_string(expected)) << name;
  }
}

TEST(KernelClass, DoesNotFollowFromTheTypesOfParameters) {
  EXPECT_EQ(kernel_class_of("void scan<int>(flash_attn::Params, cutlass::Array<float>)"),
            KernelClass::kOther);
}

TEST(KernelClass, TakesNamesOfAnyLength) {
  EXPECT_EQ(kernel_class_of("nvjet_" + std::string(1'000'000, '<')), KernelClass::kMatrixProduct);
}

}  // namespace
}  // namespace shardlens::trace::timeline
