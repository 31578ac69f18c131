//===- CheckKernels.cpp - Kernels that look at data -----------------------===//
//
// A statement becomes a kernel over the same points and reads: one computation
// for each constraint, which runs only where the constraint does not hold, and
// leaves the point and what it has read. Its loops are bounded by data where
// those of a kernel with the same `where` are; so a check costs as much as
// there are points to look at.
//
//===----------------------------------------------------------------------===//

#include "CheckKernels.h"
#include "espalier-c/Runtime.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Dialect/Poly/IR/GivenLimits.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace espalier;

MemRefType polytoloops::getRecordType(MLIRContext *context) {
  return MemRefType::get({ESPALIER_RECORD_SIZE}, IntegerType::get(context, 64));
}

//===----------------------------------------------------------------------===//
// What statements say
//===----------------------------------------------------------------------===//

/// `levels[l + 1]`, as messages call a read.
static std::string describeRead(poly::GivenOp given,
                                const poly::ComputeAccess &read) {
  poly::KernelOp kernel = given.getKernel();
  polyhedral::AstNames names;
  for (BlockArgument parameter : kernel.getParameters())
    names.parameters.push_back(
        kernel.getArgumentName(parameter.getArgNumber()));
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < given.getNumDims(); ++dim) {
    dims.push_back(
        getAffineSymbolExpr(names.parameters.size(), given.getContext()));
    names.parameters.push_back(given.getDimName(dim).str());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << kernel.getArgumentName(cast<BlockArgument>(read.array).getArgNumber())
     << "[";
  llvm::interleaveComma(read.map.getResults(), os, [&](AffineExpr index) {
    os << polyhedral::toText(index.replaceDims(dims), names);
  });
  os << "]";
  return text;
}

/// `text` inside a message, where `%` stands for a number.
static std::string escape(StringRef text) {
  std::string escaped;
  for (char letter : text)
    escaped.append(letter == '%' ? 2 : 1, letter);
  return escaped;
}

/// What a message says of a point, with `%` for numbers.
static std::string describePoint(poly::GivenOp given) {
  std::string text = escape(("expects @" + given.getSymName() + " of @" +
                             given.getKernel().getSymName() +
                             " to hold for its data, but got ")
                                .str());
  bool isFirst = true;
  auto add = [&](const Twine &name) {
    text += (isFirst ? "" : ", ") + escape(name.str()) + " = %";
    isFirst = false;
  };
  for (unsigned dim = 0; dim < given.getNumDims(); ++dim)
    add(given.getDimName(dim).getValue());
  for (const poly::ComputeAccess &read : given.getReadAccesses())
    add(describeRead(given, read));
  return text;
}

namespace {
/// What is asked of all points of a check.
struct Points {
  Location loc;
  SmallVector<IntegerSet> domain;
  IntegerSet where; ///< Or null.
  ArrayAttr dims;   ///< Or null.
  SmallVector<poly::ComputeAccess> reads;
  unsigned numParams;

  unsigned getNumDims() const { return domain.front().getNumDims(); }
};
} // namespace

/// Adds the computation that runs at `points` where all of `violated` are at
/// least 0, and writes `message`, the point and the values to `record`.
static void addReport(OpBuilder &builder, const Points &points, Value record,
                      ArrayRef<AffineExpr> violated, int64_t message,
                      const Twine &name) {
  MLIRContext *context = builder.getContext();
  unsigned numDims = points.getNumDims();
  SmallVector<poly::ComputeAccess> writes;
  for (unsigned place = 0; place < 1 + numDims + points.reads.size(); ++place)
    writes.push_back({record,
                      AffineMap::get(numDims, points.numParams,
                                     getAffineConstantExpr(place, context)),
                      {}});
  Type i64 = builder.getI64Type();
  auto compute = poly::ComputeOp::create(
      builder, points.loc, name.str(), points.domain, points.reads, writes,
      std::nullopt, [&](OpBuilder &b, Location loc, ValueRange values) {
        SmallVector<Value> yields{
            arith::ConstantIntOp::create(b, loc, i64, message)};
        for (unsigned dim = 0; dim < numDims; ++dim)
          yields.push_back(arith::IndexCastOp::create(
              b, loc, i64, poly::IndexOp::create(b, loc, dim)));
        for (Value value : values)
          yields.push_back(value.getType() == i64
                               ? value
                               : arith::ExtSIOp::create(b, loc, i64, value));
        poly::YieldOp::create(b, loc, yields);
      });
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> isEquality;
  if (IntegerSet where = points.where) {
    llvm::append_range(constraints, where.getConstraints());
    llvm::append_range(isEquality, where.getEqFlags());
  }
  llvm::append_range(constraints, violated);
  isEquality.resize(constraints.size(), false);
  compute.setWhereAttr(IntegerSetAttr::get(
      IntegerSet::get(numDims, points.numParams + points.reads.size(),
                      constraints, isEquality)));
  if (points.dims)
    compute.setDimsAttr(points.dims);
}

