//===- Dependence.cpp - Memory-based dependences --------------------------===//

#include "espalier/Polyhedral/Dependence.h"
#include "AccessPairs.h"
#include "Isl.h"
#include "espalier/Polyhedral/ReadValues.h"

using namespace mlir;
using namespace espalier::polyhedral;

llvm::StringRef espalier::polyhedral::getName(DependenceKind kind) {
  switch (kind) {
  case DependenceKind::Flow:
    return "flow";
  case DependenceKind::Anti:
    return "anti";
  case DependenceKind::Output:
    return "output";
  }
  llvm_unreachable("unknown kind");
}

std::string
espalier::polyhedral::describeSizes(const Program &program,
                                    llvm::ArrayRef<int64_t> parameters) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (parameters.empty())
    return text;
  bool hasNames = !program.paramNames.empty();
  os << (hasNames ? "with " : "with parameters (");
  llvm::interleaveComma(llvm::enumerate(parameters), os, [&](auto parameter) {
    if (hasNames)
      os << program.paramNames[parameter.index()] << " = ";
    os << parameter.value();
  });
  os << (hasNames ? "" : ")");
  return text;
}

llvm::SmallVector<int64_t> Violation::getDistance() const {
  if (sourcePoint.size() != sinkPoint.size())
    return {};
  return llvm::map_to_vector(
      llvm::zip_equal(sinkPoint, sourcePoint),
      [](auto pair) { return std::get<0>(pair) - std::get<1>(pair); });
}

/// Whether a reduction may apply accesses `access` in any order.
static bool isAccumulator(const Statement &statement, const Access &access) {
  auto isSame = [&](const Access &other) {
    return other.isSameElement(access);
  };
  return statement.isReduction && llvm::any_of(statement.reads, isSame) &&
         llvm::any_of(statement.writes, isSame);
}

void espalier::polyhedral::forEachAccessPair(
    const Program &program,
    llvm::function_ref<bool(const AccessPair &)> visit) {
  using AccessList = llvm::SmallVector<Access> Statement::*;
  struct Case {
    DependenceKind kind;
    AccessList source, sink;
  };
  const Case cases[] = {
      {DependenceKind::Flow, &Statement::writes, &Statement::reads},
      {DependenceKind::Anti, &Statement::reads, &Statement::writes},
      {DependenceKind::Output, &Statement::writes, &Statement::writes}};
  auto mayPrecede = [&](unsigned source, unsigned sink) {
    return source <= sink || getNumInterleaved(program, sink, source) > 0;
  };
  for (unsigned first = 0; first < program.statements.size(); ++first)
    for (unsigned second = 0; second < program.statements.size(); ++second) {
      if (!mayPrecede(first, second))
        continue;
      for (const Case &which : cases)
        for (const auto &[sourceNumber, source] :
             llvm::enumerate(program.statements[first].*which.source))
          for (const auto &[sinkNumber, sink] :
               llvm::enumerate(program.statements[second].*which.sink)) {
            if (source.array != sink.array)
              continue;
            bool isReduction =
                first == second &&
                isAccumulator(program.statements[first], source) &&
                source.isSameElement(sink);
            if (!visit({which.kind, first, second, source, sink,
                        unsigned(sourceNumber), unsigned(sinkNumber),
                        isReduction,
                        isReduction && program.statements[first].joinsLanes,
                        isReduction && program.statements[first].isAtomic}))
              return;
          }
    }
}

Map espalier::polyhedral::getProgramOrder(const Context &context,
                                          const Program &program,
                                          unsigned source, unsigned sink) {
  auto getSpace = [&](unsigned statement) {
    return isl::makeSpace(context.get(), program.numParams,
                          program.statements[statement].numDims);
  };
  Map equal(
      isl_map_from_domain_and_range(isl_set_universe(getSpace(source).take()),
                                    isl_set_universe(getSpace(sink).take())));
  Map order(isl_map_empty(isl_map_get_space(equal.get())));
  unsigned numShared = getNumInterleaved(program, std::min(source, sink),
                                         std::max(source, sink));
  for (unsigned dim = 0; dim < numShared; ++dim) {
    order = order.unite(Map(isl_map_order_lt(
        isl_map_copy(equal.get()), isl_dim_in, dim, isl_dim_out, dim)));
    equal = Map(isl_map_equate(isl_map_copy(equal.get()), isl_dim_in, dim,
                               isl_dim_out, dim));
  }
  return source < sink ? order.unite(equal) : order;
}

llvm::Expected<std::vector<Dependence>>
espalier::polyhedral::computeDependences(const Context &context,
                                         const Program &program) {
  std::vector<Dependence> dependences;
  bool failed = false;
  forEachAccessPair(program, [&](const AccessPair &pair) {
    Map relation =
        getMeetings(context, program, pair.source, pair.sourceAccess.map,
                    pair.sink, pair.sinkAccess.map)
            .intersect(
                getProgramOrder(context, program, pair.source, pair.sink));
    std::optional<bool> isEmpty = relation.isEmpty();
    failed = !isEmpty;
    if (isEmpty == false)
      dependences.push_back({pair.kind, pair.sourceAccess.array, pair.source,
                             pair.sink, pair.isReduction, relation});
    return !failed;
  });
  if (failed)
    return isl::makeError(context, "the dependences cannot be computed");
  return dependences;
}
