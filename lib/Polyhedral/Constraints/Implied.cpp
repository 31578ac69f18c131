//===- Implied.cpp - What runs because something else does ----------------===//
//
// A point p of one statement runs if starts[n] <= j < starts[n + 1], a point q
// of another one if starts[m] <= i < starts[m + 1]. Where m = n, both read the
// same values, b and e say, which p knows: then q runs if b <= i < e. No more
// than these pairs, over p, its values and q, is needed to tell that what q
// writes is there for p.
//
//===----------------------------------------------------------------------===//

#include "../Isl.h"
#include "espalier/Polyhedral/ReadValues.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// So many ways to match conditions are looked at.
static constexpr size_t kMaxImplied = 32;

void ReadValues::addImplied(const Statement &other, unsigned read,
                            llvm::SmallVector<AffineExpr> &found,
                            Constraints equal,
                            llvm::SmallVectorImpl<IntegerSet> &sets) const {
  if (sets.size() >= kMaxImplied)
    return;
  unsigned numDims = getNumDims() + other.numDims;
  auto toOther = [&](AffineExpr expr) {
    return expr.shiftDims(other.numDims, getNumDims());
  };
  if (read == other.values.size()) {
    llvm::SmallVector<AffineExpr> symbols;
    for (unsigned i = 0; i < program.numParams; ++i)
      symbols.push_back(getAffineSymbolExpr(i, program.context));
    llvm::append_range(symbols, found);
    bool isKnown = true;
    forEachCondition(other, [&](AffineExpr condition) {
      equal.push_back(toOther(condition).replaceSymbols(symbols));
      isKnown &= isAffine(equal.back());
    });
    if (isKnown)
      sets.push_back(IntegerSet::get(numDims, program.numParams, equal,
                                     llvm::SmallVector<bool>(equal.size())));
    return;
  }
  unsigned symbol = program.numParams + read;
  bool isUsed = false;
  forEachCondition(other, [&](AffineExpr condition) {
    isUsed |= condition.isFunctionOfSymbol(symbol);
  });
  const Access &access = other.values[read];
  for (unsigned number = 0; isUsed && number < size(); ++number) {
    if (getArray(number) != access.array)
      continue;
    Constraints more = equal;
    for (auto [there, here] :
         llvm::zip_equal(access.map.getResults(), getIndices(number))) {
      AffineExpr difference = toOther(there) - here;
      if (!isAffine(difference))
        return;
      llvm::append_values(more, difference, -difference);
    }
    found.push_back(getDim(number));
    addImplied(other, read + 1, found, more, sets);
    found.pop_back();
  }
  if (isUsed)
    return;
  found.push_back(getAffineSymbolExpr(symbol, program.context));
  addImplied(other, read + 1, found, equal, sets);
  found.pop_back();
}

Map ReadValues::getImplied(unsigned other) const {
  const Statement &statement = program.statements[other];
  llvm::SmallVector<IntegerSet> sets;
  llvm::SmallVector<AffineExpr> found;
  // A set has a constraint.
  addImplied(statement, 0, found, {getAffineConstantExpr(0, program.context)},
             sets);
  return Map::get(Set::getUnion(context, getNumDims() + statement.numDims,
                                program.numParams, sets),
                  getNumDims());
}
