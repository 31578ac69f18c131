//===- ScheduleTree.cpp - Editing schedule trees --------------------------===//

#include "ScheduleTree.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Bands
//===----------------------------------------------------------------------===//

SmallVector<BandLoop> espalier::poly::getLoops(BandOp band) {
  SmallVector<BandLoop> loops;
  for (auto [position, kind] : llvm::enumerate(band.getLoopKinds())) {
    BandLoop &loop = loops.emplace_back();
    loop.name = cast<StringAttr>((*band.getNames())[position]);
    loop.kind = kind;
    for (AffineMapAttr map : band.getMaps().getAsRange<AffineMapAttr>())
      loop.exprs.push_back(map.getValue().getResult(position));
  }
  return loops;
}

void espalier::poly::setLoops(BandOp band, ArrayRef<BandLoop> loops) {
  if (loops.empty()) {
    if (Operation *child = band.getChild())
      child->moveBefore(band);
    band.erase();
    return;
  }
  Builder builder(band.getContext());
  SmallVector<Attribute> maps, kinds, names;
  for (auto [number, map] :
       llvm::enumerate(band.getMaps().getAsRange<AffineMapAttr>())) {
    SmallVector<AffineExpr> results;
    for (const BandLoop &loop : loops)
      results.push_back(loop.exprs[number]);
    maps.push_back(AffineMapAttr::get(AffineMap::get(
        map.getValue().getNumDims(), map.getValue().getNumSymbols(), results,
        band.getContext())));
  }
  for (const BandLoop &loop : loops) {
    kinds.push_back(loop.kind);
    names.push_back(loop.name);
  }
  band.setMapsAttr(builder.getArrayAttr(maps));
  band.setLoopsAttr(builder.getArrayAttr(kinds));
  band.setNamesAttr(builder.getArrayAttr(names));
}

SmallVector<StringRef> espalier::poly::getSymbols(ArrayAttr computations) {
  return llvm::to_vector(computations.getAsValueRange<FlatSymbolRefAttr>());
}

bool espalier::poly::hasLoops(Operation *node) {
  return node->walk([](BandOp) { return WalkResult::interrupt(); })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// Finding loops
//===----------------------------------------------------------------------===//

SmallVector<BandOp> espalier::poly::getBands(ComputeOp compute) {
  SmallVector<BandOp> bands;
  compute.getKernel().getSchedule().walk<WalkOrder::PreOrder>([&](BandOp band) {
    if (band.getMap(compute.getSymName()))
      bands.push_back(band);
  });
  return bands;
}

llvm::Expected<LoopPosition> espalier::poly::findLoop(ComputeOp compute,
                                                      StringRef name) {
  std::string legal;
  llvm::raw_string_ostream os(legal);
  llvm::ListSeparator separator;
  for (BandOp band : getBands(compute))
    for (auto [position, loop] :
         llvm::enumerate(band.getNames()->getAsValueRange<StringAttr>())) {
      if (loop == name)
        return LoopPosition{band, unsigned(position)};
      os << separator << '"' << loop << '"';
    }
  return refuse("expects a loop of " + quote(compute) + ", one of [" + legal +
                "], but got \"" + name + "\"");
}

std::optional<int64_t> espalier::poly::getExtent(const LoopPosition &loop) {
  return getLoopExtent(loop.band, loop.position);
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// Splits `x <kind> c` with a constant c.
static std::optional<std::pair<AffineExpr, int64_t>>
matchBinary(AffineExpr expr, AffineExprKind kind) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary || expr.getKind() != kind)
    return std::nullopt;
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  if (!constant)
    return std::nullopt;
  return std::make_pair(binary.getLHS(), constant.getValue());
}

AffineExpr espalier::poly::getTile(AffineExpr expr, int64_t size) {
  int64_t product;
  if (auto outer = matchBinary(expr, AffineExprKind::FloorDiv))
    if (!llvm::MulOverflow(outer->second, size, product))
      return outer->first.floorDiv(product);
  return expr.floorDiv(size);
}

AffineExpr espalier::poly::getPlaceInTile(AffineExpr expr, int64_t size) {
  int64_t product;
  if (auto outer = matchBinary(expr, AffineExprKind::FloorDiv))
    if (!llvm::MulOverflow(outer->second, size, product))
      return getPlaceInTile(outer->first, product).floorDiv(outer->second);
  if (auto outer = matchBinary(expr, AffineExprKind::Mod))
    if (outer->second % size == 0)
      return outer->first % size;
  return expr % size;
}

std::string espalier::poly::quote(ComputeOp compute) {
  return ("@" + compute.getSymName()).str();
}

std::string espalier::poly::listComputes(KernelOp kernel) {
  std::string text;
  for (ComputeOp compute : kernel.getComputes())
    text += (text.empty() ? "" : ", ") + quote(compute);
  return "[" + text + "]";
}

//===----------------------------------------------------------------------===//
// Program order
//===----------------------------------------------------------------------===//

/// A band over dimensions `from` to `to` of some computations, at the
/// builder's place; moves the builder below it.
static void createBand(OpBuilder &builder, ArrayRef<ComputeOp> computes,
                       unsigned from, unsigned to) {
  if (from == to)
    return;
  MLIRContext *context = builder.getContext();
  SmallVector<Attribute> symbols, maps;
  for (ComputeOp compute : computes) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = from; dim < to; ++dim)
      dims.push_back(getAffineDimExpr(dim, context));
    symbols.push_back(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
    maps.push_back(AffineMapAttr::get(
        AffineMap::get(compute.getNumDims(),
                       compute.getKernel().getNumParameters(), dims, context)));
  }
  SmallVector<Attribute> kinds(to - from,
                               LoopAttr::get(context, LoopKind::Sequential));
  SmallVector<Attribute> names;
  for (unsigned dim = from; dim < to; ++dim)
    names.push_back(ComputeOp(computes.front()).getDimName(dim));
  auto band = BandOp::create(
      builder, ComputeOp(computes.front()).getLoc(),
      builder.getArrayAttr(symbols), builder.getArrayAttr(maps),
      builder.getArrayAttr(kinds), builder.getArrayAttr(names), false);
  builder.setInsertionPointToEnd(&band.getOrCreateBlock());
}

