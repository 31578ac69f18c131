//===- Transpose.cpp - Rows for lanes -------------------------------------===//
//
// Lanes may use elements that are far apart, while the copies of a loop that is
// written out use neighbours of these:
//
//   lane l of copy c:  x[l * n + c]
//
// Element by element, that takes a memory access for each lane of each copy.
// Instead a vector is loaded for each lane, with what all copies need of it,
// and these are transposed in registers; what copies write, the other way
// around. Packing a matrix is such a loop, and storing what a convolution
// computes for some pixels of several channels.
//
// Lanes that lie in a few vectors are read with these, and moved to their
// places. Where each has an element of a short row of its own, x[k, l, c], all
// rows are read: so copies that use other elements of them find the same
// vector.
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

/// Lanes that lie in as many neighbouring vectors at most are read with these.
static constexpr int64_t kMaxShuffled = 4;
/// Rows of so many bits fill a vector that has lanes of f32.
static constexpr int64_t kRowBits = 32;
/// Elements that lie as far apart are written by a masked store.
static constexpr int64_t kMaxWrittenStep = 4;

/// How often the computations below `node` read and write `array`.
static std::pair<unsigned, unsigned>
countUses(const AstNode &node, ArrayRef<poly::ComputeOp> computes,
          Value array) {
  std::pair<unsigned, unsigned> uses(0, 0);
  if (node.kind == AstNode::Kind::Call) {
    poly::ComputeOp compute = computes[node.statement];
    uses = {llvm::count(compute.getReads(), array),
            llvm::count(compute.getWrites(), array)};
  }
  for (const polyhedral::Ast &child : node.children) {
    auto below = countUses(*child, computes, array);
    uses.first += below.first;
    uses.second += below.second;
  }
  return uses;
}

bool KernelLoops::areCopiesAlike(const AstNode &loop, const AstNode &node) {
  if (node.kind == AstNode::Kind::If || dataLoops.find(node))
    return false;
  if (node.kind == AstNode::Kind::Call)
    return dataLoops.getConditions(node).empty();
  SmallVector<unsigned> iterators;
  if (&node != &loop && node.kind == AstNode::Kind::For) {
    addIterators(node.lower, iterators);
    addIterators(node.upper, iterators);
  }
  return !llvm::is_contained(iterators, loop.iterator) &&
         llvm::all_of(node.children, [&](const polyhedral::Ast &child) {
           return areCopiesAlike(loop, *child);
         });
}

void KernelLoops::enterWrittenOut(const AstNode &loop, int64_t lower,
                                  int64_t upper) {
  bool isUsable = loop.step == 1 && areCopiesAlike(loop, loop);
  writtenOut.push_back({&loop,
                        lower,
                        upper,
                        isUsable ? builder.getInsertionBlock() : nullptr,
                        {},
                        {}});
}

std::optional<Neighbours>
KernelLoops::findNeighbours(const poly::ComputeAccess &access,
                            const AstNode &call, int64_t maxStep) {
  if (!llvm::isPowerOf2_64(lanes->width))
    return std::nullopt;
  for (WrittenOutLoop &loop : llvm::reverse(writtenOut)) {
    if (loop.block != builder.getInsertionBlock() ||
        loop.upper - loop.lower < 2)
      continue;
    int64_t &copy = unrolled[loop.loop->iterator];
    int64_t now = copy;
    auto getDistance = [&](AffineExpr from, AffineExpr to) {
      auto number =
          dyn_cast<AffineConstantExpr>(canonicalize(simplify(to - from)));
      return number ? number.getValue() : 0;
    };
    auto getAddressOf = [&](int64_t number) {
      copy = number;
      AffineExpr address = getAddress(access, call);
      copy = now;
      return address;
    };
    int64_t step =
        getDistance(getAddressOf(loop.lower), getAddressOf(loop.lower + 1));
    if (step < 1 || step > maxStep)
      continue;
    // As many copies as one vector reaches over.
    int64_t most = llvm::divideCeil(lanes->width, step);
    int64_t begin = loop.lower + llvm::alignDown(now - loop.lower, most);
    int64_t end = std::min(begin + most, loop.upper);
    Neighbours result{&loop, {}, step, size_t(now - begin)};
    for (int64_t number = begin; number < end; ++number)
      result.addresses.push_back(getAddressOf(number));
    bool areNeighbours = end - begin > 1;
    for (auto [place, address] : llvm::enumerate(result.addresses))
      areNeighbours &= getDistance(result.addresses.front(), address) ==
                       step * int64_t(place);
    if (areNeighbours)
      return result;
  }
  return std::nullopt;
}

