//===- Givens.cpp - Statements on data ------------------------------------===//

#include "espalier/Dialect/Poly/IR/GivenLimits.h"
#include "espalier/Dialect/Poly/IR/IndexData.h"
#include "espalier/Dialect/Poly/IR/Poly.h"

#include "mlir/Support/DebugStringHelper.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::poly;

SmallVector<ComputeAccess> GivenOp::getReadAccesses() {
  SmallVector<ComputeAccess> accesses;
  for (auto [array, map] :
       llvm::zip_equal(getReads(), getReadMaps().getAsRange<AffineMapAttr>()))
    accesses.push_back({array, map.getValue(), {}});
  return accesses;
}

/// The most that `expr` and its parts can be in size, where symbols from
/// `numParams` on are values of reads.
static uint64_t getMostSize(AffineExpr expr, unsigned numParams) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() < 0 ? -uint64_t(number.getValue())
                                 : uint64_t(number.getValue());
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr))
    return symbol.getPosition() < numParams ? kMaxGivenSize : kMaxGivenValue;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return kMaxGivenSize;
  uint64_t lhs = getMostSize(binary.getLHS(), numParams);
  uint64_t rhs = getMostSize(binary.getRHS(), numParams);
  if (expr.getKind() == AffineExprKind::Add)
    return llvm::SaturatingAdd(lhs, rhs);
  if (expr.getKind() == AffineExprKind::Mul)
    return llvm::SaturatingMultiply(lhs, rhs);
  return std::max(lhs, rhs);
}

/// Checks C5 and C7 for an expression of `op`; returns what is wrong, if
/// anything.
static std::string findFault(GivenOp op, AffineExpr expr) {
  std::string fault = findAffineFault(expr);
  if (fault.empty() &&
      getMostSize(expr, op.getKernel().getNumParameters()) > uint64_t(1) << 62)
    llvm::raw_string_ostream(fault)
        << "expressions that are at most 2^62 in size, for values of 2^31 and "
           "sizes of 2^40, but got "
        << expr;
  return fault;
}

/// Checks C2 and C3.
static LogicalResult verifyReads(GivenOp op) {
  // C2
  if (op.getReads().empty())
    return op.emitOpError("expects at least one read; what holds of sizes "
                          "alone belongs to 'poly.assumptions'");
  if (op.getReads().size() != op.getReadMaps().size())
    return op.emitOpError("expects one map per read, but got ")
           << op.getReadMaps().size() << " maps for " << op.getReads().size();
  KernelOp kernel = op.getKernel();
  for (auto [number, read] : llvm::enumerate(op.getReadAccesses())) {
    MemRefType type = read.getType();
    if (read.map.getNumDims() != op.getNumDims() ||
        read.map.getNumSymbols() != kernel.getNumParameters() ||
        read.map.getNumResults() != type.getRank())
      return op.emitOpError("expects a map from ")
             << op.getNumDims() << " dimensions and "
             << kernel.getNumParameters() << " parameters to " << type.getRank()
             << " indices for read #" << number << ", but got "
             << AffineMapAttr::get(read.map);
    // C3
    auto argument = dyn_cast<BlockArgument>(read.array);
    std::string other =
        argument && type.getElementType().isInteger()
            ? describeOtherData(argument)
            : (argument ? "is of " : "is of an array, ") + debugString(type);
    if (!other.empty())
      return op.emitOpError("expects reads of arguments that are memrefs of "
                            "integers with a sign, but read #")
             << number << ' ' << other;
    for (ComputeOp compute : kernel.getComputes())
      if (llvm::is_contained(compute.getWrites(), read.array))
        return op.emitOpError("expects reads of arguments that no computation "
                              "writes, but read #")
               << number << " is written by @" << compute.getSymName();
    // C5, C7
    for (AffineExpr index : read.map.getResults())
      if (std::string fault = findFault(op, index); !fault.empty())
        return op.emitOpError("expects indices of read #")
               << number << " by " << fault;
  }
  return success();
}

/// Checks C4 and C5 for `where` or `holds`.
static LogicalResult verifyCondition(GivenOp op, StringRef name,
                                     IntegerSet set) {
  unsigned numParams = op.getKernel().getNumParameters();
  // C4
  if (set.getNumDims() != op.getNumDims() || set.getNumSymbols() < numParams ||
      set.getNumSymbols() > numParams + op.getReads().size())
    return op.emitOpError("expects '")
           << name << "' to have " << op.getNumDims() << " dimensions, with "
           << numParams << " parameters and at most " << op.getReads().size()
           << " values of reads as symbols, but got " << set.getNumDims()
           << " dimensions and " << set.getNumSymbols() << " symbols";
  // C5, C7
  for (AffineExpr constraint : set.getConstraints())
    if (std::string fault = findFault(op, constraint); !fault.empty())
      return op.emitOpError("expects '") << name << "' with " << fault;
  return success();
}

LogicalResult GivenOp::verify() {
  // C1
  if (getDomain().empty())
    return emitOpError("expects at least one set as domain");
  unsigned numParams = getKernel().getNumParameters();
  for (auto [number, set] : llvm::enumerate(getDomainSets())) {
    if (set.getNumDims() != getNumDims() || set.getNumSymbols() != numParams)
      return emitOpError("expects sets of ")
             << getNumDims() << " dimensions with the kernel's " << numParams
             << " parameters as symbols, but set #" << number << " has "
             << set.getNumDims() << " and " << set.getNumSymbols();
    // C5, C7
    for (AffineExpr constraint : set.getConstraints())
      if (std::string fault = findFault(*this, constraint); !fault.empty())
        return emitOpError("expects a domain of ") << fault;
  }
  // C2, C3
  if (failed(verifyReads(*this)))
    return failure();
  // C4, C5
  if (std::optional<IntegerSet> where = getWhere())
    if (failed(verifyCondition(*this, "where", *where)))
      return failure();
  if (failed(verifyCondition(*this, "holds", getHolds())))
    return failure();
  // C6
  if (std::optional<ArrayAttr> dims = getDims()) {
    llvm::SmallDenseSet<Attribute> names(dims->begin(), dims->end());
    if (dims->size() != getNumDims() || names.size() != getNumDims())
      return emitOpError("expects a different name for each of ")
             << getNumDims() << " dimensions, but got " << *dims;
  }
  return success();
}