/// Adds computations that look for elements of `array`, argument `argument` of
/// the kernel of `given`, with which its conditions cannot be calculated. They
/// calculate quotients alone, which fit for each element.
static void addRangeChecks(OpBuilder &builder, poly::GivenOp given, Value array,
                           unsigned argument, Value record, int64_t message) {
  MLIRContext *context = builder.getContext();
  poly::KernelOp kernel = given.getKernel();
  unsigned numParams = kernel.getNumParameters();
  auto type = cast<MemRefType>(array.getType());
  unsigned rank = type.getRank();
  auto shape = kernel.getArgAttrOfType<AffineMapAttr>(
      argument, poly::KernelOp::getShapeAttrName());
  SmallVector<AffineExpr> bounds, indices;
  for (unsigned dim = 0; dim < rank; ++dim) {
    indices.push_back(builder.getAffineDimExpr(dim));
    AffineExpr extent =
        shape ? shape.getValue().getResult(dim)
              : builder.getAffineConstantExpr(type.getDimSize(dim));
    llvm::append_values(bounds, indices.back(), extent - 1 - indices.back());
  }
  if (bounds.empty())
    bounds.push_back(builder.getAffineConstantExpr(0));
  IntegerSet domain = IntegerSet::get(rank, numParams, bounds,
                                      SmallVector<bool>(bounds.size(), false));
  SmallVector<poly::ComputeAccess> reads{
      {array, AffineMap::get(rank, numParams, indices, context), {}}};
  SmallVector<poly::ComputeAccess> writes;
  for (unsigned place : {0, 1})
    writes.push_back(
        {record,
         AffineMap::get(rank, numParams, getAffineConstantExpr(place, context)),
         {}});
  AffineExpr quotient =
      builder.getAffineSymbolExpr(numParams).floorDiv(poly::kMaxGivenValue);
  const AffineExpr outside[] = {quotient - 1, -quotient - 2};
  for (auto [number, violated] : llvm::enumerate(outside)) {
    auto compute = poly::ComputeOp::create(
        builder, given.getLoc(),
        ("range_" + Twine(argument) + "_" + Twine(number)).str(), {domain},
        reads, writes, std::nullopt,
        [&](OpBuilder &b, Location loc, ValueRange values) {
          Value own =
              arith::ConstantIntOp::create(b, loc, b.getI64Type(), message);
          poly::YieldOp::create(b, loc, {own, values.front()});
        });
    compute.setWhereAttr(IntegerSetAttr::get(
        IntegerSet::get(rank, numParams + 1, {violated}, {false})));
  }
}

/// A kernel with arguments of `types`, then the record.
static poly::KernelOp createCheck(OpBuilder &builder, Location loc,
                                  StringRef name, SmallVector<Type> types,
                                  unsigned numParams) {
  types.push_back(polytoloops::getRecordType(builder.getContext()));
  auto check = poly::KernelOp::create(builder, loc, name, TypeRange(types));
  auto shape = AffineMap::get(
      0, numParams, builder.getAffineConstantExpr(ESPALIER_RECORD_SIZE));
  check.setArgAttr(types.size() - 1, poly::KernelOp::getShapeAttrName(),
                   AffineMapAttr::get(shape));
  return check;
}

