//===- ShareKernels.cpp - One kernel for several places of results --------===//
//
// Layers of one shape whose results become parts of larger tensors, as the
// layers of DenseNet do, differ in numbers that say where an element lies:
//
//   func @a(%y: memref<4x352xf32>)      func @b(%y: memref<4x384xf32>)
//     %m = collapse %y                    %m = collapse %y
//     store %s, %m[%i * 352 + 320]        store %s, %m[%i * 384 + 352]
//
// One function takes the numbers as arguments. It stays as fast: an element is
// stored once, whatever the sum that it takes. Numbers that bound loops, or say
// where something is read, stay constants.
//
// That two functions are equal but for such numbers is read off their
// operations, one by one.
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/TypeSwitch.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMSHAREKERNELSPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;

namespace {
/// A function that is only called.
struct Kernel {
  func::FuncOp function;
  SmallVector<func::CallOp, 1> calls;
};

/// Tells which numbers of a function only say where results are stored.
class StoreAddresses {
public:
  bool contains(OpOperand &use);

private:
  bool isAddress(OpOperand &use);

  DenseMap<Operation *, bool> known; ///< By an operation on indices.
};

/// Functions that are equal but for numbers and the shapes of arguments.
class Family {
public:
  explicit Family(const Kernel &first) : members{first} {}

  /// Adds `kernel` if it is equal.
  bool add(const Kernel &kernel);
  bool isShared() const { return members.size() > 1; }
  /// Makes one function of them. Returns how many are gone.
  unsigned merge();

private:
  bool match(Region &first, Region &other);
  bool match(Operation *first, Operation *other);
  bool match(OpOperand &first, OpOperand &other);

  SmallVector<Kernel> members;
  StoreAddresses addresses;
  /// By their uses in the first function, what each of them has.
  llvm::MapVector<OpOperand *, std::vector<int64_t>> numbers;
  llvm::SmallSetVector<unsigned, 4> reshaped; ///< Arguments.
  // While one function is compared with the first:
  IRMapping values;
  SmallVector<std::pair<OpOperand *, int64_t>> found;
};
} // namespace

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

static std::optional<int64_t> getNumber(Value value) {
  APInt number;
  if (value.getType().isIndex() && matchPattern(value, m_ConstantInt(&number)))
    return number.getSExtValue();
  return std::nullopt;
}

static bool isNumber(Operation &op) {
  return op.getNumResults() == 1 && getNumber(op.getResult(0));
}

bool StoreAddresses::isAddress(OpOperand &use) {
  Value value = use.get();
  return TypeSwitch<Operation *, bool>(use.getOwner())
      .Case<memref::StoreOp>(
          [&](auto store) { return store.getValueToStore() != value; })
      .Case<vector::StoreOp, vector::MaskedStoreOp>([&](auto store) {
        return llvm::is_contained(store.getIndices(), value);
      })
      .Case<arith::AddIOp, arith::SubIOp, arith::MulIOp>([&](auto sum) {
        auto [it, isNew] = known.insert({sum, false});
        if (!isNew)
          return it->second;
        bool all = llvm::all_of(
            sum->getUses(), [&](OpOperand &next) { return isAddress(next); });
        return known[sum] = all;
      })
      .Default([](Operation *) { return false; });
}

