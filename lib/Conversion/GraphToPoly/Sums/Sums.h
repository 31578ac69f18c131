//===- Sums.h - Other forms of single sums ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_SUMS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_SUMS_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

/// Lets sums walk windows forwards: transposed convolutions are convolutions.
void forwardTaps(StatementList &program);

/// Gives grouped convolutions a dimension of groups, where lanes along the
/// features of a group are better than along rows.
void separateGroups(StatementList &program);

/// Weighs elements that are gathered along a row, by products of weights, along
/// one index after the other where that gathers less.
void separateInterpolation(StatementList &program);

/// Takes maxima over windows that overlap along rows first along one direction
/// and then along the other, where that computes less.
void separateWindows(StatementList &program);

/// Leaves dimensions with one point out of what sums but products read.
void dropSinglePoints(StatementList &program);

/// Cuts long sums of few results into parts, which threads take.
void shareSums(StatementList &program);

/// Leaves out what convolutions read of a border of zeros, where that is much.
void trimWindows(StatementList &program,
                 llvm::SmallVectorImpl<FusionGroup> &fusionGroups);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_SUMS_H
