//===- ProfileCalls.cpp - Programs that time their kernels ----------------===//

#include "espalier/Conversion/ProfileCalls.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Box.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/CastInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace espalier {
#define GEN_PASS_DEF_POLYPROFILECALLSPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// What a row of the profile holds.
enum Column { kNanoseconds, kOperations, kBytes, kNumColumns };

/// POSIX's clock that nobody sets, on Linux.
static constexpr int32_t kMonotonicClock = 1;
static constexpr llvm::StringLiteral kClockFunction = "clock_gettime";

/// The floating-point operations of one point.
static int64_t countOperations(poly::ComputeOp compute) {
  int64_t count = 0;
  compute.getBody().walk([&](Operation *op) {
    bool isArithmetic =
        op->getNumResults() == 1 && isa<FloatType>(op->getResult(0).getType());
    if (isArithmetic && !op->hasTrait<OpTrait::ConstantLike>() &&
        !isa<CastOpInterface, arith::SelectOp>(op))
      count += isa<math::FmaOp>(op) ? 2 : 1;
  });
  return count;
}

namespace {
/// Rewrites @main and its plan.
class Profiler {
public:
  Profiler(ModuleOp module, ProgramFunctions functions,
           ArrayRef<poly::CallOp> calls)
      : module(module), functions(functions), calls(calls),
        builder(module.getContext()), loc(functions.main.getLoc()) {}

  std::vector<ProfiledCall> run();

private:
  ProfiledCall describe(poly::CallOp call);
  void addClock();
  void addOutput();
  void profile(poly::CallOp call, int64_t row);
  /// The floating-point operations of `call`, or -1 if values that a kernel
  /// reads decide over them.
  Value emitOperations(poly::CallOp call);
  /// The bytes of the arrays that `call` passes.
  Value emitBytes(poly::CallOp call);
  Value emitIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  void store(Value value, int64_t row, Column column);

  ModuleOp module;
  ProgramFunctions functions;
  ArrayRef<poly::CallOp> calls;
  OpBuilder builder;
  Location loc;
  func::FuncOp clock;
  Value output;
};
} // namespace

ProfiledCall Profiler::describe(poly::CallOp call) {
  auto kernel = module.lookupSymbol<poly::KernelOp>(call.getCallee());
  ProfiledCall result;
  result.kernel = kernel.getSymName().str();
  for (StringRef name : poly::getOperators(kernel))
    result.operators.push_back(name.str());
  llvm::SmallSetVector<StringRef, 4> nodes;
  call.getLoc()->walk([&](Location part) {
    if (auto name = dyn_cast<NameLoc>(part))
      nodes.insert(name.getName().getValue());
    return WalkResult::advance();
  });
  for (StringRef node : nodes)
    result.nodes.push_back(node.str());
  return result;
}

/// Makes a function that returns nanoseconds since some time.
void Profiler::addClock() {
  SymbolTable symbols(module);
  builder.setInsertionPointToEnd(module.getBody());
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  // A pointer is passed like a number of its size.
  auto read = func::FuncOp::create(builder, loc, kClockFunction,
                                   builder.getFunctionType({i32, i64}, {i32}));
  read.setPrivate();
  clock = func::FuncOp::create(builder, loc, "read_clock",
                               builder.getFunctionType({}, {i64}));
  clock.setPrivate();
  // Under another name where there is a kernel of this one.
  symbols.insert(clock);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(clock.addEntryBlock());
  Value time =
      memref::AllocaOp::create(builder, loc, MemRefType::get({2}, i64));
  Value address = arith::IndexCastOp::create(
      builder, loc, i64,
      memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, time));
  Value which =
      arith::ConstantIntOp::create(builder, loc, i32, kMonotonicClock);
  func::CallOp::create(builder, loc, read, ValueRange{which, address});
  Value seconds = memref::LoadOp::create(builder, loc, time, emitIndex(0));
  Value rest = memref::LoadOp::create(builder, loc, time, emitIndex(1));
  Value billion = arith::ConstantIntOp::create(builder, loc, i64, 1000000000);
  Value scaled = arith::MulIOp::create(builder, loc, seconds, billion);
  Value sum = arith::AddIOp::create(builder, loc, scaled, rest);
  func::ReturnOp::create(builder, loc, sum);
}

void Profiler::addOutput() {
  int64_t numRows = calls.size();
  auto type = MemRefType::get({numRows, kNumColumns}, builder.getI64Type());
  auto attrs = builder.getDictionaryAttr(
      builder.getNamedAttr(kNameAttr, builder.getStringAttr(kProfileName)));
  func::FuncOp main = functions.main;
  unsigned number = main.getNumArguments();
  (void)main.insertArgument(number, type, attrs, loc);
  output = main.getArgument(number);

  func::FuncOp plan = functions.plan;
  auto end = cast<func::ReturnOp>(plan.getBody().front().getTerminator());
  builder.setInsertionPoint(end);
  for (int64_t extent : type.getShape())
    end.getOperandsMutable().append(emitIndex(extent));
  plan.setType(
      builder.getFunctionType(plan.getArgumentTypes(), end.getOperandTypes()));
}

