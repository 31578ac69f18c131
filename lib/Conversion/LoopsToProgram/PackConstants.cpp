//===- PackConstants.cpp - Moves the constants of @main into one blob -----===//

#include "espalier/Conversion/LoopsToProgram/ArenaPlan.h"
#include "espalier/Conversion/LoopsToProgram/Passes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/xxhash.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMPACKCONSTANTSPASS
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

/// Returns the bytes that one element takes in memory.
static int64_t getElementSize(Type type) {
  if (type.isIndex())
    return sizeof(int64_t);
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

/// Returns the bytes of `attr` in memory: uncopied where they are stored that
/// way, else in `storage`. Splats are repeated, truth values take a byte each.
static ArrayRef<char> getBytes(ElementsAttr attr, std::vector<char> &storage) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attr)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  auto dense = cast<DenseElementsAttr>(attr);
  int64_t size = getElementSize(dense.getElementType());
  if (dense.getElementType().isInteger(1)) {
    storage.reserve(dense.getNumElements());
    for (bool value : dense.getValues<bool>())
      storage.push_back(value);
    return storage;
  }
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat())
    return raw;
  storage.resize(dense.getNumElements() * size);
  for (size_t i = 0; i < storage.size(); i += size)
    std::copy_n(raw.begin(), size, storage.begin() + i);
  return storage;
}

/// Checks that the values of `global` can be laid out.
static LogicalResult checkConstant(memref::GlobalOp global) {
  MemRefType type = global.getType();
  Type element = type.getElementType();
  if (!type.getLayout().isIdentity() || !element.isIntOrIndexOrFloat())
    return global.emitError("expects numbers in the identity layout, but got ")
           << type;
  Attribute value = *global.getInitialValue();
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(value) ||
      elements.getElementType() != element)
    return global.emitError("expects a dense or dense_resource value of ")
           << element << ", but got " << elements.getType();
  std::optional<int64_t> size = getElementSize(element);
  for (int64_t extent : type.getShape())
    size = size ? multiplyChecked(*size, extent) : size;
  auto resource = dyn_cast<DenseResourceElementsAttr>(value);
  if (!resource)
    return success();
  AsmResourceBlob *blob = resource.getRawHandle().getBlob();
  if (!blob || !size || blob->getData().size() != static_cast<uint64_t>(*size))
    return global.emitError("expects resource '")
           << resource.getRawHandle().getKey() << "' to hold "
           << size.value_or(-1) << " bytes, but got "
           << (blob ? static_cast<int64_t>(blob->getData().size()) : 0);
  return success();
}

namespace {
/// Gives each distinct constant its place in the blob.
class ConstantPacker {
public:
  /// Returns the offset of `value`'s bytes.
  int64_t place(ElementsAttr value);

  SmallVector<Attribute> values;
  SmallVector<int64_t> offsets;
  PackedConstants counts;

private:
  DenseMap<Attribute, int64_t> known;
  llvm::DenseMap<uint64_t, SmallVector<size_t, 1>> byHash;
  int64_t end = 0;
};
} // namespace

