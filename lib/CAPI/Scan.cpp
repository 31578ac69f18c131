//===- Scan.cpp - C API for cells that are repeated -----------------------===//

#include "Operations.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier::capi;

namespace {
/// Adds the operations of a body meanwhile.
class BodyScope {
public:
  BodyScope(espalier_module *module, Block *body)
      : module(module), outer(std::exchange(module->body, body)) {}
  BodyScope(const BodyScope &) = delete;
  ~BodyScope() { module->body = outer; }

private:
  espalier_module *module;
  Block *outer;
};
} // namespace

/// Makes what a body uses from outside arguments of it, or constants in it, and
/// returns the values for these arguments.
static SmallVector<Value> isolate(OpBuilder &builder, Block &body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(&body);
  DenseMap<Value, Value> inside;
  SmallVector<Value> captured;
  for (Operation &op : body)
    for (OpOperand &operand : op.getOpOperands()) {
      Value value = operand.get();
      if (value.getParentBlock() == &body)
        continue;
      Value &known = inside[value];
      SplatElementsAttr splat;
      if (!known && matchPattern(value, m_Constant(&splat))) {
        known = builder.clone(*value.getDefiningOp())->getResult(0);
      } else if (!known) {
        known = body.addArgument(value.getType(), value.getLoc());
        captured.push_back(value);
      }
      operand.set(known);
    }
  return captured;
}

/// Appends values that the caller gives, which are to be tensors; `rank` is the
/// least that they have.
static LogicalResult addTensors(espalier_module *module,
                                const espalier_value *values, size_t count,
                                int64_t rank, const Twine &what,
                                SmallVectorImpl<Value> &result) {
  if (count > 0 && isMissing(module, values, what))
    return failure();
  for (size_t i = 0; i < count; ++i) {
    Value value = values[i].ptr ? unwrap(values[i]) : Value();
    auto type = value ? dyn_cast<RankedTensorType>(value.getType())
                      : RankedTensorType();
    if (!type || type.getRank() < rank) {
      fail(module,
           "expects tensors of rank " + Twine(rank) + " or more as " + what);
      return failure();
    }
    result.push_back(value);
  }
  return success();
}

int espalier_module_scan(espalier_module *module, const espalier_scan *scan,
                         espalier_value *results, size_t max_results) {
  if (!module)
    return -1;
  module->error.clear();
  if (!isUnderConstruction(module) || isMissing(module, scan, "a cell") ||
      isMissing(module, reinterpret_cast<const void *>(scan->body), "a body") ||
      (max_results > 0 && isMissing(module, results, "a place for results")))
    return -1;
  OperationState state(getLocation(module, scan->location),
                       espalier::graph::ScanOp::getOperationName());
  if (failed(addTensors(module, scan->states, scan->num_states, 0, "states",
                        state.operands)) ||
      failed(addTensors(module, scan->sequences, scan->num_sequences, 1,
                        "sequences", state.operands)))
    return -1;

  Block &body = state.addRegion()->emplaceBlock();
  SmallVector<espalier_value> arguments;
  for (auto [number, operand] : llvm::enumerate(state.operands)) {
    auto type = cast<RankedTensorType>(operand.getType());
    if (number >= scan->num_states)
      type = RankedTensorType::get(type.getShape().drop_front(),
                                   type.getElementType());
    arguments.push_back(wrap(body.addArgument(type, operand.getLoc())));
  }
  const espalier_value *yielded = nullptr;
  int count;
  {
    BodyScope scope(module, &body);
    count = scan->body(arguments.data(), &yielded, scan->user);
  }
  if (count < 0)
    return fail(module, "expects a body");
  ErrorCollector collector(&module->context, module->error);
  SmallVector<Value> values;
  if (failed(
          addTensors(module, yielded, count, 0, "what a step gives", values)))
    return -1;
  OpBuilder builder(&module->context);
  builder.setInsertionPointToEnd(&body);
  espalier::graph::YieldOp::create(builder, state.location, values);
  SmallVector<Value> captured = isolate(builder, body);
  llvm::append_range(state.operands, captured);
  state.addAttribute(
      espalier::graph::ScanOp::getOperandSegmentSizesAttrName(
          OperationName(state.name)),
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(scan->num_states),
                                    static_cast<int32_t>(scan->num_sequences),
                                    static_cast<int32_t>(captured.size())}));
  return addOperation(module, state, results, max_results);
}
