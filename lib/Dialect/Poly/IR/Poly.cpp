//===- Poly.cpp - The poly dialect and its attributes ---------------------===//

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Interfaces/FoldInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier::poly;

#include "espalier/Dialect/Poly/IR/PolyAttrInterfaces.cpp.inc"
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
// Attributes of targets
//===----------------------------------------------------------------------===//

/// Parses `<#gpu.block<x>>`, an attribute of another target, if there is one.
/// Without brackets, a colon after it would be for a type of its own.
/// `expected` is the text of the message if that is not what is needed here.
template <typename InterfaceT>
static OptionalParseResult parseForeign(AsmParser &parser, StringRef expected,
                                        InterfaceT &result) {
  if (failed(parser.parseOptionalLess()))
    return std::nullopt;
  SMLoc loc = parser.getCurrentLocation();
  Attribute attribute;
  if (parser.parseAttribute(attribute) || parser.parseGreater())
    return failure();
  result = dyn_cast<InterfaceT>(attribute);
  if (!result)
    return parser.emitError(loc, "expects ")
           << expected << ", but got " << attribute;
  return success();
}

static void printForeign(AsmPrinter &printer, Attribute attribute) {
  printer << "<" << attribute << ">";
}

std::string MemorySpaceAttrInterface::toText() const {
  if (auto own = dyn_cast<PlacementAttr>(*this))
    return (stringifyPlacement(own.getValue()) + " memory").str();
  return llvm::to_string(Attribute(*this));
}

std::optional<int64_t> PlacementAttr::getCapacity() const {
  if (getValue() == Placement::Heap)
    return std::nullopt;
  return KernelOp::kMaxStackBytes;
}

MemorySpaceAttrInterface PlacementAttr::getFallback() const {
  if (getValue() == Placement::Register)
    return get(getContext(), Placement::Stack);
  return {};
}

bool PlacementAttr::isShared() const {
  return getValue() != Placement::Register;
}

static constexpr StringLiteral kMemorySpaces =
    "heap, stack, register, or the memory space of another target";

static OptionalParseResult
parseOptionalMemorySpace(OpAsmParser &parser, MemorySpaceAttrInterface &space) {
  OptionalParseResult foreign = parseForeign(parser, kMemorySpaces, space);
  if (foreign.has_value())
    return foreign;
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (failed(parser.parseOptionalKeyword(&keyword)))
    return std::nullopt;
  std::optional<Placement> placement = symbolizePlacement(keyword);
  if (!placement)
    return parser.emitError(loc, "expects ")
           << kMemorySpaces << ", but got " << keyword;
  space = PlacementAttr::get(parser.getContext(), *placement);
  return success();
}

ParseResult espalier::poly::parseMemorySpace(OpAsmParser &parser,
                                             MemorySpaceAttrInterface &space) {
  SMLoc loc = parser.getCurrentLocation();
  OptionalParseResult parsed = parseOptionalMemorySpace(parser, space);
  if (parsed.has_value())
    return *parsed;
  return parser.emitError(loc, "expects ") << kMemorySpaces;
}

void espalier::poly::printMemorySpace(OpAsmPrinter &printer, Operation *,
                                      MemorySpaceAttrInterface space) {
  if (auto own = dyn_cast<PlacementAttr>(space))
    printer << own.getValue();
  else
    printForeign(printer, space);
}

static void printOptionalMemorySpace(OpAsmPrinter &printer, ArrayOp array,
                                     MemorySpaceAttrInterface) {
  printMemorySpace(printer, array, array.getPlacement());
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

static constexpr StringLiteral kLoopKinds =
    "sequential, parallel, vector(W) or unroll";

/// Parses `kind` or `vector(W)`.
static Attribute parseLoop(AsmParser &parser) {
  SMLoc loc = parser.getCurrentLocation();
  StringRef keyword;
  if (parser.parseKeyword(&keyword))
    return {};
  std::optional<LoopKind> kind = symbolizeLoopKind(keyword);
  if (!kind) {
    parser.emitError(loc, "expects ") << kLoopKinds << ", but got " << keyword;
    return {};
  }
  int64_t width = 0;
  if (*kind == LoopKind::Vector &&
      (parser.parseLParen() || parser.parseInteger(width) ||
       parser.parseRParen()))
    return {};
  return parser.getChecked<LoopAttr>(loc, parser.getContext(), *kind, width);
}

std::string espalier::poly::toText(LoopKindAttrInterface kind) {
  auto loop = dyn_cast<LoopAttr>(kind);
  if (!loop)
    return llvm::to_string(Attribute(kind));
  std::string text = stringifyLoopKind(loop.getKind()).str();
  if (loop.isVector())
    text += "(" + std::to_string(loop.getWidth()) + ")";
  return text;
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
  printer << "<" << toText(*this) << ">";
}

//===----------------------------------------------------------------------===//
// Parts of the assembly format of the operations
//===----------------------------------------------------------------------===//

ParseResult espalier::poly::parseLoopKind(OpAsmParser &parser,
                                          LoopKindAttrInterface &kind) {
  static const std::string expected =
      (kLoopKinds + ", or a kind of loop of another target").str();
  OptionalParseResult foreign = parseForeign(parser, expected, kind);
  if (foreign.has_value())
    return *foreign;
  kind = dyn_cast_or_null<LoopKindAttrInterface>(parseLoop(parser));
  return success(kind != nullptr);
}

void espalier::poly::printLoopKind(OpAsmPrinter &printer, Operation *,
                                   LoopKindAttrInterface kind) {
  if (isa<LoopAttr>(kind))
    printer << toText(kind);
  else
    printForeign(printer, kind);
}

/// `[parallel, vector(16), <#gpu.thread<x>>]`.
static ParseResult parseLoops(OpAsmParser &parser, ArrayAttr &loops) {
  SmallVector<Attribute> elements;
  auto parseElement = [&]() -> ParseResult {
    LoopKindAttrInterface kind;
    if (parseLoopKind(parser, kind))
      return failure();
    elements.push_back(kind);
    return success();
  };
  if (parser.parseCommaSeparatedList(OpAsmParser::Delimiter::Square,
                                     parseElement))
    return failure();
  loops = parser.getBuilder().getArrayAttr(elements);
  return success();
}

static void printLoops(OpAsmPrinter &printer, Operation *op, ArrayAttr loops) {
  printer << "[";
  llvm::interleaveComma(
      loops.getAsRange<LoopKindAttrInterface>(), printer,
      [&](LoopKindAttrInterface kind) { printLoopKind(printer, op, kind); });
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