std::optional<int64_t> KernelLoops::countActiveLanes() {
  if (!lanes->mask)
    return lanes->width;
  std::optional<int64_t> lower = getConstantBoundOf(*lanes->loop, false);
  std::optional<int64_t> upper = getConstantBoundOf(*lanes->loop, true);
  if (!lower || !upper || *lower > *upper)
    return std::nullopt;
  return std::min(*upper - *lower, lanes->width);
}

/// The mask of the first `count` of every `step`-th lane of `type`.
static Value emitFirst(OpBuilder &builder, Location loc, VectorType type,
                       int64_t count, int64_t step = 1) {
  SmallVector<bool> isFirst(type.getNumElements(), false);
  for (int64_t number = 0; number < count; ++number)
    isFirst[number * step] = true;
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          VectorType::get(type.getShape(), builder.getI1Type()), isFirst));
}

/// Transposes a square of vectors, in rounds that exchange one bit of a row's
/// number with one of the column's. Within a quarter of a 512-bit register, the
/// lower halves of two rows are interleaved, and the upper ones; then quarters
/// as a whole are collected. Machines do each of these in one instruction that
/// needs no table, unlike interleaving whole rows.
static SmallVector<Value> emitTranspose(OpBuilder &builder, Location loc,
                                        SmallVector<Value> rows) {
  int64_t width = rows.size();
  Type type = cast<VectorType>(rows.front().getType()).getElementType();
  int64_t bits = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  int64_t part = std::clamp<int64_t>(128 / bits, 1, width);
  // Pairs of rows whose numbers differ in `bit` become what `isUpper` selects
  // of both, by the number of a lane of the first.
  auto runRound = [&](int64_t bit, auto getLanes) {
    for (int64_t row = 0; row < width; ++row) {
      if (row & bit)
        continue;
      Value first = rows[row], second = rows[row | bit];
      for (bool isUpper : {false, true})
        rows[row | (isUpper ? bit : 0)] = vector::ShuffleOp::create(
            builder, loc, first, second, getLanes(isUpper));
    }
  };
  for (int64_t chunk = 1; chunk < part; chunk *= 2)
    runRound(chunk, [&](bool isUpper) {
      SmallVector<int64_t> taken;
      for (int64_t lane = 0; lane < width; ++lane) {
        int64_t place = lane % part, pair = place / (2 * chunk);
        taken.push_back(lane - place + (isUpper ? part / 2 : 0) + pair * chunk +
                        place % chunk + (place / chunk % 2) * width);
      }
      return taken;
    });
  for (int64_t bit = part; bit < width; bit *= 2)
    runRound(bit, [&](bool isUpper) {
      SmallVector<int64_t> taken;
      for (int64_t lane = 0; lane < width; ++lane) {
        // Every second part of the first row, then of the second.
        int64_t number = lane / part * 2, numParts = width / part;
        taken.push_back((number % numParts + isUpper) * part + lane % part +
                        number / numParts * width);
      }
      return taken;
    });
  // Within a part, the first round has settled the uppermost bit.
  SmallVector<Value> columns(width);
  for (int64_t row = 0; row < width; ++row) {
    int64_t column = row / part * part;
    for (int64_t bit = 1; bit < part; bit *= 2)
      if (row & bit)
        column += part / 2 / bit;
    columns[column] = rows[row];
  }
  return columns;
}

