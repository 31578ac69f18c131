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

ScheduleTree espalier::polyhedral::makeProgramOrder(const Program &program) {
  auto makeStatement = [&](unsigned number) -> ScheduleTree {
    unsigned numDims = program.statements[number].numDims;
    if (numDims == 0)
      return nullptr;
    AffineMap identity = AffineMap::get(
        numDims, program.numParams,
        AffineMap::getMultiDimIdentityMap(numDims, program.context)
            .getResults(),
        program.context);
    llvm::SmallVector<BandMember> members(numDims);
    return makeBand(BandMap{number, identity}, members);
  };
  if (program.statements.size() == 1)
    return makeStatement(0);
  std::vector<ScheduleTree> filters;
  for (unsigned number = 0; number < program.statements.size(); ++number)
    filters.push_back(
        makeFilter(FilterSet{number, IntegerSet()}, makeStatement(number)));
  return makeSequence(std::move(filters));
}
