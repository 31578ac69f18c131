//===- Inline.cpp - Computing a value where it is used --------------------===//
//
//   p[i] = f(x[i])                              y[j] = g(f(x[j - 1]), f(x[j]))
//   y[j] = g(p[j - 1], p[j])           becomes
//
// The point i of the producer that wrote what a read uses is an affine function
// of the consumer's point j; the producer's accesses are composed with it.
//
// Where data decides which element is meant, or which points run, that point is
// one at which both have read the same values, and after which the element is
// not written before it is used:
//
//   t[v - level[l]] = f(x[v])                   y[v] = g(f(x[v]))
//   y[v] = g(t[v - level[l]])
//
//===----------------------------------------------------------------------===//

#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Polyhedral/ReadValues.h"
#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// The reads of a computation while some are replaced.
struct ReadList {
  unsigned numParams;
  SmallVector<ComputeAccess> accesses = {};

  /// Adds a read through `map`; `values` are the numbers of the reads whose
  /// values it may use as symbols. Reuses an equal one if `isShared`.
  unsigned add(Value array, AffineMap map, ArrayRef<unsigned> values,
               bool isShared);
};

/// A read of the consumer that is replaced by reads of the producer.
struct InlinedRead {
  unsigned number;
  AffineMap point;               ///< Of the producer.
  SmallVector<unsigned> numbers; ///< Of the reads in the new list.
};

/// What a consumer reads then.
struct Plan {
  ReadList list;
  SmallVector<unsigned> numbers; ///< Of the old reads in the new list.
  SmallVector<InlinedRead> inlined;
};

/// Inlines one producer.
class Inliner {
public:
  explicit Inliner(ComputeOp producer)
      : producer(producer), model(buildModel(producer.getKernel())),
        numParams(model.program.numParams) {}

  llvm::Error run(llvm::function_ref<void(Operation *)> erase);

private:
  llvm::Error checkProducer();
  /// Refuses if `consumer` uses the value of read `number` as an index.
  llvm::Error checkIndices(ComputeOp consumer, unsigned number);
  /// Refuses if something that the producer reads changes before `consumer`
  /// would read it; `uses` leads from producer to consumer.
  llvm::Error checkInputs(ComputeOp consumer, const polyhedral::Map &uses);
  /// The producer's point that read `number` of `consumer` needs.
  llvm::Expected<AffineMap> getPoint(ComputeOp consumer, unsigned number);
  /// The same where elements and points follow from data.
  llvm::Expected<AffineMap> getPointOfData(ComputeOp consumer, unsigned number);
  /// Whether at `point` the producer writes the element of read `access` of
  /// `consumer` last before that.
  bool isLastWrite(ComputeOp consumer, const ComputeAccess &access,
                   const polyhedral::Map &point);
  llvm::Expected<Plan> plan(ComputeOp consumer);
  void rewrite(ComputeOp consumer, const Plan &plan);

  unsigned getNumber(ComputeOp compute) const {
    return llvm::find(model.computes, compute) - model.computes.begin();
  }
  polyhedral::Map getMap(AffineMap map) const {
    return polyhedral::Map::get(context, numParams, map,
                                polyhedral::Map::Inexact::Any);
  }

  ComputeOp producer;
  KernelModel model;
  unsigned numParams;
  polyhedral::Context context;
  Value array; ///< That the producer writes.
  /// From its points to the elements; null if data decides which.
  polyhedral::Map make;
};
} // namespace

/// `map` where the symbol of value v is that of read `values[v]`.
static AffineMap renumberValues(AffineMap map, unsigned numParams,
                                unsigned numReads, ArrayRef<unsigned> values) {
  MLIRContext *context = map.getContext();
  SmallVector<AffineExpr> dims, symbols;
  for (unsigned dim = 0; dim < map.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim, context));
  for (unsigned symbol = 0; symbol < map.getNumSymbols(); ++symbol)
    symbols.push_back(getAffineSymbolExpr(
        symbol < numParams ? symbol : numParams + values[symbol - numParams],
        context));
  bool hasValues = map.getNumSymbols() > numParams;
  return map.replaceDimsAndSymbols(dims, symbols, map.getNumDims(),
                                   hasValues ? numParams + numReads
                                             : numParams);
}