poly::KernelOp
polytoloops::makeStatementCheck(OpBuilder &builder, poly::GivenOp given,
                                ArrayRef<Value> arrays, StringRef name,
                                SmallVectorImpl<Attribute> &messages) {
  poly::KernelOp kernel = given.getKernel();
  unsigned numParams = kernel.getNumParameters();
  SmallVector<Type> types(ValueRange(arrays).getTypes());
  types.append(numParams, builder.getIndexType());
  poly::KernelOp check =
      createCheck(builder, given.getLoc(), name, types, numParams);
  if (IntegerSet assumptions = kernel.getAssumptions())
    check->setAttr(poly::KernelOp::getAssumptionsAttrName(),
                   IntegerSetAttr::get(assumptions));
  IRMapping mapping;
  for (auto [number, array] : llvm::enumerate(arrays)) {
    unsigned source = cast<BlockArgument>(array).getArgNumber();
    mapping.map(array, check.getArgument(number));
    for (StringRef attr :
         {StringRef(poly::KernelOp::getShapeAttrName()), StringRef(kNameAttr)})
      if (Attribute value = kernel.getArgAttr(source, attr))
        check.setArgAttr(number, attr, value);
  }
  Points points{given.getLoc(),
                given.getDomainSets(),
                given.getWhere().value_or(IntegerSet()),
                given.getDimsAttr(),
                given.getReadAccesses(),
                numParams};
  for (poly::ComputeAccess &read : points.reads)
    read.array = mapping.lookup(read.array);
  Value record = check.getArguments().back();
  OpBuilder body = OpBuilder::atBlockEnd(&check.getBody().front());
  messages.push_back(builder.getStringAttr(describePoint(given)));
  unsigned number = 0;
  polyhedral::forEachConstraint(given.getHolds(), [&](AffineExpr constraint) {
    addReport(body, points, record, -constraint - 1, messages.size(),
              given.getSymName() + "_" + Twine(number++));
  });
  // These come last: what they leave is what the program says.
  for (Value array : arrays) {
    if (!cast<MemRefType>(array.getType()).getElementType().isInteger(64))
      continue;
    unsigned source = cast<BlockArgument>(array).getArgNumber();
    messages.push_back(builder.getStringAttr(
        escape(("expects '" + kernel.getArgumentName(source) + "' of @" +
                kernel.getSymName() + ", of which @" + given.getSymName() +
                " states something, to be from -2^31 to less than 2^31, but "
                "got ")
                   .str()) +
        "%"));
    addRangeChecks(body, given, mapping.lookup(array), source, record,
                   messages.size());
  }
  return check;
}

//===----------------------------------------------------------------------===//
// What attributes state
//===----------------------------------------------------------------------===//

namespace {
/// Builds the kernel of a check of one array.
class PropertyCheck {
public:
  PropertyCheck(OpBuilder &builder, poly::KernelOp kernel, unsigned number,
                StringRef name, SmallVectorImpl<Attribute> &messages);

  poly::KernelOp run();

private:
  AffineExpr getValue(unsigned read) {
    return body.getAffineSymbolExpr(numParams + read);
  }
  AffineExpr getBound() { return body.getAffineSymbolExpr(numParams - 1); }
  /// "expects values of 'x' of @k `rule`, but ".
  std::string describeRule(const Twine &rule);
  /// Number of a message that says which `rule` an element breaks.
  int64_t addMessage(const Twine &rule, StringRef more = "");
  void checkBound(AffineExpr bound);
  void checkOrder();
  void checkDifference();

  MLIRContext *context;
  poly::KernelOp kernel;
  unsigned number;
  MemRefType type;
  SmallVectorImpl<Attribute> &messages;
  unsigned numParams;
  poly::KernelOp check;
  OpBuilder body;
  SmallVector<AffineExpr> indices;
  /// All elements.
  std::optional<Points> points;
};
} // namespace

PropertyCheck::PropertyCheck(OpBuilder &builder, poly::KernelOp kernel,
                             unsigned number, StringRef name,
                             SmallVectorImpl<Attribute> &messages)
    : context(builder.getContext()), kernel(kernel), number(number),
      type(cast<MemRefType>(kernel.getArgumentTypes()[number])),
      messages(messages), body(context) {
  bool isBounded(kernel.getArgAttr(number, poly::KernelOp::getBoundAttrName()));
  numParams = type.getRank() + isBounded;
  SmallVector<Type> types{type};
  types.append(numParams, builder.getIndexType());
  check = createCheck(builder, kernel.getLoc(), name, types, numParams);
  body.setInsertionPointToEnd(&check.getBody().front());
  SmallVector<AffineExpr> extents, constraints;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    indices.push_back(body.getAffineDimExpr(dim));
    extents.push_back(type.isDynamicDim(dim)
                          ? body.getAffineSymbolExpr(dim)
                          : body.getAffineConstantExpr(type.getDimSize(dim)));
    llvm::append_values(constraints, indices.back(),
                        extents.back() - 1 - indices.back());
  }
  if (constraints.empty())
    constraints.push_back(body.getAffineConstantExpr(0));
  check.setArgAttr(
      0, poly::KernelOp::getShapeAttrName(),
      AffineMapAttr::get(AffineMap::get(0, numParams, extents, context)));
  check.setArgAttr(0, kNameAttr,
                   body.getStringAttr(kernel.getArgumentName(number)));
  points.emplace(
      Points{kernel.getLoc(),
             {IntegerSet::get(type.getRank(), numParams, constraints,
                              SmallVector<bool>(constraints.size(), false))},
             IntegerSet(),
             ArrayAttr(),
             {{check.getArgument(0),
               AffineMap::get(type.getRank(), numParams, indices, context),
               {}}},
             numParams});
}

