#include "trace/synthetic/step_shape.h"

#include <algorithm>
#include <initializer_list>
#include <map>

namespace shardlens::trace::synthetic {

namespace {

constexpr int kBlocks = 24;
constexpr std::int64_t kWidth = 2048, kTokens = 4096, kVocabulary = 50'304;
constexpr std::int64_t kActivationBytes = kTokens * kWidth * 2;  // bf16
constexpr std::int64_t kBlockParameters = 12 * kWidth * kWidth;
constexpr std::int64_t kEmbeddingParameters = kVocabulary * kWidth;
// An all-reduce over NVLink; nccl-tests on 8 H100 show 200 to 450 GB/s.
constexpr double kBytesPerNs = 110;

class ShapeBuilder {
 public:
  std::vector<std::string> strings;

  model::StringId intern(const std::string& text) {
    const auto [found, is_new] =
        ids_.try_emplace(text, static_cast<model::StringId>(strings.size() + 1));
    if (is_new) strings.push_back(text);
    return found->second;
  }

  void call(ModelStage& stage, std::initializer_list<const char*> operators, const char* kernel,
            double share, std::int64_t bytes = 0, bool freed_at_once = false) {
    KernelCall one;
    for (const char* name : operators) {
      one.operators[static_cast<std::size_t>(one.depth++)] = intern(name);
    }
    one.kernel = intern(kernel);
    one.share = share;
    one.allocated_bytes = bytes;
    one.freed_at_once = freed_at_once;
    stage.calls.push_back(one);
  }

  void node(ModelStage& stage, const char* node, const char* op, const char* kernel, double share,
            std::int64_t bytes) {
    const std::string function = std::string("autograd::engine::evaluate_function: ") + node;
    call(stage, {function.c_str(), node, op}, kernel, share, bytes, bytes > 0);
  }

