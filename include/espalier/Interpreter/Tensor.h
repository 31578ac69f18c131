//===- Tensor.h - Dense tensors of the reference interpreter ----*- C++ -*-===//

#ifndef ESPALIER_INTERPRETER_TENSOR_H
#define ESPALIER_INTERPRETER_TENSOR_H

#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include <memory>
#include <optional>

namespace espalier::interpreter {

/// Returns the bytes of one element in a dense buffer (an `i1` takes one), or
/// nothing if tensors of this type cannot be held.
std::optional<unsigned> getElementBytes(mlir::Type elementType);
/// Returns the number of bytes of a dense tensor, or nothing if it is not
/// static, not of a supported element type, or too large to count.
std::optional<size_t> getDenseBytes(mlir::RankedTensorType type);

/// Returns memory for tensors, to be given to `free`; null if there is none. No
/// handler of `new`, as LLVM's tools have, ends the process then.
void *allocate(size_t size);

/// Whether the bytes of an element are all 0, but for the highest bit if that
/// is a sign, as that of floating-point numbers is.
bool isZero(llvm::ArrayRef<char> bytes, bool hasSign);

/// A dense, row-major tensor of static shape. Copies share the buffer.
class Tensor {
public:
  /// Makes a tensor of zeros. Fails if its size is not representable or memory
  /// cannot be had.
  static mlir::FailureOr<Tensor> create(mlir::RankedTensorType type);
  /// Wraps bytes that outlive the tensor and that nobody writes to.
  static Tensor wrap(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes);
  /// Takes the value of an attribute, whose bytes are shared where the layouts
  /// agree. Fails if it is not dense.
  static mlir::FailureOr<Tensor> get(mlir::ElementsAttr attribute);
  /// The one element that all elements of an attribute are. Fails if it is not
  /// stored that way, which takes no memory for the others.
  static mlir::FailureOr<Tensor> getSplat(mlir::ElementsAttr attribute);
  /// Makes an attribute of the value.
  mlir::ElementsAttr toAttribute() const;

  mlir::RankedTensorType getType() const { return type; }
  mlir::Type getElementType() const { return type.getElementType(); }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }

  llvm::ArrayRef<char> getBytes() const { return bytes; }
  /// The bytes of a tensor made by `create`, which nobody else has seen.
  llvm::MutableArrayRef<char> getMutableBytes() {
    return {owned.get(), bytes.size()};
  }

  /// One element as a number; the position is row-major. For tests and
  /// messages rather than for loops.
  double getFloat(int64_t position) const;
  int64_t getInteger(int64_t position) const;
  /// Whether all elements are numbers, none of them infinite.
  bool isFinite() const;

private:
  mlir::RankedTensorType type;
  std::shared_ptr<char[]> owned;
  llvm::ArrayRef<char> bytes;
};

} // namespace espalier::interpreter

#endif // ESPALIER_INTERPRETER_TENSOR_H