int64_t ConstantPacker::place(ElementsAttr value) {
  auto [it, isNew] = known.try_emplace(value, 0);
  if (!isNew) {
    ++counts.numShared;
    return it->second;
  }
  std::vector<char> storage, otherStorage;
  ArrayRef<char> bytes = getBytes(value, storage);
  uint64_t hash = llvm::xxh3_64bits(
      ArrayRef(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
  for (size_t other : byHash[hash]) {
    otherStorage.clear();
    if (getBytes(cast<ElementsAttr>(values[other]), otherStorage) != bytes)
      continue;
    ++counts.numShared;
    return it->second = offsets[other];
  }
  byHash[hash].push_back(values.size());
  it->second = llvm::alignTo(end, kBufferAlignment);
  end = it->second + bytes.size();
  values.push_back(value);
  offsets.push_back(it->second);
  ++counts.numConstants;
  return it->second;
}

/// Erases the globals of `reads` that nothing refers to any more. Looks through
/// the module once, whatever their number.
static void
eraseUnused(ArrayRef<std::pair<memref::GetGlobalOp, memref::GlobalOp>> reads,
            SymbolTable &symbols) {
  DenseSet<StringAttr> used;
  if (auto uses = SymbolTable::getSymbolUses(&symbols.getOp()->getRegion(0)))
    for (const SymbolTable::SymbolUse &use : *uses)
      used.insert(use.getSymbolRef().getRootReference());
  llvm::SmallDenseSet<memref::GlobalOp> seen;
  for (auto [read, global] : reads)
    if (seen.insert(global).second && !used.contains(global.getSymNameAttr()))
      symbols.erase(global);
}

FailureOr<PackedConstants> espalier::packConstants(ModuleOp module) {
  FailureOr<ProgramFunctions> functions = findProgram(module);
  if (failed(functions))
    return failure();
  func::FuncOp main = functions->main;
  OpBuilder builder(module.getContext());
  auto blobType = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  unsigned position = main.getNumArguments();
  if (failed(main.insertArgument(position, blobType,
                                 builder.getDictionaryAttr(builder.getNamedAttr(
                                     kConstantsArgAttr, builder.getUnitAttr())),
                                 main.getLoc())))
    return failure();

  SymbolTable symbols(module);
  SmallVector<std::pair<memref::GetGlobalOp, memref::GlobalOp>> reads;
  main.walk([&](memref::GetGlobalOp read) {
    auto global = symbols.lookup<memref::GlobalOp>(read.getName());
    if (global && global.getConstant() && global.getInitialValue() &&
        !global.isUninitialized())
      reads.emplace_back(read, global);
  });
  ConstantPacker packer;
  for (auto [read, global] : reads) {
    if (failed(checkConstant(global)))
      return failure();
    int64_t offset =
        packer.place(cast<ElementsAttr>(*global.getInitialValue()));
    builder.setInsertionPoint(read);
    Value start =
        arith::ConstantIndexOp::create(builder, read.getLoc(), offset);
    auto view =
        memref::ViewOp::create(builder, read.getLoc(), read.getType(),
                               main.getArgument(position), start, ValueRange());
    read.replaceAllUsesWith(view.getResult());
    read.erase();
  }
  eraseUnused(reads, symbols);
  module->setAttr(kConstantsAttr, builder.getArrayAttr(packer.values));
  module->setAttr(kConstantOffsetsAttr,
                  builder.getDenseI64ArrayAttr(packer.offsets));
  return packer.counts;
}

void espalier::writeConstants(
    ModuleOp module, llvm::function_ref<void(uint64_t, ArrayRef<char>)> write) {
  auto values = module->getAttrOfType<ArrayAttr>(kConstantsAttr);
  auto offsets = module->getAttrOfType<DenseI64ArrayAttr>(kConstantOffsetsAttr);
  if (!values || !offsets)
    return;
  for (auto [value, offset] : llvm::zip(values, offsets.asArrayRef())) {
    std::vector<char> storage;
    write(offset, getBytes(cast<ElementsAttr>(value), storage));
  }
}

uint64_t espalier::getConstantsSize(ModuleOp module) {
  uint64_t size = 0;
  auto values = module->getAttrOfType<ArrayAttr>(kConstantsAttr);
  auto offsets = module->getAttrOfType<DenseI64ArrayAttr>(kConstantOffsetsAttr);
  if (!values || !offsets || values.empty())
    return 0;
  auto last = cast<ElementsAttr>(values.getValue().back());
  size = offsets.asArrayRef().back() +
         last.getNumElements() * getElementSize(last.getElementType());
  return size;
}

namespace {
struct ProgramPackConstantsPass
    : espalier::impl::ProgramPackConstantsPassBase<ProgramPackConstantsPass> {
  void runOnOperation() override {
    FailureOr<PackedConstants> packed = packConstants(getOperation());
    if (failed(packed))
      return signalPassFailure();
    numConstants += packed->numConstants;
    numShared += packed->numShared;
  }
};
} // namespace