/// The order of computations that share `depth` dimensions. The same tree as
/// `polyhedral::makeProgramOrder`.
static void createOrder(OpBuilder &builder, ArrayRef<ComputeOp> computes,
                        unsigned depth) {
  auto getNumShared = [](ComputeOp compute) {
    return unsigned(compute.getInterleaved().value_or(0));
  };
  SmallVector<ArrayRef<ComputeOp>> groups;
  for (size_t begin = 0; begin < computes.size();) {
    size_t end = begin + 1;
    while (end < computes.size() && getNumShared(computes[end]) > depth)
      ++end;
    groups.push_back(computes.slice(begin, end - begin));
    begin = end;
  }
  auto createGroup = [&](ArrayRef<ComputeOp> group) {
    if (group.size() == 1) {
      createBand(builder, group, depth, ComputeOp(group.front()).getNumDims());
      return;
    }
    createBand(builder, group, depth, depth + 1);
    createOrder(builder, group, depth + 1);
  };
  if (groups.size() == 1)
    return createGroup(groups.front());
  auto sequence = SequenceOp::create(builder, computes.front()->getLoc());
  for (ArrayRef<ComputeOp> group : groups) {
    builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
    SmallVector<Attribute> symbols;
    for (ComputeOp compute : group)
      symbols.push_back(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
    auto filter = FilterOp::create(builder, group.front()->getLoc(),
                                   builder.getArrayAttr(symbols), nullptr);
    builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
    createGroup(group);
  }
}

ScheduleOp espalier::poly::getOrCreateSchedule(KernelOp kernel) {
  if (ScheduleOp schedule = kernel.getSchedule())
    return schedule;
  OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
  auto schedule = ScheduleOp::create(builder, kernel.getLoc());
  builder.setInsertionPointToEnd(&schedule.getOrCreateBlock());
  SmallVector<ComputeOp> computes = kernel.getComputes();
  if (!computes.empty())
    createOrder(builder, computes, 0);
  return schedule;
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// What a loop may be called: the first dimension that it depends on.
static StringRef getBaseName(BandOp band, unsigned position) {
  KernelOp kernel = band->getParentOfType<KernelOp>();
  for (auto [symbol, map] : llvm::zip_equal(
           band.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
           band.getMaps().getAsRange<AffineMapAttr>())) {
    ComputeOp compute = kernel.lookupCompute(symbol);
    for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
      if (map.getValue().getResult(position).isFunctionOfDim(dim))
        return compute.getDimName(dim);
  }
  return "one";
}

/// Names of the loops that each computation runs.
using UsedNames = llvm::StringMap<llvm::StringSet<>>;

/// The first of `base` and `base.1`, `base.2`, ... that none of these
/// computations has used; it is used then.
static StringAttr useName(UsedNames &used, ArrayRef<StringRef> symbols,
                          StringRef base, MLIRContext *context) {
  std::string name = base.str();
  for (unsigned number = 1; llvm::any_of(
           symbols,
           [&](StringRef symbol) { return used[symbol].contains(name); });
       ++number)
    name = (base + "." + Twine(number)).str();
  for (StringRef symbol : symbols)
    used[symbol].insert(name);
  return StringAttr::get(context, name);
}

void espalier::poly::nameLoops(KernelOp kernel) {
  UsedNames used;
  kernel.getSchedule().walk([&](BandOp band) {
    if (std::optional<ArrayAttr> names = band.getNames())
      for (StringRef symbol : getSymbols(band.getComputations()))
        used[symbol].insert_range(names->getAsValueRange<StringAttr>());
  });
  kernel.getSchedule().walk<WalkOrder::PreOrder>([&](BandOp band) {
    if (band.getNames())
      return;
    SmallVector<Attribute> names;
    for (unsigned position = 0; position < band.getLoops().size(); ++position)
      names.push_back(useName(used, getSymbols(band.getComputations()),
                              getBaseName(band, position),
                              kernel.getContext()));
    band.setNamesAttr(ArrayAttr::get(kernel.getContext(), names));
  });
}

void espalier::poly::renameClashes(Operation *node, StringRef suffix) {
  auto kernel = node->getParentOfType<KernelOp>();
  // A new name takes none from the other loops below `node` either.
  UsedNames all, outside;
  kernel.getSchedule().walk([&](BandOp band) {
    for (StringRef symbol : getSymbols(band.getComputations()))
      for (StringRef name : band.getNames()->getAsValueRange<StringAttr>()) {
        all[symbol].insert(name);
        if (!node->isProperAncestor(band))
          outside[symbol].insert(name);
      }
  });
  node->walk<WalkOrder::PreOrder>([&](BandOp band) {
    if (band == node)
      return;
    SmallVector<StringRef> symbols = getSymbols(band.getComputations());
    SmallVector<BandLoop> loops = getLoops(band);
    for (BandLoop &loop : loops) {
      StringRef name = loop.name.getValue();
      if (llvm::any_of(symbols, [&](StringRef symbol) {
            return outside[symbol].contains(name);
          }))
        loop.name = useName(all, symbols, (name + "." + suffix).str(),
                            kernel.getContext());
    }
    setLoops(band, loops);
  });
}
