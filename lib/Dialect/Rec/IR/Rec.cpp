//===- Rec.cpp - The rec dialect ------------------------------------------===//

#include "espalier/Dialect/Rec/IR/Rec.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;
using namespace espalier;
using namespace espalier::rec;

#include "espalier/Dialect/Rec/IR/RecDialect.cpp.inc"
#include "espalier/Dialect/Rec/IR/RecEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Rec/IR/RecAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "espalier/Dialect/Rec/IR/RecTypes.cpp.inc"

namespace {
/// Keeps constants in their cells.
struct RecFoldInterface : DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<CaseOp>(region->getParentOp());
  }
};
} // namespace

void RecDialect::initialize() {
  addInterfaces<RecFoldInterface>();
  addOperations<
#define GET_OP_LIST
#include "espalier/Dialect/Rec/IR/RecOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "espalier/Dialect/Rec/IR/RecAttributes.cpp.inc"
      >();
  addTypes<
#define GET_TYPEDEF_LIST
#include "espalier/Dialect/Rec/IR/RecTypes.cpp.inc"
      >();
}

LogicalResult NodeType::verify(function_ref<InFlightDiagnostic()> emitError,
                               Structure structure, unsigned arity) {
  if (structure == Structure::Sequence && arity != 1)
    return emitError() << "expects a sequence of arity 1, but got " << arity;
  if (arity > std::numeric_limits<int32_t>::max())
    return emitError() << "expects an arity of 31 bits, but got " << arity;
  return success();
}
