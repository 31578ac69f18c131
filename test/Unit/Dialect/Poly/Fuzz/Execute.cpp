//===- Execute.cpp - Kernels run point by point ---------------------------===//

#include "Execute.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

//===----------------------------------------------------------------------===//
// Expressions and points
//===----------------------------------------------------------------------===//

Point fuzz::evaluate(AffineMap map, ArrayRef<int64_t> dims,
                     ArrayRef<int64_t> symbols) {
  Point result;
  for (AffineExpr expr : map.getResults())
    result.push_back(evaluate(expr, dims, symbols));
  return result;
}

bool fuzz::contains(IntegerSet set, ArrayRef<int64_t> dims,
                    ArrayRef<int64_t> symbols) {
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    int64_t value = evaluate(expr, dims, symbols);
    if (isEquality ? value != 0 : value < 0)
      return false;
  }
  return true;
}

/// Whether `lhs` runs before `rhs` in program order.
static bool isBefore(const polyhedral::Program &program, const Instance &lhs,
                     const Instance &rhs) {
  if (lhs.statement > rhs.statement)
    return !isBefore(program, rhs, lhs);
  // For each value of the dimensions that they share both run.
  size_t numShared = lhs.point.size();
  for (unsigned i = lhs.statement + 1; i <= rhs.statement; ++i)
    numShared =
        std::min<size_t>(numShared, program.statements[i].numInterleaved);
  for (size_t dim = 0; dim < numShared; ++dim)
    if (lhs.point[dim] != rhs.point[dim])
      return lhs.point[dim] < rhs.point[dim];
  return lhs.statement < rhs.statement;
}

/// Whether a random kernel has this computation, rather than a command made it:
/// its dimensions are called i, j and k.
static bool isOriginal(ComputeOp compute) {
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    if (dim > 2 || compute.getDimName(dim) != StringRef("ijk").substr(dim, 1))
      return false;
  return true;
}

/// Adds the points of an original computation: whatever `contains` says.
static void enumerateBox(const polyhedral::Statement &statement,
                         unsigned number, ArrayRef<int64_t> parameters,
                         std::vector<Instance> &instances) {
  constexpr int64_t low = -1;
  int64_t high = 12;
  for (int64_t parameter : parameters)
    high = std::max(high, parameter);
  Point point(statement.numDims, low);
  while (true) {
    if (llvm::any_of(statement.domain, [&](IntegerSet set) {
          return contains(set, point, parameters);
        }))
      instances.push_back({number, point});
    size_t dim = point.size();
    while (dim > 0 && ++point[dim - 1] > high)
      point[--dim] = low;
    if (dim == 0)
      return;
  }
}

/// Adds the points of a computation that a command made.
static void enumerateLoops(const polyhedral::Program &program, unsigned number,
                           ArrayRef<int64_t> parameters,
                           std::vector<Instance> &instances) {
  polyhedral::Program own;
  own.context = program.context;
  own.statements = {program.statements[number]};
  polyhedral::Statement &statement = own.statements.front();
  statement.numInterleaved = 0;
  statement.reads.clear();
  statement.writes.clear();
  SmallVector<AffineExpr> dims, constants;
  for (unsigned dim = 0; dim < statement.numDims; ++dim)
    dims.push_back(getAffineDimExpr(dim, program.context));
  for (int64_t parameter : parameters)
    constants.push_back(getAffineConstantExpr(parameter, program.context));
  for (IntegerSet &set : statement.domain)
    set = set.replaceDimsAndSymbols(dims, constants, statement.numDims, 0);
  polyhedral::Ast ast = llvm::cantFail(polyhedral::scanSchedule(own, nullptr));
  polyhedral::runAst(*ast, {}, [&](const polyhedral::AstInstance &instance) {
    instances.push_back(
        {number, Point(instance.point.begin(), instance.point.end())});
    return true;
  });
}

