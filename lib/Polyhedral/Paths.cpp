//===- Paths.cpp - Statements by their way through the tree ---------------===//

#include "Paths.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// Extends `path` by what `node` says of its statement, and collects it at the
/// leaves below.
static void descend(const ScheduleNode *node, Path path,
                    std::vector<Path> &paths) {
  if (!node) {
    paths.push_back(std::move(path));
    return;
  }
  if (node->kind == ScheduleNode::Kind::Sequence) {
    for (auto [number, child] : llvm::enumerate(node->children))
      for (FilterSet filter : child->filters) {
        if (filter.statement != path.statement)
          continue;
        Path inner = path;
        inner.levels.push_back({node, static_cast<unsigned>(number), {}});
        if (filter.set)
          inner.filters.push_back(filter.set);
        const ScheduleNode *next =
            child->children.empty() ? nullptr : child->children[0].get();
        descend(next, std::move(inner), paths);
      }
    return;
  }
  for (const BandMap &map : node->maps)
    if (map.statement == path.statement)
      for (unsigned loop = 0; loop < node->members.size(); ++loop)
        path.levels.push_back({node, loop, map.map.getResult(loop)});
  descend(node->children.empty() ? nullptr : node->children[0].get(),
          std::move(path), paths);
}

std::vector<Path> espalier::polyhedral::getPaths(const Program &program,
                                                 const ScheduleNode *root) {
  std::vector<Path> paths;
  for (unsigned i = 0; i < program.statements.size(); ++i)
    descend(root, Path{i, {}, {}}, paths);
  return paths;
}
