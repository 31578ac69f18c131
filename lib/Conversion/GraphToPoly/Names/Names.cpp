//===- Names.cpp - What kernels and their loops are called ----------------===//

#include "Names.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

/// Operators that a name lists.
static constexpr size_t kMaxOperators = 4;

Location espalier::graphtopoly::getOrigin(Operation *op) {
  return FusedLoc::get(
      op->getContext(), {op->getLoc()},
      StringAttr::get(op->getContext(), op->getName().stripDialect()));
}

/// The operator that a statement at `loc` is from; empty if there is none.
static StringRef getOperator(Location loc) {
  auto origin = dyn_cast<FusedLoc>(loc);
  auto name = origin ? dyn_cast_or_null<StringAttr>(origin.getMetadata())
                     : StringAttr();
  return name ? name.getValue() : "";
}

Location espalier::graphtopoly::getSource(Location loc) {
  return getOperator(loc).empty() ? loc
                                  : cast<FusedLoc>(loc).getLocations().front();
}

std::string espalier::graphtopoly::makeKernelName(const StepProgram &program,
                                                  const Cluster &cluster,
                                                  poly::KernelOp kernel) {
  llvm::SmallSetVector<StringRef, 4> operators;
  for (unsigned number : cluster.statements)
    if (StringRef name = getOperator(program.statements[number].loc);
        !name.empty() && operators.size() < kMaxOperators)
      operators.insert(name);
  if (operators.empty())
    operators.insert("copy"); // Of an input, say.
  std::string text;
  llvm::raw_string_ostream os(text);
  kernel->print(os, OpPrintingFlags().useLocalScope());
  std::string hash = llvm::utohexstr(uint32_t(llvm::xxh3_64bits(text)),
                                     /*LowerCase=*/true, /*Width=*/8);
  return llvm::join(operators, "_") + "_" + hash;
}

ArrayAttr espalier::graphtopoly::getDimNames(Builder &builder,
                                             const Statement &statement) {
  if (statement.names.size() != statement.getNumDims() ||
      llvm::all_of(statement.names,
                   [](const std::string &name) { return name.empty(); }))
    return {};
  llvm::StringSet<> used;
  SmallVector<Attribute> names;
  for (auto [dim, name] : llvm::enumerate(statement.names)) {
    std::string base = name.empty() ? "d" + std::to_string(dim) : name;
    std::string unique = base;
    for (unsigned number = 1; !used.insert(unique).second; ++number)
      unique = base + "_" + std::to_string(number);
    names.push_back(builder.getStringAttr(unique));
  }
  return builder.getArrayAttr(names);
}