std::string PropertyCheck::describeRule(const Twine &rule) {
  return ("expects values of '" + kernel.getArgumentName(number) + "' of @" +
          kernel.getSymName() + " " + rule + ", but ")
      .str();
}

int64_t PropertyCheck::addMessage(const Twine &rule, StringRef more) {
  std::string element = "%";
  if (type.getRank() != 1) {
    element = "(";
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      element += dim ? ", %" : "%";
    element += ")";
  }
  messages.push_back(body.getStringAttr(escape(describeRule(rule)) +
                                        "element " + element + " is %" + more));
  return messages.size();
}

void PropertyCheck::checkBound(AffineExpr bound) {
  polyhedral::AstNames names;
  for (BlockArgument parameter : kernel.getParameters())
    names.parameters.push_back(
        kernel.getArgumentName(parameter.getArgNumber()));
  int64_t message =
      addMessage("from 0 to less than " + polyhedral::toText(bound, names));
  Value record = check.getArguments().back();
  addReport(body, *points, record, getValue(0) - getBound(), message, "above");
  addReport(body, *points, record, -getValue(0) - 1, message, "below");
}

void PropertyCheck::checkOrder() {
  Points later = *points;
  AffineExpr index = indices.front();
  later.domain.front() = IntegerSet::get(
      1, numParams, {index - 1, later.domain.front().getConstraint(1)},
      {false, false});
  later.reads.push_back(later.reads.front());
  later.reads.back().map = AffineMap::get(1, numParams, index - 1);
  addReport(
      body, later, check.getArguments().back(), getValue(1) - getValue(0) - 1,
      addMessage("that do not decrease", " and the one before it %"), "order");
}

/// Counts how often each value occurs, of those that may: not at all, once, or
/// more often.
void PropertyCheck::checkDifference() {
  Location loc = points->loc;
  Type i8 = body.getI8Type();
  Value bound = check.getArgument(check.getNumArguments() - 2);
  Value counts = poly::ArrayOp::create(
      body, loc, MemRefType::get({ShapedType::kDynamic}, i8), ValueRange(bound),
      poly::PlacementAttr::get(context, poly::Placement::Heap), AffineMapAttr(),
      TypeAttr(), AffineMapAttr());
  AffineExpr value = body.getAffineDimExpr(0);
  auto all = IntegerSet::get(1, numParams, {value, getBound() - 1 - value},
                             {false, false});
  poly::ComputeAccess own{counts, AffineMap::get(1, numParams, value), {}};
  poly::ComputeOp::create(body, loc, "none", {all}, {}, {own}, std::nullopt,
                          [&](OpBuilder &b, Location loc, ValueRange) {
                            Value zero =
                                arith::ConstantIntOp::create(b, loc, i8, 0);
                            poly::YieldOp::create(b, loc, zero);
                          });

  unsigned rank = type.getRank();
  auto getCount = [&](unsigned numReads) -> poly::ComputeAccess {
    return {
        counts, AffineMap::get(rank, numParams + numReads, getValue(0)), {}};
  };
  auto add = poly::ComputeOp::create(
      body, loc, "count", points->domain, {points->reads.front(), getCount(1)},
      {getCount(2)}, std::nullopt,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        Value one = arith::ConstantIntOp::create(b, loc, i8, 1);
        Value two = arith::ConstantIntOp::create(b, loc, i8, 2);
        Value sum = arith::AddIOp::create(b, loc, values[1], one);
        Value most = arith::MinSIOp::create(b, loc, sum, two);
        poly::YieldOp::create(b, loc, most);
      });
  add.setWhereAttr(IntegerSetAttr::get(IntegerSet::get(
      rank, numParams + 2, {getValue(0), getBound() - 1 - getValue(0)},
      {false, false})));

  Points values{loc, {all}, IntegerSet(), ArrayAttr(), {own}, numParams};
  messages.push_back(
      body.getStringAttr(escape(describeRule("that are different")) +
                         "% is there more than once"));
  addReport(body, values, check.getArguments().back(), getValue(0) - 2,
            messages.size(), "again");
}

poly::KernelOp PropertyCheck::run() {
  auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
      number, poly::KernelOp::getBoundAttrName());
  if (kernel.getArgAttr(number, poly::KernelOp::getMonotonicAttrName()))
    checkOrder();
  if (kernel.getArgAttr(number, poly::KernelOp::getInjectiveAttrName()))
    checkDifference();
  if (bound)
    checkBound(bound.getValue().getResult(0));
  return check;
}

poly::KernelOp
polytoloops::makePropertyCheck(OpBuilder &builder, poly::KernelOp kernel,
                               unsigned number, StringRef name,
                               SmallVectorImpl<Attribute> &messages) {
  return PropertyCheck(builder, kernel, number, name, messages).run();
}