std::vector<Instance> fuzz::enumerate(const KernelModel &model,
                                      ArrayRef<int64_t> parameters) {
  std::vector<Instance> instances;
  for (auto [number, statement] : llvm::enumerate(model.program.statements)) {
    if (isOriginal(model.computes[number]))
      enumerateBox(statement, number, parameters, instances);
    else
      enumerateLoops(model.program, number, parameters, instances);
  }
  llvm::stable_sort(instances, [&](const Instance &lhs, const Instance &rhs) {
    return isBefore(model.program, lhs, rhs);
  });
  return instances;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static constexpr unsigned kBits = 20;
static constexpr int64_t kBias = int64_t(1) << (kBits - 1);

uint64_t fuzz::encode(ArrayRef<int64_t> place) {
  uint64_t key = 0;
  if (place.size() > 3)
    return llvm::hash_combine_range(place.begin(), place.end());
  for (int64_t index : place)
    key = (key << kBits) | uint64_t(index + kBias);
  return key;
}

Point fuzz::decode(uint64_t key, unsigned rank) {
  Point place(rank);
  for (unsigned dim = rank; dim-- > 0; key >>= kBits)
    place[dim] = int64_t(key & ((uint64_t(1) << kBits) - 1)) - kBias;
  return place;
}

/// Some bits of two numbers.
static uint64_t mix(uint64_t seed, uint64_t number) {
  uint64_t hash = (seed * 1000003 + number) * 0x9E3779B97F4A7C15ull;
  return hash ^ (hash >> 31);
}

/// Where row `row` starts: rows have 0 to 3 elements, and all starts are less
/// than 40.
static int64_t getStart(uint64_t seed, int64_t row) {
  int64_t start = 0;
  for (int64_t before = 0; before < row; ++before)
    start += int64_t(mix(seed, before) % 7 % 4);
  return std::min<int64_t>(start, 39);
}

/// Less than the start of the row that `element` is in, by 1 to 3.
static int64_t getBelow(uint64_t seed, int64_t element) {
  for (int64_t row = 0; row < 64; ++row)
    if (getStart(seed, row) <= element && element < getStart(seed, row + 1))
      return getStart(seed, row) - 1 - int64_t(mix(seed + 1, element) % 3);
  return -1;
}

int64_t fuzz::getInitialValue(BlockArgument argument,
                              ArrayRef<int64_t> element) {
  uint64_t hash =
      (encode(element) + argument.getArgNumber() * 77) * 0x9E3779B97F4A7C15ull;
  hash ^= hash >> 31;
  Type type = cast<MemRefType>(argument.getType()).getElementType();
  auto kernel = cast<KernelOp>(argument.getOwner()->getParentOp());
  auto own = kernel.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(),
                                                  "fuzz.seed");
  uint64_t seed = own ? own.getInt() : 0;
  if (kernel.getArgAttr(argument.getArgNumber(),
                        KernelOp::getMonotonicAttrName()))
    return getStart(seed, element.front());
  if (kernel.getArgAttr(argument.getArgNumber(), "fuzz.below"))
    return getBelow(seed, element.front());
  // Different for the elements from 0 to 18, which kernels confine themselves
  // to.
  if (kernel.getArgAttr(argument.getArgNumber(),
                        KernelOp::getInjectiveAttrName()))
    return (element.front() * int64_t(1 + seed % 18) + 5) % 19;
  return type.isInteger(32) ? int64_t(hash % 4) : int64_t(hash % 1000) - 500;
}

static MemRefType getType(const KernelModel &model, unsigned array) {
  return cast<MemRefType>(model.arrays[array].getType());
}

Memory::Memory(const KernelModel &model)
    : model(model), values(model.arrays.size()) {
  for (unsigned array = 0; array < model.arrays.size(); ++array) {
    shapes.emplace_back(getType(model, array).getRank(), 0);
    origins.push_back(dyn_cast<BlockArgument>(model.arrays[array]));
  }
}

void Memory::touch(unsigned array, ArrayRef<int64_t> place) {
  for (auto [extent, index] : llvm::zip(shapes[array], place)) {
    extent = std::max(extent, index + 1);
    hasNegative |= index < 0;
  }
}

int64_t Memory::read(unsigned array, ArrayRef<int64_t> place) {
  touch(array, place);
  auto found = values[array].find(encode(place));
  if (found != values[array].end())
    return found->second;
  if (origins[array])
    return getInitialValue(origins[array], place);
  return 123456789 + 1001 * ++numUndefined;
}

void Memory::write(unsigned array, ArrayRef<int64_t> place, int64_t value) {
  touch(array, place);
  values[array][encode(place)] = value;
}