AffineMap KernelLoops::getSameData(AffineExpr address, const AstNode &call,
                                   const WrittenOutLoop &loop) {
  auto reads = computes[call.statement].getReadAccesses();
  SmallVector<AffineExpr> addresses;
  for (auto [number, read] : llvm::enumerate(reads)) {
    if (!address.isFunctionOfSymbol(symbols.size() + number))
      continue;
    AffineExpr from = getAddress(read, call);
    bool isSame = !readsData(from) && !from.isFunctionOfDim(lanes->iterator) &&
                  countUses(*loop.loop, computes, read.array).second == 0;
    int64_t &copy = unrolled[loop.loop->iterator];
    int64_t now = copy;
    for (copy = loop.lower; isSame && copy < loop.upper; ++copy)
      isSame = getAddress(read, call) == from;
    copy = now;
    if (!isSame)
      return {};
    addresses.push_back(from);
  }
  unsigned numDims = 0, numSymbols = 0;
  for (AffineExpr from : addresses)
    from.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        numDims = std::max(numDims, dim.getPosition() + 1);
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        numSymbols = std::max(numSymbols, symbol.getPosition() + 1);
    });
  return AffineMap::get(numDims, numSymbols, addresses, address.getContext());
}

Value KernelLoops::emitTransposedRead(const poly::ComputeAccess &access,
                                      const AstNode &call, VectorType type,
                                      ValueRange data) {
  std::optional<Neighbours> copies =
      findNeighbours(access, call, /*maxStep=*/1);
  std::optional<int64_t> numLanes = countActiveLanes();
  if (!copies || !numLanes)
    return {};
  AffineExpr address = copies->addresses[copies->place];
  // Symbols for what is read mean something in one computation only.
  unsigned reader = readsData(address) ? call.statement + 1 : 0;
  AffineMap from;
  if (reader && !(from = getSameData(address, call, *copies->loop)))
    return {};
  auto &known = copies->loop->reads;
  auto found = known.find({{access.array, address}, reader, from});
  if (found != known.end())
    return found->second;
  if (copies->place != 0 ||
      countUses(*copies->loop->loop, computes, access.array).second > 0)
    return {};

  const Memory &memory = memories.find(access.array)->second;
  int64_t numCopies = copies->addresses.size();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<Value> rows(lanes->width, zero);
  for (int64_t lane = 0; lane < *numLanes; ++lane) {
    Value base = emitIndex(copies->addresses.front().replace(
                               iterator(lanes->iterator), lanes->first + lane),
                           data);
    if (numCopies == lanes->width)
      rows[lane] =
          vector::LoadOp::create(builder, loc, type, memory.flat, base);
    else
      rows[lane] = vector::MaskedLoadOp::create(
          builder, loc, type, memory.flat, base,
          emitFirst(builder, loc, type, numCopies), zero);
  }
  rows = emitTranspose(builder, loc, std::move(rows));
  for (auto [place, row] : llvm::zip_first(copies->addresses, rows))
    known[{{access.array, place}, reader, from}] = row;
  return rows.front();
}

bool KernelLoops::emitTransposedWrite(const poly::ComputeAccess &access,
                                      const AstNode &call, Value value) {
  if (readsData(getAddress(access, call)))
    return false;
  std::optional<Neighbours> copies =
      findNeighbours(access, call, kMaxWrittenStep);
  if (!copies || !countActiveLanes())
    return false;
  // What lanes write must not overlap, nor may it be used before it is there.
  std::optional<int64_t> stride =
      getLaneStride(copies->addresses.front(), *lanes);
  if (!stride ||
      std::abs(*stride) < int64_t(copies->addresses.size()) * copies->step ||
      countUses(*copies->loop->loop, computes, access.array) !=
          std::pair(0u, 1u))
    return false;
  auto &writes = copies->loop->writes;
  SlotKey key(access.array, copies->addresses.front());
  if (copies->place == 0)
    writes[key] = {memories.find(access.array)->second,
                   *lanes,
                   key.second,
                   copies->step,
                   {}};
  auto group = writes.find(key);
  if (group == writes.end() || group->second.values.size() != copies->place)
    return false;
  group->second.values.push_back(value);
  if (copies->place + 1 == copies->addresses.size()) {
    emitRows(group->second);
    writes.erase(group);
  }
  return true;
}

