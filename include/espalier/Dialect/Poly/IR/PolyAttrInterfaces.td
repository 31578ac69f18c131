//===- PolyAttrInterfaces.td - What a target adds ----------*- tablegen -*-===//
//
// Checks, commands and plans ask loops and memories only what is here, so that
// a target has kinds of its own: an attribute, which may be a stock one with an
// external model, and the code that is made of it.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYATTRINTERFACES_TD
#define ESPALIER_DIALECT_POLY_IR_POLYATTRINTERFACES_TD

include "mlir/IR/OpBase.td"

def Poly_LoopKindAttrInterface : AttrInterface<"LoopKindAttrInterface"> {
  let description = [{
    How a band's loop runs. `#poly.loop` has the kinds of a CPU. One that
    answers no question with yes runs its iterations one after the other.
  }];
  let cppNamespace = "::espalier::poly";
  let methods = [
    InterfaceMethod<[{
      Whether iterations run at the same time as others, in no order: none may
      depend on another, and they share no memory but what `isSharedBy` says.
    }], "bool", "isParallel", (ins), "", "return false;">,
    InterfaceMethod<[{
      Whether iterations are lanes in lockstep: as `isParallel`, but that they
      may add to one element; there are no loops inside.
    }], "bool", "isVector", (ins), "", "return false;">,
    InterfaceMethod<[{
      Whether each iteration is code of its own, with constants for its number.
    }], "bool", "isUnroll", (ins), "", "return false;">,
    InterfaceMethod<[{
      The most iterations that the loop may have, at any values of the others;
      0: any number.
    }], "int64_t", "getWidth", (ins), "", "return 0;">];
}

def Poly_MemorySpaceAttrInterface : AttrInterface<"MemorySpaceAttrInterface"> {
  let description = [{
    Where a kernel's array lives. `#poly.placement` has the places of a CPU.
  }];
  let cppNamespace = "::espalier::poly";
  let methods = [
    InterfaceMethod<[{
      The most bytes that all arrays of a kernel take there, which then have
      constant extents; nothing: any number.
    }], "std::optional<int64_t>", "getCapacity", (ins), "",
        "return std::nullopt;">,
    InterfaceMethod<[{
      Where elements live if code cannot tell, when it is made, which of them it
      uses; nothing: in this space, whose elements have addresses.
    }], "::espalier::poly::MemorySpaceAttrInterface", "getFallback", (ins), "",
        "return {};">,
    InterfaceMethod<[{
      Whether the iterations of each parallel loop share one memory, whatever
      the kind of the loop.
    }], "bool", "isShared", (ins), "", "return true;">,
    InterfaceMethod<[{
      Whether the iterations of a parallel loop of this kind share one memory.
      If not, all that happens to an element happens in one of them.
    }], "bool", "isSharedBy",
        (ins "::espalier::poly::LoopKindAttrInterface":$loop), "",
        "return $_attr.isShared();">];
  let extraClassDeclaration = [{
    /// Whether elements have addresses.
    bool isAddressable() const { return !getFallback(); }
    /// What messages call the space: `stack memory`, `#gpu.address_space<..>`.
    std::string toText() const;
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYATTRINTERFACES_TD