void Profiler::store(Value value, int64_t row, Column column) {
  if (value.getType().isIndex())
    value =
        arith::IndexCastOp::create(builder, loc, builder.getI64Type(), value);
  memref::StoreOp::create(builder, loc, value, output,
                          ValueRange{emitIndex(row), emitIndex(column)});
}

Value Profiler::emitOperations(poly::CallOp call) {
  auto kernel = module.lookupSymbol<poly::KernelOp>(call.getCallee());
  polyhedral::Context context;
  SmallVector<Value> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(call.getArguments()[parameter.getArgNumber()]);
  Value sum = emitIndex(0);
  for (poly::ComputeOp compute : kernel.getComputes()) {
    int64_t count = countOperations(compute);
    if (count == 0)
      continue;
    if (compute.getWhere())
      return emitIndex(-1);
    for (IntegerSet domain : compute.getDomainSets()) {
      auto box = polyhedral::getBoundingBox(
          builder.getContext(), polyhedral::Set::get(context, domain));
      if (!box)
        return emitIndex(-1);
      Value points = emitIndex(count);
      for (AffineExpr extent : box->extents) {
        Value along =
            affine::expandAffineExpr(builder, loc, extent, {}, parameters);
        along = arith::MaxSIOp::create(builder, loc, along, emitIndex(0));
        points = arith::MulIOp::create(builder, loc, points, along);
      }
      sum = arith::AddIOp::create(builder, loc, sum, points);
    }
  }
  return sum;
}

Value Profiler::emitBytes(poly::CallOp call) {
  Value sum = emitIndex(0);
  for (Value array : call.getArguments()) {
    auto type = dyn_cast<MemRefType>(array.getType());
    if (!type || !type.getElementType().isIntOrFloat())
      continue;
    Value bytes = emitIndex(llvm::divideCeil(type.getElementTypeBitWidth(), 8));
    for (int64_t dim = 0; dim < type.getRank(); ++dim) {
      Value extent =
          type.isDynamicDim(dim)
              ? memref::DimOp::create(builder, loc, array, dim).getResult()
              : emitIndex(type.getDimSize(dim));
      bytes = arith::MulIOp::create(builder, loc, bytes, extent);
    }
    sum = arith::AddIOp::create(builder, loc, sum, bytes);
  }
  return sum;
}

void Profiler::profile(poly::CallOp call, int64_t row) {
  builder.setInsertionPoint(call);
  store(emitOperations(call), row, kOperations);
  store(emitBytes(call), row, kBytes);
  Value begin =
      func::CallOp::create(builder, loc, clock, ValueRange()).getResult(0);
  builder.setInsertionPointAfter(call);
  Value end =
      func::CallOp::create(builder, loc, clock, ValueRange()).getResult(0);
  store(arith::SubIOp::create(builder, loc, end, begin), row, kNanoseconds);
}

std::vector<ProfiledCall> Profiler::run() {
  std::vector<ProfiledCall> result;
  addClock();
  addOutput();
  // Versions of a program leave the rows of each other's calls at zero.
  builder.setInsertionPointToStart(&functions.main.getBody().front());
  Value zero =
      arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 0);
  for (size_t row = 0; row < calls.size(); ++row)
    for (Column column : {kNanoseconds, kOperations, kBytes})
      store(zero, row, column);
  for (auto [row, call] : llvm::enumerate(calls)) {
    result.push_back(describe(call));
    profile(call, row);
  }
  return result;
}

FailureOr<std::vector<ProfiledCall>> espalier::profileCalls(ModuleOp module) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  for (unsigned number = 0; number < functions->main.getNumArguments();
       ++number) {
    auto name = functions->main.getArgAttrOfType<StringAttr>(number, kNameAttr);
    if (name && name.getValue() == kProfileName)
      return functions->main.emitError("expects no argument called '")
             << kProfileName << "', but #" << number << " is";
  }
  if (Operation *other = module.lookupSymbol(kClockFunction))
    return other->emitOpError("expects another name than '")
           << kClockFunction
           << "', which is the C library's function that a profile calls";
  SmallVector<poly::CallOp> calls;
  functions->main.walk([&](poly::CallOp call) { calls.push_back(call); });
  return Profiler(module, *functions, calls).run();
}

namespace {
struct PolyProfileCallsPass
    : espalier::impl::PolyProfileCallsPassBase<PolyProfileCallsPass> {
  void runOnOperation() override {
    if (failed(profileCalls(getOperation())))
      signalPassFailure();
  }
};
} // namespace