unsigned ReadList::add(Value array, AffineMap map, ArrayRef<unsigned> values,
                       bool isShared) {
  map = renumberValues(map, numParams, accesses.size(), values);
  if (isShared)
    for (auto [number, access] : llvm::enumerate(accesses))
      if (access.array == array && access.map == map)
        return number;
  accesses.push_back({array, map, nullptr});
  return accesses.size() - 1;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

llvm::Error Inliner::checkProducer() {
  if (producer.getReduction())
    return refuse("expects a producer without reduction, but " +
                  quote(producer) + " is one");
  if (producer.getWrites().size() != 1 ||
      !producer.getWrites().front().getDefiningOp<ArrayOp>())
    return refuse("expects a producer that writes one array of the kernel and "
                  "nothing else, but " +
                  quote(producer) + " does not");
  array = producer.getWrites().front();
  for (ComputeOp other : model.computes) {
    bool writes = llvm::is_contained(other.getWrites(), array);
    if (writes && other != producer)
      return refuse("expects " + quote(producer) + " alone to write " +
                    describeArray(array) + ", but " + quote(other) +
                    " does too");
  }
  if (llvm::is_contained(producer.getReads(), array))
    return refuse("expects " + quote(producer) + " not to read what it writes");
  if (producer.getWhere())
    return llvm::Error::success();
  make = polyhedral::Map::get(context, numParams,
                              producer.getWriteAccesses().front().map);
  if (!make)
    return llvm::Error::success();
  make = make.intersectDomain(getDomain(context, producer));
  if (!make.isInjective().value_or(false))
    return refuse("expects " + quote(producer) + " to write each element once");
  return llvm::Error::success();
}

llvm::Error Inliner::checkIndices(ComputeOp consumer, unsigned number) {
  if (consumer.isConditionedOn(number))
    return refuse("expects " + quote(consumer) +
                  " not to run where a value of " + quote(producer) +
                  " allows it");
  for (ArrayAttr maps : {consumer.getReadMaps(), consumer.getWriteMaps()})
    for (AffineMap map : maps.getAsValueRange<AffineMapAttr>())
      if (map.getNumSymbols() > numParams + number &&
          map.isFunctionOfSymbol(numParams + number))
        return refuse("expects " + quote(consumer) + " not to use a value of " +
                      quote(producer) + " as an index");
  return llvm::Error::success();
}

bool Inliner::isLastWrite(ComputeOp consumer, const ComputeAccess &access,
                          const polyhedral::Map &point) {
  const polyhedral::Program &program = model.program;
  unsigned source = getNumber(producer), sink = getNumber(consumer);
  polyhedral::Map before =
      polyhedral::getProgramOrder(context, program, source, sink);
  polyhedral::Map later =
      polyhedral::getMeetings(context, program, source,
                              producer.getWriteAccesses().front().map, sink,
                              access.map)
          .intersect(before)
          .intersect(point
                         .compose(polyhedral::getProgramOrder(context, program,
                                                              source, source))
                         .inverse());
  return point.inverse().isSubset(before).value_or(false) &&
         later.isEmpty().value_or(false);
}

llvm::Expected<AffineMap> Inliner::getPointOfData(ComputeOp consumer,
                                                  unsigned number) {
  std::string name = ("read " + Twine(number) + " of " + quote(consumer)).str();
  ComputeAccess access = consumer.getReadAccesses()[number];
  polyhedral::ReadValues values(
      context, model.program, {{getNumber(consumer), access.map.getResults()}});
  SmallVector<AffineMap> points = values.findSources(
      getNumber(producer), producer.getWriteAccesses().front().map, access.map);
  if (points.empty())
    return refuse("expects a point at which " + quote(producer) +
                  " reads the same values as " + quote(consumer) +
                  " and writes what " + name + " takes from " +
                  describeArray(array));
  for (AffineMap point : points) {
    polyhedral::Map uses = polyhedral::Map::get(context, numParams, point)
                               .intersectDomain(getDomain(context, consumer));
    if (!isLastWrite(consumer, access, uses))
      continue;
    if (llvm::Error error = checkInputs(consumer, uses.inverse()))
      return std::move(error);
    return point;
  }
  return refuse("expects " + quote(producer) + " not to write what " + name +
                " takes from " + describeArray(array) +
                " again before it is used");
}

llvm::Expected<AffineMap> Inliner::getPoint(ComputeOp consumer,
                                            unsigned number) {
  std::string name = ("read " + Twine(number) + " of " + quote(consumer)).str();
  ComputeAccess access = consumer.getReadAccesses()[number];
  polyhedral::Map read = polyhedral::Map::get(context, numParams, access.map);
  if (!make || !read)
    return getPointOfData(consumer, number);
  polyhedral::Set domain = getDomain(context, consumer);
  polyhedral::Map points = read.intersectDomain(domain).compose(make.inverse());
  if (!domain.isSubset(points.domain()).value_or(false))
    return refuse("expects " + quote(producer) + " to write all that " + name +
                  " takes from " + describeArray(array));
  std::optional<AffineMap> function = points.toAffineMap(consumer.getContext());
  if (!function)
    return refuse("expects the point of " + quote(producer) + " that " + name +
                  " needs to be an affine function of its point");
  if (llvm::Error error = checkInputs(consumer, points.inverse()))
    return std::move(error);
  return *function;
}

llvm::Error Inliner::checkInputs(ComputeOp consumer,
                                 const polyhedral::Map &uses) {
  const polyhedral::Program &program = model.program;
  unsigned source = getNumber(producer), sink = getNumber(consumer);
  for (const polyhedral::Access &read : program.statements[source].reads)
    for (unsigned writer = 0; writer < program.statements.size(); ++writer)
      for (const polyhedral::Access &write :
           program.statements[writer].writes) {
        if (write.array != read.array)
          continue;
        auto getOrder = [&](unsigned first, unsigned second) {
          return polyhedral::getProgramOrder(context, program, first, second);
        };
        std::optional<bool> isEmpty =
            getMap(read.map)
                .compose(getMap(write.map)
                             .intersectDomain(
                                 getDomain(context, model.computes[writer]))
                             .inverse())
                .intersect(getOrder(source, writer))
                .compose(getOrder(writer, sink))
                .intersect(uses)
                .isEmpty();
        if (!isEmpty.value_or(false))
          return refuse("expects what " + quote(producer) +
                        " reads to stay as it is until " + quote(consumer) +
                        " uses the result, but " +
                        quote(model.computes[writer]) + " writes " +
                        describeArray(model.arrays[read.array]) +
                        " in between");
      }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Emits the producer's body for reads with the values `reads`, at the point
/// `point` of the consumer's; returns what it writes.
static Value emitBody(OpBuilder &builder, ComputeOp producer,
                      ComputeOp consumer, AffineMap point, ValueRange reads) {
  Location loc = producer.getLoc();
  IRMapping mapping;
  mapping.map(producer.getBody().getArguments(), reads);
  auto emitIndex = [&](AffineExpr expr) -> Value {
    if (auto dim = dyn_cast<AffineDimExpr>(expr))
      return IndexOp::create(builder, loc, dim.getPosition());
    SmallVector<Value> dims, symbols;
    for (unsigned dim = 0; dim < consumer.getNumDims(); ++dim)
      dims.push_back(IndexOp::create(builder, loc, dim));
    llvm::append_range(symbols, consumer.getKernel().getParameters());
    return affine::expandAffineExpr(builder, loc, expr, dims, symbols);
  };
  for (Operation &op : producer.getBody().front().without_terminator()) {
    if (auto index = dyn_cast<IndexOp>(op))
      mapping.map(index.getResult(),
                  emitIndex(point.getResult(index.getDim())));
    else
      builder.clone(op, mapping);
  }
  return mapping.lookupOrDefault(producer.getYield().getValues().front());
}

llvm::Expected<Plan> Inliner::plan(ComputeOp consumer) {
  Plan plan{{numParams}, {}, {}};
  for (auto [number, access] : llvm::enumerate(consumer.getReadAccesses())) {
    if (access.array != array) {
      plan.numbers.push_back(
          plan.list.add(access.array, access.map, plan.numbers, false));
      continue;
    }
    plan.numbers.push_back(0);
    if (llvm::Error error = checkIndices(consumer, number))
      return std::move(error);
    llvm::Expected<AffineMap> point = getPoint(consumer, number);
    if (!point)
      return point.takeError();
    InlinedRead own{unsigned(number), *point, {}};
    for (const ComputeAccess &read : producer.getReadAccesses()) {
      SmallVector<AffineExpr> symbols;
      for (unsigned s = 0; s < read.map.getNumSymbols(); ++s)
        symbols.push_back(getAffineSymbolExpr(s, consumer.getContext()));
      AffineMap composed = simplifyAffineMap(read.map.replaceDimsAndSymbols(
          point->getResults(), symbols, consumer.getNumDims(),
          read.map.getNumSymbols()));
      // The element of a reduction has a read of its own.
      bool isShared = !llvm::is_contained(consumer.getWrites(), read.array);
      own.numbers.push_back(
          plan.list.add(read.array, composed, own.numbers, isShared));
    }
    plan.inlined.push_back(std::move(own));
  }
  return plan;
}

void Inliner::rewrite(ComputeOp consumer, const Plan &plan) {
  Block &block = consumer.getBody().front();
  unsigned numOld = block.getNumArguments();
  SmallVector<Value> arrays, arguments;
  SmallVector<Attribute> maps, writeMaps;
  for (const ComputeAccess &access : plan.list.accesses) {
    arguments.push_back(block.addArgument(access.getType().getElementType(),
                                          consumer.getLoc()));
    arrays.push_back(access.array);
    maps.push_back(AffineMapAttr::get(access.map));
  }
  OpBuilder builder = OpBuilder::atBlockBegin(&block);
  for (const InlinedRead &read : plan.inlined) {
    SmallVector<Value> values;
    for (unsigned number : read.numbers)
      values.push_back(arguments[number]);
    block.getArgument(read.number)
        .replaceAllUsesWith(
            emitBody(builder, producer, consumer, read.point, values));
  }
  for (unsigned number = 0; number < numOld; ++number)
    if (!block.getArgument(number).use_empty())
      block.getArgument(number).replaceAllUsesWith(
          arguments[plan.numbers[number]]);
  block.eraseArguments(0, numOld);
  for (AffineMapAttr map : consumer.getWriteMaps().getAsRange<AffineMapAttr>())
    writeMaps.push_back(AffineMapAttr::get(renumberValues(
        map.getValue(), numParams, arrays.size(), plan.numbers)));
  if (std::optional<IntegerSet> where = consumer.getWhere()) {
    SmallVector<AffineExpr> symbols;
    for (unsigned symbol = 0; symbol < where->getNumSymbols(); ++symbol)
      symbols.push_back(getAffineSymbolExpr(
          symbol < numParams ? symbol
                             : numParams + plan.numbers[symbol - numParams],
          consumer.getContext()));
    consumer.setWhereAttr(IntegerSetAttr::get(where->replaceDimsAndSymbols(
        {}, symbols, where->getNumDims(), numParams + arrays.size())));
  }
  consumer.getReadsMutable().assign(arrays);
  consumer.setReadMapsAttr(builder.getArrayAttr(maps));
  consumer.setWriteMapsAttr(builder.getArrayAttr(writeMaps));
}

llvm::Error Inliner::run(llvm::function_ref<void(Operation *)> erase) {
  if (llvm::Error error = checkProducer())
    return error;
  auto consumers = llvm::filter_to_vector(model.computes, [&](ComputeOp op) {
    return llvm::is_contained(op.getReads(), array);
  });
  if (consumers.empty())
    return refuse("expects a computation that reads what " + quote(producer) +
                  " writes");
  for (ComputeOp consumer : consumers) {
    llvm::Expected<Plan> reads = plan(consumer);
    if (!reads)
      return reads.takeError();
    rewrite(consumer, *reads);
  }
  removeCompute(producer, erase);
  erase(array.getDefiningOp());
  return llvm::Error::success();
}

llvm::Error
espalier::poly::inlineProducer(ComputeOp producer,
                               llvm::function_ref<void(Operation *)> erase) {
  KernelOp kernel = producer.getKernel();
  std::string name = producer.getSymName().str();
  return applyChecked(kernel, [&](KernelOp target) {
    Inliner inliner(target.lookupCompute(name));
    if (target == kernel)
      return inliner.run(erase);
    return inliner.run([](Operation *op) { op->erase(); });
  });
}
