//===- Parameters.cpp - The parameters of a kernel ------------------------===//

#include "espalier/Dialect/Poly/IR/Parameters.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// Puts expressions over `count` symbols in the place of parameters.
class Replacement {
public:
  Replacement(ArrayRef<AffineExpr> parameters, unsigned count)
      : parameters(parameters), count(count) {}

  void apply(KernelOp kernel) const;

private:
  template <typename T>
  T replace(T over) const {
    SmallVector<AffineExpr> symbols(parameters);
    for (unsigned s = parameters.size(); s < over.getNumSymbols(); ++s)
      symbols.push_back(getAffineSymbolExpr(s - parameters.size() + count,
                                            over.getContext()));
    return over.replaceDimsAndSymbols({}, symbols, over.getNumDims(),
                                      count + over.getNumSymbols() -
                                          parameters.size());
  }
  Attribute get(Attribute attribute) const;
  void applyTo(Operation *op, ArrayRef<StringRef> names) const;

  ArrayRef<AffineExpr> parameters;
  unsigned count;
};
} // namespace

Attribute Replacement::get(Attribute attribute) const {
  return llvm::TypeSwitch<Attribute, Attribute>(attribute)
      .Case([&](AffineMapAttr map) {
        return AffineMapAttr::get(replace(map.getValue()));
      })
      .Case([&](IntegerSetAttr set) {
        return IntegerSetAttr::get(replace(set.getValue()));
      })
      .Case([&](ArrayAttr array) {
        return ArrayAttr::get(array.getContext(),
                              llvm::map_to_vector(array, [&](Attribute each) {
                                return get(each);
                              }));
      })
      .Default([](Attribute other) { return other; });
}

void Replacement::applyTo(Operation *op, ArrayRef<StringRef> names) const {
  for (StringRef name : names)
    if (Attribute attribute = op->getAttr(name))
      op->setAttr(name, get(attribute));
}

void Replacement::apply(KernelOp kernel) const {
  applyTo(kernel, KernelOp::getAssumptionsAttrName());
  for (unsigned number = 0; number < kernel.getNumArguments(); ++number)
    for (StringRef name :
         {KernelOp::getShapeAttrName(), KernelOp::getBoundAttrName()})
      if (Attribute attribute = kernel.getArgAttr(number, name))
        kernel.setArgAttr(number, name, get(attribute));
  kernel.walk([&](Operation *op) {
    llvm::TypeSwitch<Operation *>(op)
        .Case([&](ComputeOp compute) {
          applyTo(compute,
                  {compute.getDomainAttrName(), compute.getWhereAttrName(),
                   compute.getReadMapsAttrName(),
                   compute.getWriteMapsAttrName()});
        })
        .Case([&](GivenOp given) {
          applyTo(given,
                  {given.getDomainAttrName(), given.getWhereAttrName(),
                   given.getReadMapsAttrName(), given.getHoldsAttrName()});
        })
        .Case([&](ArrayOp array) {
          applyTo(array, array.getExtentsAttrName().getValue());
        })
        .Case([&](BandOp band) {
          applyTo(band, band.getMapsAttrName().getValue());
        })
        .Case([&](FilterOp filter) {
          applyTo(filter, filter.getSetsAttrName().getValue());
        })
        .Case([&](PrefetchOp prefetch) {
          applyTo(prefetch, prefetch.getAtAttrName().getValue());
        });
  });
}

void espalier::poly::replaceParameters(KernelOp kernel,
                                       ArrayRef<AffineExpr> parameters,
                                       unsigned count) {
  Replacement(parameters, count).apply(kernel);
}
