//===- PolyScheduleOps.td - Schedule trees -----------------*- tablegen -*-===//
//
// The nodes of a schedule tree. A node's region is empty (a leaf) or holds the
// one node below it.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYSCHEDULEOPS_TD
#define ESPALIER_DIALECT_POLY_IR_POLYSCHEDULEOPS_TD

include "espalier/Dialect/Poly/IR/PolyAttributes.td"

class Poly_NodeOp<string mnemonic, list<Trait> traits = []>
    : Poly_Op<mnemonic, !listconcat(traits, [SingleBlock, NoTerminator])> {
  let regions = (region AnyRegion:$body);
  code nodeDeclaration = [{
    /// The node below this one, or null at a leaf.
    ::mlir::Operation *getChild() { return getChildNode(getBody()); }
    /// The block of the body, made if there is none.
    ::mlir::Block &getOrCreateBlock() {
      return getBody().empty() ? getBody().emplaceBlock() : getBody().front();
    }
  }];
  let extraClassDeclaration = nodeDeclaration;
}

def Poly_ScheduleOp : Poly_NodeOp<"schedule", [HasParent<"KernelOp">]> {
  let summary = "the order in which a kernel's points run";
  let description = [{
    The root of a schedule tree. Every computation of the kernel reaches exactly
    one leaf; there, what the bands above leave equal runs in lexicographic
    order of the computation's dimensions.

    Constraints:
    - (C1) a node has at most one child, a `poly.band`, `poly.sequence`,
      `poly.mark` or `poly.prefetch`; a `poly.sequence` has filters.
    - (C2) at a leaf there is one computation.

    Example:
    ```mlir
    poly.schedule {
      poly.sequence {
        poly.filter [@init]
        poly.filter [@acc] {
          poly.band [@acc] maps [affine_map<(i, k)[N] -> (k, i)>]
              loops [sequential, vector(16)]
        }
      }
    }
    ```
  }];
  let assemblyFormat = "attr-dict-with-keyword ($body^)?";
  let hasRegionVerifier = 1;
}