void KernelLoops::emitPairs(const NeighbourWrites &writes) {
  auto type = cast<VectorType>(writes.values.front().getType());
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < lanes->width; ++lane)
    places.append({lane, lanes->width + lane});
  Value pairs = vector::ShuffleOp::create(builder, loc, writes.values[0],
                                          writes.values[1], places);
  Value base = emitIndex(
      writes.address.replace(iterator(lanes->iterator), lanes->first));
  int64_t numActive = *countActiveLanes();
  if (numActive == lanes->width) {
    vector::StoreOp::create(builder, loc, pairs, writes.memory.flat, base);
    return;
  }
  auto all = VectorType::get({2 * lanes->width}, type.getElementType());
  vector::MaskedStoreOp::create(builder, loc, writes.memory.flat, base,
                                emitFirst(builder, loc, all, 2 * numActive),
                                pairs);
}

void KernelLoops::emitRows(const NeighbourWrites &writes) {
  auto type = cast<VectorType>(writes.values.front().getType());
  int64_t numCopies = writes.values.size();
  if (numCopies == 2 && writes.step == 1 &&
      getLaneStride(writes.address, *lanes) == numCopies)
    return emitPairs(writes);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  SmallVector<Value> rows(writes.values);
  rows.resize(lanes->width, zero);
  rows = emitTranspose(builder, loc, std::move(rows));
  // Lane number to that of the copy that writes there.
  SmallVector<int64_t> spread(lanes->width, 0);
  for (int64_t copy = 0; copy < numCopies; ++copy)
    spread[copy * writes.step] = copy;
  for (int64_t lane = 0; lane < *countActiveLanes(); ++lane) {
    Value base = emitIndex(
        writes.address.replace(iterator(lanes->iterator), lanes->first + lane));
    Value row = rows[lane];
    if (numCopies == lanes->width) {
      vector::StoreOp::create(builder, loc, row, writes.memory.flat, base);
      continue;
    }
    if (writes.step > 1)
      row = vector::ShuffleOp::create(builder, loc, row, zero, spread);
    vector::MaskedStoreOp::create(
        builder, loc, writes.memory.flat, base,
        emitFirst(builder, loc, type, numCopies, writes.step), row);
  }
}

void KernelLoops::leaveWrittenOut() {
  // Not all copies came to their write.
  std::optional<Lanes> outer = std::move(lanes);
  for (auto &[key, writes] : writtenOut.back().writes) {
    lanes = writes.lanes;
    for (auto [place, value] : llvm::enumerate(writes.values))
      emitLaneWrites(writes.memory,
                     writes.address + int64_t(place) * writes.step, value, {});
  }
  lanes = std::move(outer);
  writtenOut.pop_back();
}

Value KernelLoops::emitShuffledReads(Value memref, VectorType type,
                                     AffineExpr first,
                                     ArrayRef<int64_t> offsets) {
  int64_t width = lanes->width, last = *llvm::max_element(offsets);
  // Where the parts so far have the lanes.
  SmallVector<int64_t> places;
  for (int64_t offset : offsets)
    places.push_back(offset % width);
  Value result =
      vector::LoadOp::create(builder, loc, type, memref, emitIndex(first));
  for (int64_t begin = width; begin <= last; begin += width) {
    // Nothing is read beyond the last lane.
    int64_t at = std::min(begin, last + 1 - width);
    Value part = vector::LoadOp::create(builder, loc, type, memref,
                                        emitIndex(first + at));
    for (auto [place, offset] : llvm::zip_equal(places, offsets))
      if (offset >= begin && offset < begin + width)
        place = width + offset - at;
    result = vector::ShuffleOp::create(builder, loc, result, part, places);
    for (auto [lane, place] : llvm::enumerate(places))
      if (offsets[lane] < begin + width)
        place = lane;
  }
  return result;
}

