//===- RecOps.td - The operations of the rec dialect -------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_IR_RECOPS_TD
#define ESPALIER_DIALECT_REC_IR_RECOPS_TD

include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "espalier/Dialect/Graph/IR/GraphBase.td"
include "espalier/Dialect/Graph/IR/GraphInterfaces.td"
include "espalier/Dialect/Rec/IR/RecTypes.td"

class Rec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Rec_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

def Rec_ModelOp
    : Rec_Op<"model", [FunctionOpInterface, IsolatedFromAbove, NoTerminator,
                       SingleBlock, Symbol]> {
  let summary = "a recursive function of a node";
  let description = [{
    What a node computes: by the case `leaf` if it has no children, else by the
    case `interior`. The arguments after the node are weights, the same for all
    nodes, and features, of which each node has a row.

    Constraints:
    - (C1) the first argument is a node, and all others are ranked tensors.
    - (C2) there is a result, and all are ranked tensors with known extents.
    - (C3) the body is one case for leaves and one for interior nodes.
    - (C4) the model is private.

    Three attributes say how the nodes are computed; results are the same:
    - `hoist`: whether what depends on no child is computed for all interior
      nodes before the recursion, which is the default; numbers, and rows that
      are looked up by them, always are,
    - `specialize`: whether leaves' results that are the same for all leaves,
      such as zeros, are stored once instead of for each, which is the default,
    - `batching`: `levels` for the nodes of a level together, which is the
      default, or `nodes` for one after the other.

    Example:
    ```mlir
    !node = !rec.node<tree, arity = 2>
    rec.model private @tree_rnn(%n: !node, %words: tensor<?xi32>,
                                %emb: tensor<?x4xf32>) -> tensor<4xf32> {
      rec.case leaf {
        %w = rec.feature %words at %n : tensor<?xi32>, !node -> tensor<i32>
        %h = graph.gather %emb, %w {axis = 0 : i64}
            : (tensor<?x4xf32>, tensor<i32>) -> tensor<4xf32>
        rec.yield %h : tensor<4xf32>
      }
      rec.case interior {
        %l = rec.call %n child 0 : !node -> tensor<4xf32>
        %r = rec.call %n child 1 : !node -> tensor<4xf32>
        %s = graph.add %l, %r : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %h = graph.tanh %s : (tensor<4xf32>) -> tensor<4xf32>
        rec.yield %h : tensor<4xf32>
      }
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       TypeAttrOf<FunctionType>:$function_type,
                       OptionalAttr<StrAttr>:$sym_visibility,
                       OptionalAttr<DictArrayAttr>:$arg_attrs,
                       OptionalAttr<DictArrayAttr>:$res_attrs,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$hoist,
                       DefaultValuedOptionalAttr<BoolAttr, "true">:$specialize,
                       DefaultValuedOptionalAttr<Rec_BatchingAttr,
                           "::espalier::rec::Batching::Levels">:$batching);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Returns the arguments' types, that of the node first.
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() {
      return getFunctionType().getInputs();
    }
    /// Returns the types of a node's results.
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() {
      return getFunctionType().getResults();
    }
    ::mlir::Region *getCallableRegion() { return &getBody(); }

    /// Returns the type of the nodes.
    NodeType getNodeType();
    /// Returns the arguments after the node.
    ::llvm::ArrayRef<::mlir::BlockArgument> getTensorArguments();
    /// Returns the case for leaves or for interior nodes.
    CaseOp getCase(Case kind);
  }];
}

def Rec_CaseOp
    : Rec_Op<"case", [HasParent<"ModelOp">, SingleBlock, Graph_RepeatsBody]> {
  let summary = "what leaves or interior nodes compute";
  let description = [{
    A cell: operators on tensors, and in the case of interior nodes the results
    of children. Values that depend on no child are computed for all nodes
    before the recursion, and those that depend on weights alone once; so
    `graph-optimize` takes the latter to cost nothing.

    Constraints:
    - (C1) the body ends in `rec.yield`, and has no arguments.
    - (C2) operations are those of this section, operators that a definition
      gives without a recurrence and with tensors as their only operands, and
      constants of one value.
    - (C3) an extent of an operator's result is known only where its operands
      and attributes say what it is.

    Example:
    ```mlir
    rec.case leaf {
      %h = rec.feature %x at %n : tensor<?x4xf32>, !node -> tensor<4xf32>
      rec.yield %h : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins Rec_CaseAttr:$kind);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$kind $body attr-dict";
  let hasRegionVerifier = 1;
}

def Rec_YieldOp
    : Rec_Op<"yield", [Pure, Terminator,
                       ParentOneOf<["CaseOp", "ChildrenOp"]>]> {
  let summary = "the results of a cell";
  let description = [{
    Gives the results of the node, or what a child contributes to them.

    Constraints:
    - (C1) in a case, types are those of the model's results.

    Example:
    ```mlir
    rec.yield %h, %c : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Inside of a cell
//===----------------------------------------------------------------------===//

def Rec_FeatureOp : Rec_Op<"feature", [Pure]> {
  let summary = "the row of a tensor that belongs to the node";
  let description = [{
    Reads a model's argument at the node, which is its first index.

    Constraints:
    - (C1) the tensor is an argument of the model.
    - (C2) the result is a row of it.

    Example:
    ```mlir
    %w = rec.feature %words at %n : tensor<?xi32>, !node -> tensor<i32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$tensor, Rec_NodeType:$node);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $tensor `at` $node attr-dict `:` type($tensor) `,` type($node)
    `->` type($result)
  }];
  let hasVerifier = 1;
}

def Rec_CallOp : Rec_Op<"call", [Pure]> {
  let summary = "the results of a child";
  let description = [{
    Calls the model on a child of the node.

    Constraints:
    - (C1) the operation is in the case of interior nodes.
    - (C2) interior nodes have a fixed arity, above `child`.
    - (C3) the results are those of the model.

    Example:
    ```mlir
    %h, %c = rec.call %n child 0 : !node -> tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Rec_NodeType:$node,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$child);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $node `child` $child attr-dict `:` type($node) `->` type($results)
  }];
  let hasVerifier = 1;
}

def Rec_ChildrenOp : Rec_Op<"children", [Pure, SingleBlock]> {
  let summary = "a reduction over the results of all children";
  let description = [{
    Computes the body for each child, whose results are the arguments of the
    body, and combines what it yields, each by its reduction. The body may use
    values of the cell.

    Constraints:
    - (C1) the operation is in the case of interior nodes, and not inside of
      another one of its kind.
    - (C2) the arguments of the body have the types of the model's results.
    - (C3) there is a reduction for each yielded value, of the result's type,
      whose extents are known.
    - (C4) the body yields floating-point numbers.

    Example:
    ```mlir
    %sum = rec.children %n reduce [add] {
    ^bb0(%h: tensor<4xf32>):
      rec.yield %h : tensor<4xf32>
    } : !node -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Rec_NodeType:$node,
                       TypedArrayAttrBase<Rec_ReductionAttr,
                                          "reductions">:$reductions);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $node `reduce` custom<Reductions>($reductions) $body attr-dict
    `:` type($node) `->` type($results)
  }];
  let hasRegionVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Outside of models
//===----------------------------------------------------------------------===//

def Rec_ApplyOp
    : Rec_Op<"apply",
             [Pure, DeclareOpInterfaceMethods<DefinedOpInterface>,
              DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "the results of a model for structures";
  let description = [{
    Applies a model to all nodes of structures that are numbered together, and
    returns the results at the roots, or at all nodes; dimension 0 of each is
    the root or the node.

    Leaves have the first numbers, and a child has a smaller number than its
    parents. Four arrays of numbers say what the structures are, as
    `espalier_linearize` makes them, which checks them too:
    - `arity` (nodes): the number of children of each node,
    - `children` (interior nodes, most children): the children of each interior
      node, and anything below the number of nodes after its last one,
    - `levels` (number of levels and 1): where levels of interior nodes begin,
      counted from the first interior node, such that no node of a level is a
      child of another one, and where the last one ends,
    - `roots` (any number): the roots.

    Constraints:
    - (C1) the symbol is a model.
    - (C2) the arguments have the types of the model's, but for an encoding.
    - (C3) the columns of `children` are as many as the model's arity.
    - (C4) the others are vectors, and all numbers are of type `i32`.

    Example:
    ```mlir
    %h = rec.apply @tree_rnn at roots of [%arity, %children, %levels, %roots]
        (%words, %emb)
        : [tensor<?xi32>, tensor<?x2xi32>, tensor<?xi32>, tensor<?xi32>]
          (tensor<?xi32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$model, Rec_PlacesAttr:$places,
                       Graph_Tensor:$arity, Graph_Tensor:$children,
                       Graph_Tensor:$levels, Graph_Tensor:$roots,
                       Variadic<Graph_Tensor>:$arguments);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let assemblyFormat = [{
    $model `at` $places `of` `[` $arity `,` $children `,` $levels `,` $roots `]`
    `(` $arguments `)` attr-dict `:`
    `[` type($arity) `,` type($children) `,` type($levels) `,` type($roots) `]`
    functional-type($arguments, $results)
  }];
}

#endif // ESPALIER_DIALECT_REC_IR_RECOPS_TD