def Poly_BandOp : Poly_NodeOp<"band"> {
  let summary = "orders computations by affine functions of their dimensions";
  let description = [{
    Gives each computation that reaches it one affine map from the computation's
    dimensions to the band's loops, outermost first. Points run in the
    lexicographic order of these values. The loops may have `names`, by which
    scheduling commands refer to them.

    With `full_tiles`, the tiles that no domain cuts get code of their own, in
    which the loops of the band below have constant bounds.

    Constraints:
    - (C1) it names exactly the computations that reach it, each once.
    - (C2) there is one map per computation, from its dimensions, with the
      kernel's parameters as symbols, to one result per loop.
    - (C3) there is at least one loop.
    - (C4) there are no names, or one per loop; no two loops that a computation
      meets, on any way to its leaves, have the same name.
    - (C5) the maps are affine, with positive divisors and numbers of at most 2^31
      in size.

    Example:
    ```mlir
    poly.band [@acc] maps [affine_map<(i, k)[N] -> (k floordiv 8, i)>]
        loops [sequential, parallel] names ["k.0", "i"] { ... }
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$computations,
                       AffineMapArrayAttr:$maps,
                       Poly_LoopArrayAttr:$loops,
                       OptionalAttr<StrArrayAttr>:$names,
                       UnitAttr:$full_tiles);
  let assemblyFormat = [{
    $computations `maps` $maps `loops` custom<Loops>($loops)
    (`names` $names^)? (`full_tiles` $full_tiles^)?
    attr-dict-with-keyword ($body^)?
  }];
  let extraClassDeclaration = nodeDeclaration # [{
    ::llvm::SmallVector<LoopKindAttrInterface> getLoopKinds() {
      return ::llvm::to_vector(getLoops().getAsRange<LoopKindAttrInterface>());
    }
    /// The map of a computation, or null if the band does not name it.
    ::mlir::AffineMap getMap(::llvm::StringRef computation);
  }];
}

def Poly_SequenceOp : Poly_NodeOp<"sequence"> {
  let summary = "runs its filters one after the other";
  let description = [{
    Constraints:
    - (C1) its children are `poly.filter`s, at least one.
    - (C2) each computation that reaches it is in a filter; in several only if
      each of them restricts it.

    Example:
    ```mlir
    poly.sequence {
      poly.filter [@init]
      poly.filter [@acc]
    }
    ```
  }];
  let assemblyFormat = "attr-dict-with-keyword $body";
}

def Poly_FilterOp : Poly_NodeOp<"filter", [ParentOneOf<["SequenceOp"]>]> {
  let summary = "lets some computations pass";
  let description = [{
    Keeps the named computations; with `where`, only the points of one integer
    set for each of them.

    Constraints:
    - (C1) it names at least one computation, each once, of those that reach it.
    - (C2) there is one set per computation, over its dimensions, with the
      kernel's parameters as symbols.

    Example:
    ```mlir
    poly.filter [@acc] where [affine_set<(i, k)[N] : (i - 4 >= 0)>] { ... }
    ```
  }];
  let arguments = (ins FlatSymbolRefArrayAttr:$computations,
                       OptionalAttr<Poly_IntegerSetArrayAttr>:$sets);
  let assemblyFormat = [{
    $computations (`where` $sets^)? attr-dict-with-keyword ($body^)?
  }];
}

def Poly_MarkOp : Poly_NodeOp<"mark"> {
  let summary = "names what is below it";
  let description = [{
    Orders nothing. Code generation finds it, with its attributes, at the place
    that corresponds to it in the loops.

    Constraints:
    - (C1) its name is not "prefetch": that is `poly.prefetch`.

    Example:
    ```mlir
    poly.mark "micro_kernel" attributes {rows = 14} { ... }
    ```
  }];
  let arguments = (ins StrAttr:$name);
  let assemblyFormat = "$name attr-dict-with-keyword ($body^)?";
  let hasVerifier = 1;
}

def Poly_PrefetchOp : Poly_NodeOp<"prefetch"> {
  let summary = "asks for elements ahead of their use";
  let description = [{
    Orders nothing. Where its place in the loops is, it fetches the element that
    read number `number` of `computation` has at the point `at`, and what follows
    it within `bytes`; with `write`, the element that its write of that number
    has there, to be written. The map `at` is one from the first point of
    `computation` below this node; what it gives need not be in the domain. With
    `of`, the access is one of that computation, which may run elsewhere, and
    `at` maps to its points.

    What is in registers, or at a place that is not known yet, is not fetched.

    Constraints:
    - (C1) `computation` reaches it.
    - (C2) the owner of the access is a computation of the kernel, and has that
      read or write.
    - (C3) `at` maps the dimensions of `computation`, with the kernel's parameters
      as symbols, to those of the owner; it is affine, with positive divisors and
      numbers of at most 2^31 in size.
    - (C4) `bytes` is between 1 and 4096.
    - (C5) it is not inside a vector loop.

    Example:
    ```mlir
    poly.prefetch @acc read 1 at affine_map<(i, j, k) -> (i, j, k + 8)> bytes 128 {
      poly.band [@acc] maps [affine_map<(i, j, k) -> (i, j)>] loops [unroll, vector(16)]
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$computation, UnitAttr:$is_write,
                       I64Attr:$number,
                       OptionalAttr<FlatSymbolRefAttr>:$owner,
                       AffineMapAttr:$at, I64Attr:$bytes);
  let assemblyFormat = [{
    $computation (`write` $is_write^) : (`read`)? $number (`of` $owner^)?
    `at` $at `bytes` $bytes attr-dict-with-keyword ($body^)?
  }];
  let extraClassDeclaration = nodeDeclaration # [{
    /// Most bytes that one node fetches.
    static constexpr int64_t kMaxBytes = 1 << 12;
    /// The computation whose access it is.
    ::llvm::StringRef getOwnerName() {
      return getOwner().value_or(getComputation());
    }
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYSCHEDULEOPS_TD
