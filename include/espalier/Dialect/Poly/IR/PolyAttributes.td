//===- PolyAttributes.td - Attributes of the poly dialect --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYATTRIBUTES_TD
#define ESPALIER_DIALECT_POLY_IR_POLYATTRIBUTES_TD

include "espalier/Dialect/Poly/IR/PolyAttrInterfaces.td"
include "espalier/Dialect/Poly/IR/PolyBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Poly_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Poly_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Poly_Placement : I32EnumAttr<"Placement", "where a CPU has a local array", [
    I32EnumAttrCase<"Heap", 0, "heap">,
    I32EnumAttrCase<"Stack", 1, "stack">,
    I32EnumAttrCase<"Register", 2, "register">]> {
  let cppNamespace = "::espalier::poly";
  let genSpecializedAttr = 0;
}

def Poly_PlacementAttr
    : EnumAttr<Poly_Dialect, Poly_Placement, "placement", [
          DeclareAttrInterfaceMethods<Poly_MemorySpaceAttrInterface, [
              "getCapacity", "getFallback", "isShared"]>]> {
  let description = [{
    `heap` memory is allocated per call; `stack` and `register` take small,
    constant extents. Iterations of a parallel loop do not share registers.

    Example: `#poly.placement<stack>`; in `poly.array` and in commands, just
    `stack`.
  }];
  let assemblyFormat = "`<` $value `>`";
}

/// A memory space, of a CPU if only its name is given.
def Poly_MemorySpaceAttr : Attr<Poly_MemorySpaceAttrInterface.predicate,
                                "memory space"> {
  let storageType = "::espalier::poly::MemorySpaceAttrInterface";
  let returnType = storageType;
  let convertFromStorage = "$_self";
  let constBuilderCall =
      "::espalier::poly::PlacementAttr::get($_builder.getContext(), $0)";
}

def Poly_AlgorithmAttr : I32EnumAttr<"Algorithm", "how a sum is computed", [
    I32EnumAttrCase<"Direct", 0, "direct">,
    I32EnumAttrCase<"Winograd", 1, "winograd">]> {
  let cppNamespace = "::espalier::poly";
}

def Poly_ReductionAttr : I32EnumAttr<"Reduction", "how a reduction combines", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Mul", 1, "mul">,
    I32EnumAttrCase<"Max", 2, "max">, I32EnumAttrCase<"Min", 3, "min">,
    I32EnumAttrCase<"And", 4, "and">, I32EnumAttrCase<"Or", 5, "or">]> {
  let cppNamespace = "::espalier::poly";
}

def Poly_FetchAttr : I32EnumAttr<"Fetch", "what a sum fetches ahead", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Terms", 1, "terms">,
    I32EnumAttrCase<"Panel", 2, "panel">, I32EnumAttrCase<"Rows", 3, "rows">,
    I32EnumAttrCase<"Copies", 4, "copies">]> {
  let cppNamespace = "::espalier::poly";
}

def Poly_LoopKind : I32EnumAttr<"LoopKind", "how a band's loop runs", [
    I32EnumAttrCase<"Sequential", 0, "sequential">,
    I32EnumAttrCase<"Parallel", 1, "parallel">,
    I32EnumAttrCase<"Vector", 2, "vector">,
    I32EnumAttrCase<"Unroll", 3, "unroll">]> {
  let cppNamespace = "::espalier::poly";
  let genSpecializedAttr = 0;
}

def Poly_LoopAttr : Poly_Attr<"Loop", "loop", [Poly_LoopKindAttrInterface]> {
  let summary = "how a CPU runs a band's loop";
  let description = [{
    `sequential`; `parallel`: iterations on different threads; `vector(W)`: at
    most W iterations, in lockstep as the lanes of a vector; `unroll`: one copy
    of the body per iteration, where the number of iterations is a constant.

    Example: `#poly.loop<vector(16)>`; inside a `poly.band`, just `vector(16)`.
  }];
  let parameters = (ins "LoopKind":$kind, "int64_t":$width);
  let builders = [
    AttrBuilder<(ins "LoopKind":$kind), [{ return $_get($_ctxt, kind, 0); }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// No vector has more lanes.
    static constexpr int64_t kMaxLanes = 1024;
    /// Returns the attribute of a vector loop with `width` lanes.
    static LoopAttr getVector(::mlir::MLIRContext *context, int64_t width) {
      return get(context, LoopKind::Vector, width);
    }
    bool isSequential() const { return getKind() == LoopKind::Sequential; }
    bool isParallel() const { return getKind() == LoopKind::Parallel; }
    bool isVector() const { return getKind() == LoopKind::Vector; }
    bool isUnroll() const { return getKind() == LoopKind::Unroll; }
  }];
}

def Poly_TargetAttr : Poly_Attr<"Target", "target"> {
  let summary = "the machine that a module is compiled for";
  let description = [{
    Widths in bits, cache sizes in bytes (per core for `l1` and `l2`).

    Example:
    `#poly.target<cpu = "znver5", features = "+avx512f", vector_bits = 512,
    registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 8>`
  }];
  let parameters = (ins StringRefParameter<>:$cpu, StringRefParameter<>:$features,
                        "int64_t":$vector_bits, "int64_t":$registers,
                        "int64_t":$l1, "int64_t":$l2, "int64_t":$l3,
                        "int64_t":$cores);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Elements of `type` in one vector register; 1 if it has no vectors.
    int64_t getLanes(::mlir::Type type) const;
    /// Whether one instruction that loads lanes from different places is faster
    /// than a load for each of them.
    bool hasFastGather() const;
    /// The name of the module attribute that holds the target.
    static constexpr ::llvm::StringLiteral getAttrName() {
      return "poly.target";
    }
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYATTRIBUTES_TD
