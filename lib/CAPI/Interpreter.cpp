//===- Interpreter.cpp - C API of the reference interpreter ---------------===//

#include "espalier-c/Interpreter.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Interpreter/Interpreter.h"

using namespace mlir;
using espalier::interpreter::Tensor;

struct espalier_results {
  SmallVector<Tensor> tensors;
  SmallVector<int32_t> dtypes;
};

/// Returns MLIR's type for an element type of the C API, or null.
static Type elementType(MLIRContext *context, int32_t dtype) {
  Builder builder(context);
  switch (dtype) {
  case ESPALIER_F32:
    return builder.getF32Type();
  case ESPALIER_F64:
    return builder.getF64Type();
  case ESPALIER_F16:
    return builder.getF16Type();
  case ESPALIER_BF16:
    return builder.getBF16Type();
  case ESPALIER_I8:
  case ESPALIER_I16:
  case ESPALIER_I32:
  case ESPALIER_I64:
    return builder.getIntegerType(8 * espalier_dtype_size(dtype));
  case ESPALIER_U8:
  case ESPALIER_U16:
  case ESPALIER_U32:
  case ESPALIER_U64:
    return builder.getIntegerType(8 * espalier_dtype_size(dtype),
                                  /*isSigned=*/false);
  case ESPALIER_BOOL:
    return builder.getI1Type();
  default:
    return {};
  }
}

/// The inverse of `elementType`; -1 for a type that it does not return.
static int32_t dtypeOf(Type type) {
  for (int32_t dtype = 0; dtype < ESPALIER_NUM_DTYPES; ++dtype)
    if (elementType(type.getContext(), dtype) == type)
      return dtype;
  return -1;
}

espalier_results *espalier_interpret(espalier_module *module,
                                     const espalier_tensor *inputs,
                                     int32_t num_inputs) {
  if (!module)
    return nullptr;
  espalier::capi::ErrorCollector collector(&module->context, module->error);
  SmallVector<Tensor> operands;
  if (num_inputs > 0 && !inputs) {
    module->error = "expects inputs, but got a null pointer";
    return nullptr;
  }
  for (int32_t i = 0; i < num_inputs; ++i) {
    const espalier_tensor &input = inputs[i];
    bool hasShape = input.rank == 0 || (input.rank > 0 && input.extents);
    ArrayRef<int64_t> shape(input.extents, hasShape ? input.rank : 0);
    hasShape &= llvm::all_of(shape, [](int64_t n) { return n >= 0; });
    Type element = elementType(&module->context, input.dtype);
    std::optional<size_t> bytes;
    RankedTensorType type;
    if (element && hasShape) {
      type = RankedTensorType::get(shape, element);
      bytes = espalier::interpreter::getDenseBytes(type);
    }
    if (!bytes) {
      module->error =
          "expects inputs of known types and sizes, but got another "
          "as input #" +
          std::to_string(i);
      return nullptr;
    }
    if (*bytes > 0 && !input.data) {
      module->error =
          "expects data, but got a null pointer as input #" + std::to_string(i);
      return nullptr;
    }
    operands.push_back(Tensor::wrap(
        type, ArrayRef(static_cast<const char *>(input.data), *bytes)));
  }
  FailureOr<SmallVector<Tensor>> tensors =
      espalier::interpreter::interpret(*module->module, operands);
  if (failed(tensors))
    return nullptr;
  auto results = std::make_unique<espalier_results>();
  for (const Tensor &tensor : *tensors)
    results->dtypes.push_back(dtypeOf(tensor.getElementType()));
  results->tensors = std::move(*tensors);
  return results.release();
}

int32_t espalier_results_count(const espalier_results *results) {
  return results->tensors.size();
}

espalier_tensor espalier_results_get(const espalier_results *results,
                                     int32_t index) {
  const Tensor &tensor = results->tensors[index];
  return {const_cast<char *>(tensor.getBytes().data()), results->dtypes[index],
          static_cast<int32_t>(tensor.getShape().size()),
          tensor.getShape().data()};
}

void espalier_results_destroy(espalier_results *results) { delete results; }