 private:
  std::map<std::string, model::StringId> ids_;
};

constexpr const char* kGemm[] = {
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x256x64_warpgroupsize2x1x1_execute_kernel",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nn_n_tilesize128x128x64_warpgroupsize2x1x1_execute_kernel",
    "sm90_xmma_gemm_bf16bf16_bf16f32_f32_nt_n_tilesize256x128x64_warpgroupsize2x1x1_execute_kernel",
    "nvjet_tst_192x192_64x4_1x2_h_bz_coopB_TNT"};
constexpr const char* kNorm =
    "void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<c10::BFloat16, float>";
constexpr const char* kNormBackward =
    "void at::native::(anonymous namespace)::layer_norm_grad_input_kernel_vectorized";
constexpr const char* kNormWeights =
    "void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernelTemplate<c10::BFloat16>";
constexpr const char* kCast =
    "void at::native::unrolled_elementwise_kernel<at::native::bfloat16_copy_kernel_cuda>";
constexpr const char* kAdd =
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>";
constexpr const char* kDropout =
    "void at::native::(anonymous namespace)::fused_dropout_kernel_vec<c10::BFloat16, float>";
constexpr const char* kGelu =
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>";
constexpr const char* kReduce =
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::NormTwoOps>>";
constexpr const char* kFlash = "void pytorch_flash::flash_fwd_kernel<Flash_fwd_kernel_traits<128>>";
constexpr const char* kFlashBackward =
    "void pytorch_flash::flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel<128, 64>";
constexpr const char* kAdam =
    "void at::native::(anonymous "
    "namespace)::multi_tensor_apply_kernel<FusedAdamMathFunctor<float>>";

void add_linear(ShapeBuilder& build, ModelStage& stage, int gemm, double share, int widths) {
  build.call(stage, {"aten::to", "aten::_to_copy", "aten::copy_"}, kCast, 0.6,
             kWidth * kWidth * 2 * widths, false);
  build.call(stage, {"aten::linear", "aten::addmm"}, kGemm[gemm], share, kActivationBytes * widths);
}

ModelStage block_forward(ShapeBuilder& build) {
  ModelStage stage;
  const std::int64_t bytes = kActivationBytes;
  const auto norm = [&] {
    build.call(stage, {"aten::layer_norm", "aten::native_layer_norm"}, kNorm, 1.2, bytes);
  };
  const auto residual = [&] {
    build.call(stage, {"aten::dropout", "aten::native_dropout"}, kDropout, 1, bytes);
    build.call(stage, {"aten::add"}, kAdd, 0.9, bytes);
  };
  norm();
  add_linear(build, stage, 0, 9, 3);
  build.call(stage, {"aten::contiguous", "aten::clone", "aten::copy_"}, kCast, 1, bytes);
  build.call(stage,
             {"aten::scaled_dot_product_attention", "aten::_scaled_dot_product_flash_attention",
              "aten::_flash_attention_forward"},
             kFlash, 7, bytes);
  add_linear(build, stage, 1, 3.2, 1);
  residual();
  norm();
  add_linear(build, stage, 3, 12, 4);
  build.call(stage, {"aten::gelu"}, kGelu, 2.2, 4 * bytes);
  add_linear(build, stage, 2, 12, 1);
  residual();
  stage.gpu_ns = 1'000'000;
  stage.host_ns = 480'000;
  return stage;
}

void add_accumulate(ShapeBuilder& build, ModelStage& stage, double share) {
  build.node(stage, "torch::autograd::AccumulateGrad", "aten::add_", kAdd, share, 0);
}

void add_linear_backward(ShapeBuilder& build, ModelStage& stage, int gemm, double share) {
  build.node(stage, "AddmmBackward0", "aten::mm", kGemm[gemm], share, kActivationBytes);
  build.node(stage, "AddmmBackward0", "aten::mm", kGemm[2], share * 1.05, kWidth * kWidth * 2);
  build.node(stage, "AddmmBackward0", "aten::sum", kReduce, 0.7, kWidth * 2);
  build.node(stage, "ToCopyBackward0", "aten::_to_copy", kCast, 0.6, kWidth * kWidth * 4);
  add_accumulate(build, stage, 0.6);
  add_accumulate(build, stage, 0.1);
}

void add_norm_backward(ShapeBuilder& build, ModelStage& stage) {
  constexpr const char* kOperator = "aten::native_layer_norm_backward";
  build.node(stage, "NativeLayerNormBackward0", kOperator, kNormBackward, 1.6, kActivationBytes);
  build.node(stage, "NativeLayerNormBackward0", kOperator, kNormWeights, 0.8, kWidth * 4);
  add_accumulate(build, stage, 0.1);
  add_accumulate(build, stage, 0.1);
}

ModelStage block_backward(ShapeBuilder& build) {
  ModelStage stage;
  const std::int64_t bytes = kActivationBytes;
  const auto dropout = [&] {
    build.node(stage, "NativeDropoutBackward0", "aten::native_dropout_backward", kDropout, 1,
               bytes);
  };
  dropout();
  add_linear_backward(build, stage, 1, 12);
  build.node(stage, "GeluBackward0", "aten::gelu_backward", kGelu, 2.6, 4 * bytes);
  add_linear_backward(build, stage, 3, 12);
  add_norm_backward(build, stage);
  build.node(stage, "AddBackward0", "aten::add", kAdd, 0.9, bytes);
  dropout();
  add_linear_backward(build, stage, 0, 3.2);
  build.node(stage, "ScaledDotProductFlashAttentionBackward0",
             "aten::_scaled_dot_product_flash_attention_backward", kFlashBackward, 15, 3 * bytes);
  build.node(stage, "CloneBackward0", "aten::clone", kCast, 1, bytes);
  add_linear_backward(build, stage, 0, 9);
  add_norm_backward(build, stage);
  build.node(stage, "AddBackward0", "aten::add", kAdd, 0.9, bytes);
  stage.gpu_ns = 2'000'000;
  stage.host_ns = 1'100'000;
  return stage;
}

void add_ends(ShapeBuilder& build, StepShape& shape) {
  ModelStage embedding, head, head_backward, embedding_backward;
  build.call(embedding, {"aten::embedding", "aten::index_select"},
             "void at::native::(anonymous namespace)::indexSelectSmallIndex<float, long>", 1,
             kActivationBytes * 2);
  build.call(embedding, {"aten::add"}, kAdd, 1, kActivationBytes);
  embedding.gpu_ns = 60'000;
  embedding.host_ns = 40'000;
  add_linear(build, head, 0, 20, 1);
  build.call(head, {"aten::cross_entropy_loss", "aten::log_softmax", "aten::_log_softmax"},
             "void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, c10::BFloat16, float>",
             4, kTokens * kVocabulary * 4);
  build.call(head, {"aten::cross_entropy_loss", "aten::nll_loss", "aten::nll_loss_forward"},
             "void at::native::nll_loss_forward_reduce_cuda_kernel_2d<float, float>", 0.3, 4);
  head.gpu_ns = 3'000'000;
  head.host_ns = 130'000;
  build.node(head_backward, "NllLossBackward0", "aten::nll_loss_backward",
             "void at::native::nll_loss_backward_reduce_cuda_kernel_2d<float>", 1, 4);
  build.node(head_backward, "LogSoftmaxBackward0", "aten::_log_softmax_backward_data",
             "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<8, float>", 4,
             kTokens * kVocabulary * 4);
  add_linear_backward(build, head_backward, 0, 20);
  head_backward.gpu_ns = 6'000'000;
  head_backward.host_ns = 220'000;
  build.node(embedding_backward, "EmbeddingBackward0", "aten::embedding_dense_backward",
             "void at::native::(anonymous namespace)::compute_grad_weight<float, long>", 3,
             kEmbeddingParameters * 4);
  add_accumulate(build, embedding_backward, 1);
  embedding_backward.gpu_ns = 500'000;
  embedding_backward.host_ns = 80'000;
  shape.forward.insert(shape.forward.begin(), embedding);
  shape.forward.push_back(head);
  shape.backward.insert(shape.backward.begin(), head_backward);
  shape.backward.push_back(embedding_backward);
}

// The clipped norm per parameter, then AdamW.
ModelStage optimizer_stage(ShapeBuilder& build) {
  ModelStage stage;
  for (int i = 0; i < 12 * kBlocks; ++i) {
    build.call(stage, {"aten::linalg_vector_norm"}, kReduce, 0.5);
    build.call(stage, {"aten::mul_"}, kAdd, 0.5);
  }
  for (int i = 0; i < 6 * kBlocks; ++i) {
    build.call(stage, {"Optimizer.step#AdamW.step", "aten::_fused_adamw_"}, kAdam, 4);
  }
  stage.gpu_ns = 9'000'000;
  stage.host_ns = 5'000'000;
  return stage;
}

void add_buckets(ShapeBuilder& build, StepShape& shape) {
  for (int i = kBlocks; i >= 0; --i) {
    GradientBucket bucket;
    bucket.after_stage = static_cast<std::size_t>(kBlocks - i + 1);
    const bool is_last = i == 0;
    bucket.bytes = (is_last ? kEmbeddingParameters : kBlockParameters) * 4;
    bucket.transfer_ns = static_cast<std::int64_t>(static_cast<double>(bucket.bytes) / kBytesPerNs);
    const std::string prefix = "transformer.h." + std::to_string(i - 1) + ".";
    if (is_last) {
      bucket.parameters = {build.intern("transformer.wte.weight")};
    } else {
      for (const char* name :
           {"mlp.c_proj.weight", "mlp.c_fc.weight", "attn.c_proj.weight", "attn.c_attn.weight"}) {
        bucket.parameters.push_back(build.intern(prefix + name));
      }
    }
    shape.buckets.push_back(std::move(bucket));
  }
}

void name_the_rest(ShapeBuilder& build, StepShape& shape) {
  shape.launch = build.intern("cudaLaunchKernel");
  shape.synchronize = build.intern("cudaStreamSynchronize");
  shape.copy_in = build.intern("Memcpy HtoD (Pinned -> Device)");
  shape.copy_out = build.intern("Memcpy DtoH (Device -> Pageable)");
  shape.fill = build.intern("Memset (Device)");
  shape.all_reduce =
      build.intern("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)");
  shape.world = build.intern("world");
  shape.nccl = build.intern("nccl");
  shape.float32 = build.intern("float32");
  shape.loss = build.intern("loss");
  for (int i = 0; i < base::kPhaseCount; ++i) {
    shape.phases[static_cast<std::size_t>(i)] =
        build.intern(std::string(base::to_string(static_cast<base::Phase>(i))));
  }
  const char* const lanes[] = {"training thread",       "operators of the training thread",
                               "operators of autograd", "stream 7",
                               "stream 20, world",      "stream 7, copies"};
  std::ranges::transform(lanes, shape.lanes.begin(),
                         [&](const char* name) { return build.intern(name); });
  shape.ring = build.intern("RING");
  shape.simple = build.intern("SIMPLE");
  shape.low_latency = build.intern("LL");
  constexpr std::array<const char*, model::kGpuCounters.size()> kUnits{
      "%",       "W",       "MHz",     "°C",      "%", "MHz", "bytes",
      "bytes/s", "bytes/s", "bytes/s", "bytes/s", "W", "set"};
  for (std::size_t i = 0; i < model::kGpuCounters.size(); ++i) {
    shape.counters[i] = build.intern(std::string(model::kGpuCounters[i]));
    shape.counter_units[i] = build.intern(kUnits[i]);
  }
}

}  // namespace

std::int64_t ModelStage::events() const {
  std::int64_t count = 0;
  for (const KernelCall& call : calls) {
    count += 2 + call.depth;
    if (call.allocated_bytes > 0) count += 2;
  }
  return count;
}

std::int64_t StepShape::events_per_step() const {
  std::int64_t count = optimizer.events();
  for (const ModelStage& stage : forward) count += stage.events();
  for (const ModelStage& stage : backward) count += stage.events();
  // A bucket: its fill, the call, the kernel and the collective; then those of the loss, and the
  // last wait.
  count += 4 * static_cast<std::int64_t>(buckets.size()) + 3 + 1;
  return count + kSyntheticCopiesIn + kSyntheticCopiesOut;
}

StepShape make_step_shape() {
  ShapeBuilder build;
  StepShape shape;
  shape.forward.assign(kBlocks, block_forward(build));
  shape.backward.assign(kBlocks, block_backward(build));
  add_ends(build, shape);
  shape.optimizer = optimizer_stage(build);
  add_buckets(build, shape);
  name_the_rest(build, shape);
  shape.strings = std::move(build.strings);
  return shape;
}

}  // namespace shardlens::trace::synthetic
