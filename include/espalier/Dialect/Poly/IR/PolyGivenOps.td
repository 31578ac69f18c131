//===- PolyGivenOps.td - Statements on data ----------------*- tablegen -*-===//
//
// Included by PolyOps.td, which has the classes.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYGIVENOPS_TD
#define ESPALIER_DIALECT_POLY_IR_POLYGIVENOPS_TD

def Poly_GivenOp : Poly_PointsOp<"given"> {
  let summary = "what holds of data that a kernel reads";
  let description = [{
    At each point of `domain` (the union of the sets), the values of the reads
    satisfy `holds`; with `where`, at those points at which they satisfy that. As
    in a computation, the parameters are the first symbols of every set and map,
    and the value of each read is one more symbol of `where` and `holds`.

    Every proof about the kernel uses it: dependences, the storage that elements
    share, what an iteration writes before it reads, whether accesses stay inside
    their arrays. Nobody believes it: a program that calls the kernel checks it,
    before it runs or, of arrays that it makes, before the call; or the compiler
    does if the arrays are constants.

    Constraints:
    - (C1) the domain has at least one set; all have the same dimensions and the
      kernel's parameters as symbols.
    - (C2) there are reads, and one map per read, from the domain's dimensions, with the
      parameters as symbols, to as many indices as the memref has dimensions.
    - (C3) what it reads are arguments, memrefs of integers with a sign and at most
      64 bits, that no computation writes.
    - (C4) `where` and `holds` have the domain's dimensions; their symbols are the
      parameters and at most one for each read.
    - (C5) sets and maps are affine, with positive divisors and numbers of at most
      2^31 in size.
    - (C6) there are no names, or a different one for each dimension.
    - (C7) no expression, nor a part of it, can be more than 2^62 in size, for values
      from -2^31 to less than 2^31 and dimensions and parameters of at most 2^40.
      Arrays with other values do not pass the check.

    Example:
    ```mlir
    poly.given @child dims ["l", "n"] domain [affine_set<(l, n)[L, N] : (l >= 0, L - 1 - l >= 0,
                                                 n >= 0, N - 1 - n >= 0)>]
        where affine_set<(l, n)[L, N, b, e] : (n - b >= 0, e - 1 - n >= 0)>
        reads(%levels[affine_map<(l, n)[L, N] -> (l)>], %levels[affine_map<(l, n)[L, N] -> (l + 1)>],
              %child[affine_map<(l, n)[L, N] -> (n)>] : memref<?xi32>, memref<?xi32>, memref<?xi32>)
        holds affine_set<(l, n)[L, N, b, e, c] : (b - 1 - c >= 0)>
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrArrayAttr>:$dims,
                       Poly_IntegerSetArrayAttr:$domain,
                       OptionalAttr<IntegerSetAttr>:$where,
                       Variadic<Poly_MemRef>:$reads,
                       AffineMapArrayAttr:$read_maps,
                       IntegerSetAttr:$holds);
  let assemblyFormat = [{
    $sym_name (`dims` $dims^)? `domain` $domain (`where` $where^)?
    `reads` `` custom<Accesses>($reads, type($reads), $read_maps)
    `holds` $holds attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = pointsDeclaration # [{
    /// The reads; their `argument` is null.
    ::llvm::SmallVector<ComputeAccess> getReadAccesses();
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYGIVENOPS_TD
