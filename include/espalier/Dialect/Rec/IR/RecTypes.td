//===- RecTypes.td - The type of a node --------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_IR_RECTYPES_TD
#define ESPALIER_DIALECT_REC_IR_RECTYPES_TD

include "mlir/IR/AttrTypeBase.td"
include "espalier/Dialect/Rec/IR/RecAttributes.td"

def Rec_NodeType : TypeDef<Rec_Dialect, "Node"> {
  let mnemonic = "node";
  let summary = "a node of a structure";
  let description = [{
    A node of a `tree`, where no two nodes have a child in common; of a
    `sequence`, where moreover each has one child, its predecessor; or of a
    `dag`, where nodes may share children.

    Interior nodes have `arity` children, or any positive number where it is not
    given. A sequence has arity 1.

    Example:
    ```mlir
    !rec.node<tree, arity = 2>
    !rec.node<dag>
    ```
  }];
  let parameters = (ins EnumParameter<Rec_StructureEnum>:$structure,
                        DefaultValuedParameter<"unsigned", "0">:$arity);
  let assemblyFormat = "`<` $structure (`,` `arity` `=` $arity^)? `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether all interior nodes have the same number of children.
    bool hasFixedArity() const { return getArity() != 0; }
  }];
}

#endif // ESPALIER_DIALECT_REC_IR_RECTYPES_TD
