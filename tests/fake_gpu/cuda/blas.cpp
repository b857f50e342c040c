// Matrix products as cuBLAS is asked for them: each is one kernel whose length follows from its
// size.
#include <cublasLt.h>
#include <cublas_v2.h>

#include <cstring>

#include "tests/fake_gpu/cuda/device.h"
#include "tests/fake_gpu/cuda/memory.h"
#include "tests/fake_gpu/cupti/activity.h"

struct cublasContext {
  cudaStream_t stream = nullptr;
  cublasMath_t mode = CUBLAS_DEFAULT_MATH;
  cublasPointerMode_t pointers = CUBLAS_POINTER_MODE_HOST;
};

using namespace shardlens::fake_gpu;

namespace {

cublasStatus_t multiply(cudaStream_t stream, double rows, double columns, double inner,
                        double count) {
  launch_kernel(stream_of(stream),
                {"nvjet_made_up_matrix_product",
                 matrix_product_ns(2 * rows * columns * inner * count), forget_values});
  return CUBLAS_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  *handle = new cublasContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  handle->stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetWorkspace_v2(cublasHandle_t, void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  handle->mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = handle->mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  handle->pointers = mode;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = handle->pointers;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasSgemm_v2(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int rows,
                              int columns, int inner, const float*, const float*, int, const float*,
                              int, const float*, float*, int) {
  return multiply(handle->stream, rows, columns, inner, 1);
}
cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t, cublasOperation_t, int rows,
                            int columns, int inner, const void*, const void*, cudaDataType, int,
                            const void*, cudaDataType, int, const void*, void*, cudaDataType, int,
                            cublasComputeType_t, cublasGemmAlgo_t) {
  return multiply(handle->stream, rows, columns, inner, 1);
}
cublasStatus_t cublasSgemmStridedBatched(cublasHandle_t handle, cublasOperation_t,
                                         cublasOperation_t, int rows, int columns, int inner,
                                         const float*, const float*, int, long long, const float*,
                                         int, long long, const float*, float*, int, long long,
                                         int count) {
  return multiply(handle->stream, rows, columns, inner, count);
}
cublasStatus_t cublasGemmStridedBatchedEx(cublasHandle_t handle, cublasOperation_t,
                                          cublasOperation_t, int rows, int columns, int inner,
                                          const void*, const void*, cudaDataType, int, long long,
                                          const void*, cudaDataType, int, long long, const void*,
                                          void*, cudaDataType, int, long long, int count,
                                          cublasComputeType_t, cublasGemmAlgo_t) {
  return multiply(handle->stream, rows, columns, inner, count);
}
cublasStatus_t cublasSgemv_v2(cublasHandle_t handle, cublasOperation_t, int rows, int columns,
                              const float*, const float*, int, const float*, int, const float*,
                              float*, int) {
  return multiply(handle->stream, rows, columns, 1, 1);
}
cublasStatus_t cublasDotEx(cublasHandle_t handle, int size, const void*, cudaDataType, int,
                           const void*, cudaDataType, int, void*, cudaDataType, cudaDataType) {
  return multiply(handle->stream, size, 1, 1, 1);
}

// ---- cublasLt: descriptions are what it needs of them, a matrix's rows and columns.
std::size_t cublasLtGetVersion() { return 130'000; }

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description, cublasComputeType_t,
                                        cudaDataType) {
  *description = new cublasLtMatmulDescOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  delete description;
  return CUBLAS_STATUS_SUCCESS;
}
// Whether the first matrix is transposed decides what the length of the inner sums is.
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, std::size_t) {
  if (attribute == CUBLASLT_MATMUL_DESC_TRANSA) {
    cublasOperation_t operation{};
    std::memcpy(&operation, value, sizeof operation);
    description->data[0] = operation != CUBLAS_OP_N ? 1 : 0;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new cublasLtMatmulPreferenceOpaque_t{};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType,
                                          std::uint64_t rows, std::uint64_t columns, std::int64_t) {
  *layout = new cublasLtMatrixLayoutOpaque_t{{rows, columns}};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t,
                                                cublasLtMatrixLayoutAttribute_t, const void*,
                                                std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t results[],
                                              int* count) {
  results[0] = {};
  *count = 1;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t description, const void*,
                              const void*, cublasLtMatrixLayout_t first, const void*,
                              cublasLtMatrixLayout_t, const void*, const void*,
                              cublasLtMatrixLayout_t, void*, cublasLtMatrixLayout_t result,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t,
                              cudaStream_t stream) {
  const auto inner = first->data[description->data[0] != 0 ? 0 : 1];
  return multiply(stream, static_cast<double>(result->data[0]),
                  static_cast<double>(result->data[1]), static_cast<double>(inner), 1);
}

}  // extern "C"
