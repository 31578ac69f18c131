//===- Poly.cpp - The poly dialect and its attributes ---------------------===//

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier::poly;

#include "espalier/Dialect/Poly/IR/PolyDialect.cpp.inc"
#include "espalier/Dialect/Poly/IR/PolyEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Poly/IR/PolyAttributes.cpp.inc"

namespace {

/// Keeps the constants of a computation in its body: a kernel holds no others.
struct PolyFoldInterface : public DialectFoldInterface {
  using DialectFoldInterface::DialectFoldInterface;

  bool shouldMaterializeInto(Region *region) const final {
    return isa<ComputeOp>(region->getParentOp());
  }
};

} // namespace

void PolyDialect::initialize() {
  addInterfaces<PolyFoldInterface>();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "espalier/Dialect/Poly/IR/PolyAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "espalier/Dialect/Poly/IR/PolyOps.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LoopAttr
//===----------------------------------------------------------------------===//

LogicalResult LoopAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                               LoopKind kind, int64_t width) {
  if (kind == LoopKind::Vector && (width < 1 || width > kMaxLanes))
    return emitError() << "expects a vector width between 1 and " << kMaxLanes
                       << ", but got " << width;
  if (kind != LoopKind::Vector && width != 0)
    return emitError() << "expects a width only for vector loops, but got "
                       << width << " for " << stringifyLoopKind(kind);
  return success();
}

/// Parses `kind` or `vector(W)`.
static Attribute parseLoop(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<LoopKind> kind = symbolizeLoopKind(keyword);
  if (!kind) {
    parser.emitError(loc, "expects sequential, parallel, vector(W) or unroll, "
                          "but got ")
        << keyword;
    return {};
  }
  int64_t width = 0;
  if (*kind == LoopKind::Vector &&
      (parser.parseLParen() || parser.parseInteger(width) ||
       parser.parseRParen()))
    return {};
  return parser.getChecked<LoopAttr>(loc, parser.getContext(), *kind, width);
}

static void printLoop(AsmPrinter &printer, LoopAttr loop) {
  printer << stringifyLoopKind(loop.getKind());
  if (loop.isVector())
    printer << "(" << loop.getWidth() << ")";
}

Attribute LoopAttr::parse(AsmParser &parser, Type) {
  if (parser.parseLess())
    return {};
  Attribute loop = parseLoop(parser);
  if (!loop || parser.parseGreater())
    return {};
  return loop;
}

void LoopAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printLoop(printer, *this);
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Parts of the assembly format of the operations
//===----------------------------------------------------------------------===//

/// `[parallel, vector(16)]`.
static ParseResult parseLoops(OpAsmParser &parser, ArrayAttr &loops) {
  SmallVector<Attribute> elements;
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square, [&]() {
        elements.push_back(parseLoop(parser));
        return success(elements.back() != nullptr);
      }))
    return failure();
  loops = parser.getBuilder().getArrayAttr(elements);
  return success();
}

static void printLoops(OpAsmPrinter &printer, Operation *, ArrayAttr loops) {
  printer << "[";
  llvm::interleaveComma(loops.getAsRange<LoopAttr>(), printer,
                        [&](LoopAttr loop) { printLoop(printer, loop); });
  printer << "]";
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static bool isDivision(AffineExpr expr) {
  return expr.getKind() == AffineExprKind::FloorDiv ||
         expr.getKind() == AffineExprKind::CeilDiv ||
         expr.getKind() == AffineExprKind::Mod;
}

std::string espalier::poly::findNumberFault(AffineExpr expr) {
  std::string fault;
  llvm::raw_string_ostream os(fault);
  expr.walk([&](AffineExpr part) {
    if (!fault.empty())
      return;
    if (auto number = dyn_cast<AffineConstantExpr>(part);
        number && (number.getValue() > kMaxIndexNumber ||
                   number.getValue() < -kMaxIndexNumber))
      os << "numbers of at most 2^31, but got " << number.getValue() << " in "
         << expr;
    if (!isDivision(part))
      return;
    auto divisor =
        dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    if (divisor && divisor.getValue() <= 0)
      os << "positive divisors, but got " << part;
  });
  return fault;
}

std::string espalier::poly::findIndexFault(AffineExpr expr,
                                           unsigned numParams) {
  std::string fault = findNumberFault(expr);
  llvm::raw_string_ostream os(fault);
  expr.walk([&](AffineExpr part) {
    if (!fault.empty() || !isDivision(part))
      return;
    cast<AffineBinaryOpExpr>(part).getRHS().walk([&](AffineExpr divisor) {
      auto symbol = dyn_cast<AffineSymbolExpr>(divisor);
      if (fault.empty() && symbol && symbol.getPosition() >= numParams)
        os << "divisors of numbers and parameters, but got " << part;
    });
  });
  return fault;
}

std::string espalier::poly::findAffineFault(AffineExpr expr) {
  if (expr.isPureAffine())
    return findNumberFault(expr);
  std::string fault = "affine expressions, but got ";
  llvm::raw_string_ostream(fault) << expr;
  return fault;
}

/// `(%A[map], %B[map] : type, type)`.
static ParseResult
parseAccesses(OpAsmParser &parser,
              SmallVectorImpl<OpAsmParser::UnresolvedOperand> &arrays,
              SmallVectorImpl<Type> &types, ArrayAttr &maps) {
  SmallVector<Attribute> elements;
  auto parseAccess = [&]() -> ParseResult {
    AffineMapAttr map;
    if (parser.parseOperand(arrays.emplace_back()) || parser.parseLSquare() ||
        parser.parseAttribute(map) || parser.parseRSquare())
      return failure();
    elements.push_back(map);
    return success();
  };
  if (parser.parseLParen())
    return failure();
  if (failed(parser.parseOptionalRParen()) &&
      (parser.parseCommaSeparatedList(parseAccess) ||
       parser.parseColonTypeList(types) || parser.parseRParen()))
    return failure();
  maps = parser.getBuilder().getArrayAttr(elements);
  return success();
}

static void printAccesses(OpAsmPrinter &printer, Operation *,
                          OperandRange arrays, TypeRange types,
                          ArrayAttr maps) {
  printer << "(";
  if (!arrays.empty()) {
    llvm::interleaveComma(llvm::zip_equal(arrays, maps), printer, [&](auto it) {
      printer << std::get<0>(it) << "[";
      printer.printAttribute(std::get<1>(it));
      printer << "]";
    });
    printer << " : ";
    llvm::interleaveComma(types, printer);
  }
  printer << ")";
}

#define GET_OP_CLASSES
#include "espalier/Dialect/Poly/IR/PolyOps.cpp.inc"