bool StoreAddresses::contains(OpOperand &use) {
  return getNumber(use.get()) && isAddress(use);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The array of one dimension that `argument` is used as, and nothing else.
static memref::CollapseShapeOp getFlat(BlockArgument argument) {
  auto type = dyn_cast<MemRefType>(argument.getType());
  if (!type || !type.hasStaticShape() || !type.getLayout().isIdentity() ||
      !argument.hasOneUse())
    return {};
  auto flat = dyn_cast<memref::CollapseShapeOp>(*argument.user_begin());
  // What is done with the array must not tell its extent.
  bool isPlain =
      flat && flat.getResultType().getRank() == 1 &&
      llvm::all_of(flat->getUsers(),
                   llvm::IsaPred<memref::LoadOp, memref::StoreOp,
                                 vector::LoadOp, vector::StoreOp,
                                 vector::MaskedLoadOp, vector::MaskedStoreOp>);
  return isPlain ? flat : memref::CollapseShapeOp();
}

/// Whether two arguments of one element type are arrays of other shapes, both
/// used as arrays of one dimension.
static bool areFlat(BlockArgument first, BlockArgument other) {
  return getFlat(first) && getFlat(other) &&
         cast<MemRefType>(first.getType()).getElementType() ==
             cast<MemRefType>(other.getType()).getElementType() &&
         cast<MemRefType>(first.getType()).getMemorySpace() ==
             cast<MemRefType>(other.getType()).getMemorySpace();
}

bool Family::match(OpOperand &first, OpOperand &other) {
  std::optional<int64_t> number = getNumber(first.get());
  if (!number)
    return values.lookupOrNull(first.get()) == other.get();
  std::optional<int64_t> counterpart = getNumber(other.get());
  if (!counterpart || (*number != *counterpart && !addresses.contains(first)))
    return false;
  found.push_back({&first, *counterpart});
  return true;
}

bool Family::match(Operation *first, Operation *other) {
  auto source = isa<memref::CollapseShapeOp>(first)
                    ? dyn_cast<BlockArgument>(first->getOperand(0))
                    : BlockArgument();
  bool isReshaped = source && reshaped.contains(source.getArgNumber()) &&
                    getFlat(source) == first;
  if (first->getName() != other->getName() ||
      first->getNumOperands() != other->getNumOperands() ||
      first->getNumRegions() != other->getNumRegions() ||
      first->getNumSuccessors() != 0 || other->getNumSuccessors() != 0 ||
      first->getDiscardableAttrDictionary() !=
          other->getDiscardableAttrDictionary() ||
      !first->getName().compareOpProperties(first->getPropertiesStorage(),
                                            other->getPropertiesStorage()) ||
      (!isReshaped && first->getResultTypes() != other->getResultTypes()))
    return false;
  for (auto [mine, its] :
       llvm::zip_equal(first->getOpOperands(), other->getOpOperands()))
    if (!match(mine, its))
      return false;
  for (auto [mine, its] :
       llvm::zip_equal(first->getRegions(), other->getRegions()))
    if (!match(mine, its))
      return false;
  values.map(first->getResults(), other->getResults());
  return true;
}

bool Family::match(Region &first, Region &other) {
  if (first.empty() || other.empty())
    return first.empty() && other.empty();
  if (!first.hasOneBlock() || !other.hasOneBlock() ||
      first.getNumArguments() != other.getNumArguments())
    return false;
  for (auto [mine, its] :
       llvm::zip_equal(first.getArguments(), other.getArguments())) {
    bool isOfFunction = isa<func::FuncOp>(first.getParentOp());
    if (isOfFunction && reshaped.contains(mine.getArgNumber()) &&
        !areFlat(mine, its))
      return false;
    if (mine.getType() != its.getType()) {
      if (!isOfFunction || !areFlat(mine, its))
        return false;
      reshaped.insert(mine.getArgNumber());
    }
    values.map(mine, its);
  }
  auto mine = first.front().begin(), mineEnd = first.front().end();
  auto its = other.front().begin(), itsEnd = other.front().end();
  while (true) {
    while (mine != mineEnd && isNumber(*mine))
      ++mine;
    while (its != itsEnd && isNumber(*its))
      ++its;
    if (mine == mineEnd || its == itsEnd)
      return mine == mineEnd && its == itsEnd;
    if (!match(&*mine++, &*its++))
      return false;
  }
}

bool Family::add(const Kernel &kernel) {
  func::FuncOp first = members.front().function, other = kernel.function;
  auto withoutType = [](func::FuncOp function) {
    NamedAttrList attributes(function->getAttrDictionary());
    attributes.erase(function.getSymNameAttrName());
    attributes.erase(function.getFunctionTypeAttrName());
    return attributes.getDictionary(function.getContext());
  };
  if (withoutType(first) != withoutType(other))
    return false;
  values.clear();
  found.clear();
  auto before = reshaped;
  if (!match(first.getBody(), other.getBody())) {
    reshaped = before;
    return false;
  }
  for (auto [use, counterpart] : found) {
    auto [it, isNew] = numbers.insert({use, {}});
    if (isNew)
      it->second.push_back(*getNumber(use->get()));
    it->second.push_back(counterpart);
  }
  members.push_back(kernel);
  return true;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

/// Lets the function have arrays of one dimension and any extent in place of
/// those whose shapes differ.
static void flatten(func::FuncOp function, unsigned number) {
  BlockArgument argument = function.getArgument(number);
  memref::CollapseShapeOp flat = getFlat(argument);
  MemRefType type = flat.getResultType();
  argument.setType(MemRefType::get({ShapedType::kDynamic},
                                   type.getElementType(), AffineMap(),
                                   type.getMemorySpace()));
  flat.replaceAllUsesWith(static_cast<Value>(argument));
  flat.erase();
  function.setType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(), {}));
}

