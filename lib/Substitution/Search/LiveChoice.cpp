//===- LiveChoice.cpp - What a choice costs as it changes -----------------===//

#include "LiveChoice.h"

using namespace mlir;
using namespace espalier::substitution;

LiveChoice::LiveChoice(const Extraction &problem, Choice start)
    : graph(problem.graph), costs(problem.costs), choice(std::move(start)),
      numUses(graph.getNumClassIds(), 0) {
  addUses(graph.find(problem.root), 1);
}

/// What a class costs by itself when it comes to be needed, or no longer is.
void LiveChoice::count(ENodeId id, bool isNeeded) {
  if (id == kNone)
    numMissing += isNeeded ? 1 : -1;
  else
    cost += isNeeded ? costs.get(id) : -costs.get(id);
}

template <typename Callback>
void LiveChoice::forOperands(ENodeId id, Callback callback) const {
  if (id != kNone)
    for (ClassId operand : graph.getNode(id).operands)
      callback(graph.find(operand));
}

void LiveChoice::addUses(ClassId id, unsigned number) {
  SmallVector<ClassId> worklist;
  auto add = [&](ClassId operand, unsigned count = 1) {
    if (numUses[operand] == 0)
      worklist.push_back(operand);
    numUses[operand] += count;
  };
  add(id, number);
  while (!worklist.empty()) {
    ENodeId node = choice[worklist.pop_back_val()];
    count(node, /*isNeeded=*/true);
    forOperands(node, add);
  }
}

void LiveChoice::removeUses(ClassId id, unsigned number) {
  SmallVector<ClassId> worklist;
  auto remove = [&](ClassId operand, unsigned count = 1) {
    numUses[operand] -= count;
    if (numUses[operand] == 0)
      worklist.push_back(operand);
  };
  remove(id, number);
  while (!worklist.empty()) {
    ENodeId node = choice[worklist.pop_back_val()];
    count(node, /*isNeeded=*/false);
    forOperands(node, remove);
  }
}

ENodeId LiveChoice::choose(ClassId id, ENodeId node) {
  id = graph.find(id);
  ENodeId before = choice[id];
  if (numUses[id] == 0) {
    choice[id] = node;
    return before;
  }
  // What is there before and after is not removed in between, and each step
  // is the reverse of one that changes back.
  forOperands(node, [&](ClassId operand) { addUses(operand, 1); });
  count(node, /*isNeeded=*/true);
  choice[id] = node;
  count(before, /*isNeeded=*/false);
  forOperands(before, [&](ClassId operand) { removeUses(operand, 1); });
  return before;
}

void LiveChoice::addClasses() {
  numUses.resize(graph.getNumClassIds(), 0);
  while (choice.size() < graph.getNumClassIds())
    choice.push_back(graph[choice.size()].nodes.front());
}

void LiveChoice::redirect(ClassId from) {
  unsigned number = numUses[from];
  moved.push_back({number, cost});
  if (number == 0)
    return;
  addUses(graph.find(from), number);
  removeUses(from, number);
}

void LiveChoice::restore(ClassId from) {
  auto [number, before] = moved.pop_back_val();
  if (number == 0)
    return;
  addUses(from, number);
  removeUses(graph.find(from), number);
  cost = before;
}