int64_t Memory::readArgument(BlockArgument argument, ArrayRef<int64_t> place) {
  for (auto [array, value] : llvm::enumerate(model.arrays))
    if (auto own = dyn_cast<BlockArgument>(value);
        own && own.getArgNumber() == argument.getArgNumber())
      return read(array, place);
  return getInitialValue(argument, place);
}

std::optional<std::string> Memory::findDifference(Memory &other) {
  for (Memory *memory : {this, &other})
    for (auto [array, value] : llvm::enumerate(memory->model.arrays)) {
      auto argument = dyn_cast<BlockArgument>(value);
      if (!argument)
        continue;
      unsigned rank = getType(memory->model, array).getRank();
      for (uint64_t key :
           llvm::to_vector(llvm::make_first_range(memory->values[array]))) {
        Point place = decode(key, rank);
        int64_t mine = readArgument(argument, place);
        int64_t theirs = other.readArgument(argument, place);
        if (mine == theirs)
          continue;
        std::string text;
        llvm::raw_string_ostream os(text);
        os << describeArray(value) << "[";
        llvm::interleaveComma(place, os);
        os << "] is " << theirs << ", not " << mine;
        return text;
      }
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

Statements::Body Statements::compile(ComputeOp compute) {
  Body body;
  DenseMap<Value, unsigned> numbers;
  Block &block = compute.getBody().front();
  for (BlockArgument argument : block.getArguments())
    numbers.try_emplace(argument, numbers.size());
  for (Operation &op : block) {
    SmallVector<unsigned> operands;
    for (Value operand : op.getOperands())
      operands.push_back(numbers.at(operand));
    if (isa<YieldOp>(op)) {
      body.yields = operands;
      break;
    }
    int64_t number = 0;
    if (auto constant = dyn_cast<arith::ConstantOp>(op))
      number = cast<IntegerAttr>(constant.getValue()).getInt();
    if (auto index = dyn_cast<IndexOp>(op))
      number = index.getDim();
    body.steps.push_back({&op, operands, number});
    numbers.try_emplace(op.getResult(0), numbers.size());
  }
  return body;
}

Statements::Statements(const KernelModel &model, ArrayRef<int64_t> parameters)
    : model(model), parameters(parameters), storages(model.arrays.size()) {
  for (ComputeOp compute : model.computes)
    bodies.push_back(compile(compute));
  for (const polyhedral::Storage &storage : model.program.storages)
    storages[storage.array] = storage.map;
}

int64_t Statements::readOne(const polyhedral::Access &access,
                            const Instance &instance, ArrayRef<int64_t> symbols,
                            Memory &memory, bool isStored) const {
  Point place = evaluate(access.map, instance.point, symbols);
  if (AffineMap storage = storages[access.array]; storage && isStored)
    place = evaluate(storage, place, {});
  return memory.read(access.array, place);
}

bool Statements::runs(const Instance &instance, Memory &memory,
                      bool isStored) const {
  const polyhedral::Statement &info =
      model.program.statements[instance.statement];
  IntegerSet where = info.where;
  if (!where)
    return true;
  ComputeOp compute = model.computes[instance.statement];
  SmallVector<int64_t> symbols = parameters;
  for (auto [number, access] : llvm::enumerate(info.reads))
    symbols.push_back(compute.isConditionedOn(number)
                          ? readOne(access, instance, symbols, memory, isStored)
                          : 0);
  return contains(where, instance.point, symbols);
}

/// Divides signed numbers, as `poly.compute` says.
static int64_t divide(Operation *op, int64_t x, int64_t y) {
  bool isRest = isa<arith::RemSIOp>(op);
  if (y == 0)
    return 0;
  if (y == -1)
    return isRest ? 0 : int64_t(-uint64_t(x));
  int64_t quotient = x / y, rest = x % y;
  if (isRest)
    return rest;
  if (isa<arith::FloorDivSIOp>(op))
    return quotient - (rest != 0 && (rest < 0) != (y < 0));
  if (isa<arith::CeilDivSIOp>(op))
    return quotient + (rest != 0 && (rest < 0) == (y < 0));
  assert(isa<arith::DivSIOp>(op) && "an operation that no kernel has");
  return quotient;
}

Point Statements::read(const Instance &instance, Memory &memory,
                       bool isStored) const {
  SmallVector<int64_t> symbols = parameters;
  for (const polyhedral::Access &access :
       model.program.statements[instance.statement].reads)
    symbols.push_back(readOne(access, instance, symbols, memory, isStored));
  return Point(ArrayRef(symbols).drop_front(parameters.size()));
}

void Statements::finish(const Instance &instance, ArrayRef<int64_t> reads,
                        Memory &memory, bool isStored) const {
  const Body &body = bodies[instance.statement];
  SmallVector<int64_t, 16> values(reads);
  for (const Step &step : body.steps) {
    auto get = [&](unsigned operand) {
      return uint64_t(values[step.operands[operand]]);
    };
    auto getSigned = [&](unsigned operand) { return int64_t(get(operand)); };
    values.push_back(
        llvm::TypeSwitch<Operation *, int64_t>(step.op)
            .Case<arith::ConstantOp>([&](auto) { return step.number; })
            .Case<IndexOp>([&](auto) { return instance.point[step.number]; })
            .Case<arith::AddIOp>([&](auto) { return get(0) + get(1); })
            .Case<arith::SubIOp>([&](auto) { return get(0) - get(1); })
            .Case<arith::MulIOp>([&](auto) { return get(0) * get(1); })
            .Case<arith::MaxSIOp>(
                [&](auto) { return std::max(getSigned(0), getSigned(1)); })
            .Case<arith::MinSIOp>(
                [&](auto) { return std::min(getSigned(0), getSigned(1)); })
            .Case([&](arith::CmpIOp op) {
              return arith::applyCmpPredicate(
                  op.getPredicate(), APInt(64, get(0)), APInt(64, get(1)));
            })
            .Case<arith::AndIOp>([&](auto) { return get(0) & get(1); })
            .Case<arith::OrIOp>([&](auto) { return get(0) | get(1); })
            .Case<arith::SelectOp>(
                [&](auto) { return get(0) != 0 ? get(1) : get(2); })
            .Case<arith::IndexCastOp, arith::ExtSIOp>(
                [&](auto) { return getSigned(0); })
            .Case<arith::DivUIOp>(
                [&](auto) { return get(1) == 0 ? 0 : get(0) / get(1); })
            .Case<arith::RemUIOp>(
                [&](auto) { return get(1) == 0 ? 0 : get(0) % get(1); })
            .Default([&](Operation *op) {
              return divide(op, getSigned(0), getSigned(1));
            }));
  }
  SmallVector<int64_t> symbols = parameters;
  llvm::append_range(symbols, reads);
  for (auto [access, yield] : llvm::zip_equal(
           model.program.statements[instance.statement].writes, body.yields)) {
    Point place = evaluate(access.map, instance.point, symbols);
    if (AffineMap storage = storages[access.array]; storage && isStored)
      place = evaluate(storage, place, {});
    memory.write(access.array, place, values[yield]);
  }
}

SmallVector<unsigned> Statements::getAccumulators(unsigned statement) const {
  const polyhedral::Statement &info = model.program.statements[statement];
  SmallVector<unsigned> numbers;
  if (info.isReduction)
    for (const polyhedral::Access &write : info.writes)
      for (auto [number, read] : llvm::enumerate(info.reads))
        if (read.isSameElement(write))
          numbers.push_back(number);
  return numbers;
}

std::vector<std::pair<unsigned, Point>>
Statements::getElements(const Instance &instance, Memory &memory) const {
  const polyhedral::Statement &info =
      model.program.statements[instance.statement];
  SmallVector<int64_t> symbols = parameters;
  llvm::append_range(symbols, read(instance, memory, /*isStored=*/false));
  std::vector<std::pair<unsigned, Point>> elements;
  for (const polyhedral::Access &access :
       llvm::concat<const polyhedral::Access>(info.reads, info.writes))
    elements.push_back(
        {access.array, evaluate(access.map, instance.point, symbols)});
  return elements;
}

void fuzz::runReference(const Statements &statements, Memory &memory) {
  for (const Instance &instance :
       enumerate(statements.getModel(), statements.getParameters()))
    if (statements.runs(instance, memory, /*isStored=*/false))
      statements.finish(instance, statements.read(instance, memory, false),
                        memory, false);
}