/// Calls `function` as `call` calls another one of the family.
static void replaceCall(func::CallOp call, func::FuncOp function,
                        ArrayRef<int64_t> numbers) {
  OpBuilder builder(call);
  Location loc = call.getLoc();
  SmallVector<Value> operands;
  for (auto [operand, type] :
       llvm::zip(call.getOperands(), function.getArgumentTypes())) {
    Value value = operand;
    if (value.getType() != type) {
      auto dims = llvm::seq(cast<MemRefType>(value.getType()).getRank());
      SmallVector<ReassociationIndices, 1> all{
          ReassociationIndices(dims.begin(), dims.end())};
      value = memref::CollapseShapeOp::create(builder, loc, value, all);
      value = memref::CastOp::create(builder, loc, type, value);
    }
    operands.push_back(value);
  }
  for (int64_t number : numbers)
    operands.push_back(arith::ConstantIndexOp::create(builder, loc, number));
  func::CallOp::create(builder, loc, function, operands);
  call.erase();
}

unsigned Family::merge() {
  func::FuncOp function = members.front().function;
  for (unsigned number : reshaped)
    flatten(function, number);
  // Numbers that are equal in each function are one argument.
  unsigned firstNumber = function.getNumArguments();
  SmallVector<ArrayRef<int64_t>> passed;
  for (auto &[use, own] : numbers) {
    if (llvm::all_equal(own))
      continue;
    unsigned place = llvm::find(passed, ArrayRef(own)) - passed.begin();
    if (place == passed.size()) {
      passed.push_back(own);
      (void)function.insertArgument(firstNumber + place, use->get().getType(),
                                    {}, function.getLoc());
    }
    use->set(function.getArgument(firstNumber + place));
  }
  for (auto [position, member] : llvm::enumerate(members)) {
    SmallVector<int64_t> own;
    for (ArrayRef<int64_t> all : passed)
      own.push_back(all[position]);
    for (func::CallOp call : member.calls)
      replaceCall(call, function, own);
    if (position > 0)
      member.function.erase();
  }
  return members.size() - 1;
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

/// A hash that functions of one family share.
static llvm::hash_code getHash(func::FuncOp function) {
  StoreAddresses addresses;
  llvm::hash_code hash = llvm::hash_value(function.getNumArguments());
  function.getBody().walk([&](Operation *op) {
    if (isNumber(*op))
      return;
    hash = llvm::hash_combine(hash, op->getName(), op->getNumOperands(),
                              op->hashProperties());
    for (OpOperand &use : op->getOpOperands())
      if (std::optional<int64_t> number = getNumber(use.get()))
        hash = llvm::hash_combine(hash, addresses.contains(use) ? 0 : *number);
  });
  return hash;
}

/// The functions of `module` that are called, and nothing else, by those that
/// are not private.
static std::vector<Kernel> findKernels(ModuleOp module) {
  llvm::MapVector<StringAttr, Kernel> kernels;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPrivate() && !function.isExternal() &&
        function.getNumResults() == 0)
      kernels[function.getSymNameAttr()].function = function;
  if (auto uses = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *uses) {
      auto *it = kernels.find(use.getSymbolRef().getRootReference());
      if (it == kernels.end())
        continue;
      auto call = dyn_cast<func::CallOp>(use.getUser());
      auto caller = use.getUser()->getParentOfType<func::FuncOp>();
      if (call && caller && !caller.isPrivate())
        it->second.calls.push_back(call);
      else
        kernels.erase(it);
    }
  std::vector<Kernel> result;
  for (auto &[name, kernel] : kernels)
    result.push_back(std::move(kernel));
  return result;
}

namespace {
struct ProgramShareKernelsPass
    : espalier::impl::ProgramShareKernelsPassBase<ProgramShareKernelsPass> {
  void runOnOperation() override {
    llvm::MapVector<size_t, std::vector<std::unique_ptr<Family>>> families;
    for (const Kernel &kernel : findKernels(getOperation())) {
      auto &alike = families[getHash(kernel.function)];
      bool isAdded = llvm::any_of(
          alike, [&](auto &family) { return family->add(kernel); });
      if (!isAdded)
        alike.push_back(std::make_unique<Family>(kernel));
    }
    for (auto &[hash, alike] : families)
      for (auto &family : alike)
        if (family->isShared())
          numShared += family->merge();
  }
};
} // namespace
