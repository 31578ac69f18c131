//===- Schedule.cpp - Schedule trees --------------------------------------===//

#include "espalier/Polyhedral/Schedule.h"

using namespace mlir;
using namespace espalier::polyhedral;

static ScheduleTree makeNode(ScheduleNode::Kind kind, ScheduleTree child) {
  auto node = std::make_unique<ScheduleNode>(kind);
  if (child)
    node->children.push_back(std::move(child));
  return node;
}

ScheduleTree espalier::polyhedral::makeBand(llvm::ArrayRef<BandMap> maps,
                                            llvm::ArrayRef<BandMember> members,
                                            ScheduleTree child) {
  ScheduleTree node = makeNode(ScheduleNode::Kind::Band, std::move(child));
  node->maps.assign(maps.begin(), maps.end());
  node->members.assign(members.begin(), members.end());
  return node;
}

ScheduleTree
espalier::polyhedral::makeSequence(std::vector<ScheduleTree> filters) {
  ScheduleTree node = makeNode(ScheduleNode::Kind::Sequence, nullptr);
  node->children = std::move(filters);
  return node;
}

ScheduleTree espalier::polyhedral::makeFilter(llvm::ArrayRef<FilterSet> filters,
                                              ScheduleTree child) {
  ScheduleTree node = makeNode(ScheduleNode::Kind::Filter, std::move(child));
  node->filters.assign(filters.begin(), filters.end());
  return node;
}

ScheduleTree espalier::polyhedral::makeMark(Attribute mark,
                                            ScheduleTree child) {
  ScheduleTree node = makeNode(ScheduleNode::Kind::Mark, std::move(child));
  node->mark = mark;
  return node;
}

unsigned espalier::polyhedral::getNumInterleaved(const Program &program,
                                                 unsigned first,
                                                 unsigned second) {
  unsigned number = program.statements[first].numDims;
  // Most statements of a long program share nothing with those far behind.
  for (unsigned i = first + 1; i <= second && number > 0; ++i)
    number = std::min(number, program.statements[i].numInterleaved);
  return number;
}

/// A band over dimensions `from` to `to` of some statements.
static ScheduleTree makeIdentityBand(const Program &program,
                                     llvm::ArrayRef<unsigned> statements,
                                     unsigned from, unsigned to,
                                     ScheduleTree child) {
  if (from == to)
    return child;
  llvm::SmallVector<BandMap> maps;
  for (unsigned number : statements) {
    llvm::SmallVector<AffineExpr> dims;
    for (unsigned dim = from; dim < to; ++dim)
      dims.push_back(getAffineDimExpr(dim, program.context));
    maps.push_back(
        {number, AffineMap::get(program.statements[number].numDims,
                                program.numParams, dims, program.context)});
  }
  return makeBand(maps, llvm::SmallVector<BandMember>(to - from),
                  std::move(child));
}

/// The order of the statements from `begin` to `end`, which share `depth`
/// dimensions.
static ScheduleTree makeOrder(const Program &program, unsigned begin,
                              unsigned end, unsigned depth) {
  std::vector<ScheduleTree> filters;
  while (begin < end) {
    // Those that share another dimension with the first.
    llvm::SmallVector<FilterSet> filter;
    llvm::SmallVector<unsigned> statements;
    unsigned next = begin;
    do {
      filter.push_back({next, IntegerSet()});
      statements.push_back(next++);
    } while (next < end && program.statements[next].numInterleaved > depth);
    ScheduleTree part;
    if (statements.size() == 1)
      part = makeIdentityBand(program, statements, depth,
                              program.statements[begin].numDims, nullptr);
    else
      part = makeIdentityBand(program, statements, depth, depth + 1,
                              makeOrder(program, begin, next, depth + 1));
    begin = next;
    if (filters.empty() && begin == end)
      return part;
    filters.push_back(makeFilter(filter, std::move(part)));
  }
  return makeSequence(std::move(filters));
}

ScheduleTree espalier::polyhedral::makeProgramOrder(const Program &program) {
  return makeOrder(program, 0, program.statements.size(), 0);
}
