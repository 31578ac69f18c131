//===- RecAttributes.td - Attributes of the rec dialect ----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_IR_RECATTRIBUTES_TD
#define ESPALIER_DIALECT_REC_IR_RECATTRIBUTES_TD

include "mlir/IR/EnumAttr.td"
include "espalier/Dialect/Rec/IR/RecBase.td"

class Rec_EnumAttr<string mnemonic, EnumInfo info>
    : EnumAttr<Rec_Dialect, info, mnemonic> {
  let assemblyFormat = "$value";
}

def Rec_StructureEnum
    : I32Enum<"Structure", "shape of a structure",
              [I32EnumCase<"Tree", 0, "tree">,
               I32EnumCase<"Sequence", 1, "sequence">,
               I32EnumCase<"Dag", 2, "dag">]> {
  let cppNamespace = "::espalier::rec";
}

def Rec_CaseEnum
    : I32Enum<"Case", "nodes that a case is for",
              [I32EnumCase<"Leaf", 0, "leaf">,
               I32EnumCase<"Interior", 1, "interior">]> {
  let cppNamespace = "::espalier::rec";
}
def Rec_CaseAttr : Rec_EnumAttr<"case_kind", Rec_CaseEnum>;

def Rec_PlacesEnum
    : I32Enum<"Places", "nodes whose results are wanted",
              [I32EnumCase<"Roots", 0, "roots">,
               I32EnumCase<"Nodes", 1, "nodes">]> {
  let cppNamespace = "::espalier::rec";
}
def Rec_PlacesAttr : Rec_EnumAttr<"places", Rec_PlacesEnum>;

def Rec_BatchingEnum
    : I32Enum<"Batching", "which nodes are computed together",
              [I32EnumCase<"Levels", 0, "levels">,
               I32EnumCase<"Nodes", 1, "nodes">]> {
  let cppNamespace = "::espalier::rec";
}
def Rec_BatchingAttr
    : EnumAttr<Rec_Dialect, Rec_BatchingEnum, "batching"> {
  let assemblyFormat = "`<` $value `>`";
}

def Rec_ReductionEnum
    : I32Enum<"Reduction", "how results of children are combined",
              [I32EnumCase<"Add", 0, "add">, I32EnumCase<"Mul", 1, "mul">,
               I32EnumCase<"Max", 2, "max">, I32EnumCase<"Min", 3, "min">]> {
  let cppNamespace = "::espalier::rec";
}
def Rec_ReductionAttr : Rec_EnumAttr<"reduction", Rec_ReductionEnum>;

#endif // ESPALIER_DIALECT_REC_IR_RECATTRIBUTES_TD
