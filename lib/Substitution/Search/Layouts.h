//===- Layouts.h - In which order tensors lie in memory ---------*- C++ -*-===//
//
// A node says what is computed and, by the types of its class and of those that
// it needs, in which order that lies: a type without an encoding stands for the
// order that kernels choose by themselves, one with an encoding for that order
// (`withLayout`). What lies in another order is a class of its own. So a choice
// of nodes is a choice of orders, too, and its cost that of kernels between the
// orders that were chosen. Rules do not speak of such nodes.
//
// They are added only around operators that may gain by it, as the cost model
// says: for the operand that such an operator reads, and for the element-wise
// functions between that and what computes it.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_LAYOUTS_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_LAYOUTS_H

#include "Saturate.h"

namespace espalier::substitution {

/// Adds operators with operands and results in other orders to an e-graph that
/// has all that rules can say.
void addLayouts(EGraph &graph, SearchContext &context, NodeCosts &costs);

/// What stands for what, once an operator reads its operand in another order.
using LayoutChange = std::pair<ClassId, ClassId>;

/// The changes of orders in the graph whose nodes are `order`, operands first:
/// one for each operator that may gain, for each way to get its operand
/// (copied, or computed in that order), and for either order of its result.
std::vector<LayoutChange> findLayouts(EGraph &graph, SearchContext &context,
                                      NodeCosts &costs,
                                      llvm::ArrayRef<ENodeId> order);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_LAYOUTS_H