/// How many elements an innermost row of `memory` has, if that is known.
static int64_t getRowLength(const Memory &memory) {
  size_t rank = memory.strides.size();
  auto length = rank < 2
                    ? AffineConstantExpr()
                    : dyn_cast<AffineConstantExpr>(memory.strides[rank - 2]);
  return length ? length.getValue() : 0;
}

Value KernelLoops::emitRowReads(const Memory &memory, AffineExpr column,
                                VectorType type, AffineExpr address) {
  auto place = dyn_cast<AffineConstantExpr>(canonicalize(simplify(column)));
  int64_t length = getRowLength(memory);
  // As wide as the lanes of a type of 32 bits.
  if (!place || length < 2 || !type.getElementType().isIntOrFloat() ||
      length * type.getElementTypeBitWidth() > kRowBits ||
      getLaneStride(address, *lanes) != length ||
      bool(lanes->mask) != bool(lanes->count))
    return {};
  Value base = emitIndex(
      address.replace(iterator(lanes->iterator), lanes->first) - place);
  auto rows =
      VectorType::get({type.getNumElements() * length}, type.getElementType());
  Value all;
  if (lanes->mask) {
    Value count = arith::MulIOp::create(
        builder, loc, lanes->count,
        arith::ConstantIndexOp::create(builder, loc, length));
    Value mask = vector::CreateMaskOp::create(
        builder, loc, rows.clone(builder.getI1Type()), count);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(rows));
    all = vector::MaskedLoadOp::create(builder, loc, rows, memory.flat, base,
                                       mask, zero);
  } else {
    all = vector::LoadOp::create(builder, loc, rows, memory.flat, base);
  }
  SmallVector<int64_t> places;
  for (int64_t lane = 0; lane < lanes->width; ++lane)
    places.push_back(lane * length + place.getValue());
  return vector::ShuffleOp::create(builder, loc, all, all, places);
}

Value KernelLoops::emitShuffledRead(const Memory &memory, AffineExpr column,
                                    VectorType type, AffineExpr address) {
  if (Value rows = emitRowReads(memory, column, type, address))
    return rows;
  Value memref = memory.flat;
  // What masked lanes would read need not be there.
  std::optional<SmallVector<int64_t>> offsets = getLaneOffsets(address, *lanes);
  std::optional<int64_t> numActive = countActiveLanes();
  if (!offsets || numActive.value_or(0) < 1)
    return {};
  int64_t least = *llvm::min_element(ArrayRef(*offsets).take_front(*numActive));
  std::fill(offsets->begin() + *numActive, offsets->end(), least);
  for (int64_t &offset : *offsets)
    offset -= least;
  AffineExpr first =
      address.replace(iterator(lanes->iterator), lanes->first) + least;
  int64_t number = *llvm::max_element(*offsets) / lanes->width + 1;
  if (number > kMaxShuffled)
    return {};
  if (number > 1)
    return emitShuffledReads(memref, type, first, *offsets);
  SmallVector<bool> isRead(lanes->width, false);
  for (int64_t offset : *offsets)
    isRead[offset] = true;
  Value base = emitIndex(first);
  Value mask = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          VectorType::get({lanes->width}, builder.getI1Type()), isRead));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value all = vector::MaskedLoadOp::create(builder, loc, type, memref, base,
                                           mask, zero);
  return vector::ShuffleOp::create(builder, loc, all, all, *offsets);
}
