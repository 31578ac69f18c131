//===- GraphOps.td - The operators of the graph dialect ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHOPS_TD

include "espalier/Dialect/Graph/IR/GraphConstantOps.td"
include "espalier/Dialect/Graph/IR/GraphContractionOps.td"
include "espalier/Dialect/Graph/IR/GraphElementwiseOps.td"
include "espalier/Dialect/Graph/IR/GraphIndexingOps.td"
include "espalier/Dialect/Graph/IR/GraphNormalizationOps.td"
include "espalier/Dialect/Graph/IR/GraphPoolingOps.td"
include "espalier/Dialect/Graph/IR/GraphRecurrentOps.td"
include "espalier/Dialect/Graph/IR/GraphReductionOps.td"
include "espalier/Dialect/Graph/IR/GraphShapeOps.td"

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHOPS_TD
