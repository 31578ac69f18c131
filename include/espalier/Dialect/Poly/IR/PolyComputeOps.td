//===- PolyComputeOps.td - Computations --------------------*- tablegen -*-===//
//
// Included by PolyOps.td, which has the classes.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYCOMPUTEOPS_TD
#define ESPALIER_DIALECT_POLY_IR_POLYCOMPUTEOPS_TD

def Poly_ComputeOp : Poly_PointsOp<"compute", [
    SingleBlock, AttrSizedOperandSegments, RecursiveMemoryEffects]> {
  let summary = "a scalar function, evaluated at each point of an integer set";
  let description = [{
    At each point of `domain` (the union of the sets) it reads one element per
    read access, evaluates the body on these values, and stores what the body
    yields, one element per write access.

    The kernel's parameters are the first symbols of every set and map. A read
    map may use one more symbol for each read before it: the value that this read
    has at the point (an indirect access). A write map may use one for each read.

    With `where`, it does so only at those points at which values that it reads
    allow it: the set may use the value of each read as one more symbol. So a loop
    runs over a row of a sparse matrix, `rowptr[n] <= j < rowptr[n + 1]`. What it
    reads for that, it reads at all points of the domain.

    With `interleaved n`, its first n dimensions run together with those of the
    computation before it: for each value of them both run, one after the other.
    So do the steps of a recurrence over time, which read one another's results
    of the time before.

    The dimensions may have names, `dims`: the loops of a schedule that starts
    from program order are called so.

    The body may also use `poly.index`, and the kernel's scalar arguments. It is
    total: the quotient and the remainder of an integer by zero are 0, and the
    least number by -1 is itself, with a remainder of 0; an integer that is made
    of a float is the nearest that fits, and 0 for NaN; no digit is left of one
    that is shifted by its width or more, or, of `shrsi`, only the sign.

    With `reduction`, the update may be applied to an element in any order; the
    element is that of the write, whose access is also a read. With `combiner`,
    several elements are updated together, as that says: those of all writes.
    An `atomic` reduction updates the element in memory at once, so threads may
    meet in it; sums of floats then depend on who comes first.

    Constraints:
    - (C1) the domain has at least one set; all have the same dimensions.
    - (C2) the sets' symbols are the kernel's parameters.
    - (C3) there is one map per access, from the domain's dimensions to as many
      indices as the memref has dimensions.
    - (C4) read map q has the parameters as symbols, or these and q more; a write
      map has the parameters, or these and one for each read.
    - (C5) the body has one argument per read, of the memref's element type.
    - (C6) the body yields one value per write, of the memref's element type.
    - (C7) a symbol of a read's value is of integers as those of (C15).
    - (C8) the body holds `arith` and `math` on numbers alone, and `poly.index`.
    - (C9) a reduction has one write, whose memref and indices are those of
      exactly one read. They may depend on data.
    - (C10) accesses are to arguments or arrays of the kernel.
    - (C11) it is interleaved with a computation before it, in at most all
      dimensions of both.
    - (C12) there are no names, or a different one for each dimension.
    - (C13) a reduction uses the element that it updates for nothing but this: its
      body combines it with values that do not depend on it, as the reduction
      says.
    - (C14) `where` has the domain's dimensions; its symbols are the parameters
      and at most one for each read.
    - (C15) a read that `where` uses is of integers with a sign, of at most 64
      bits, at a place that depends on no other read.
    - (C16) the domain is affine, with positive divisors and numbers of at most
      2^31 in size.
    - (C17) divisors in accesses and in `where` are positive numbers, or depend on
      parameters alone; numbers are at most 2^31 in size.
    - (C18) `combiner` is a `poly.combiner` of the kernel, and there is no
      `reduction` beside it.
    - (C19) with a combiner, there is one write for each of its values, of its
      type, all of different arrays at the same indices; each element is read
      once, and its value decides neither what is accessed nor where it runs.
    - (C20) with a combiner, the body combines the elements with what it makes of
      the neutral ones: f(a, x) = combine(a, f(neutral, x)).
    - (C21) an `atomic` reduction adds, takes maxima or minima, or combines bits
      by and or or, of integers of 8, 16, 32 or 64 bits, f32 or f64.

    Example:
    ```mlir
    poly.compute @acc dims ["i", "k"] domain [affine_set<(i, k)[N] : (i >= 0, N - 1 - i >= 0,
                                                      k >= 0, N - 1 - k >= 0)>]
        reads(%A[affine_map<(i, k)[N] -> (i, k)>],
              %s[affine_map<(i, k)[N] -> (i)>] : memref<?x?xf32>, memref<?xf32>)
        writes(%s[affine_map<(i, k)[N] -> (i)>] : memref<?xf32>)
        reduction add {
    ^bb0(%a: f32, %s0: f32):
      %s1 = arith.addf %s0, %a : f32
      poly.yield %s1 : f32
    }
    poly.compute @clear dims ["n", "j"] domain [affine_set<(n, j)[N, E] : (n >= 0, N - 1 - n >= 0,
                                                      j >= 0, E - 1 - j >= 0)>]
        where affine_set<(n, j)[N, E, b, e] : (j - b >= 0, e - 1 - j >= 0)>
        reads(%rowptr[affine_map<(n, j)[N, E] -> (n)>],
              %rowptr[affine_map<(n, j)[N, E] -> (n + 1)>] : memref<?xi32>, memref<?xi32>)
        writes(%values[affine_map<(n, j)[N, E] -> (j)>] : memref<?xf32>) {
    ^bb0(%begin: i32, %end: i32):
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name,
                       OptionalAttr<StrArrayAttr>:$dims,
                       Poly_IntegerSetArrayAttr:$domain,
                       OptionalAttr<IntegerSetAttr>:$where,
                       Variadic<Poly_MemRef>:$reads,
                       Variadic<Poly_MemRef>:$writes,
                       AffineMapArrayAttr:$read_maps,
                       AffineMapArrayAttr:$write_maps,
                       OptionalAttr<Poly_ReductionAttr>:$reduction,
                       UnitAttr:$atomic,
                       OptionalAttr<FlatSymbolRefAttr>:$combiner,
                       OptionalAttr<ConfinedAttr<I64Attr, [IntPositive]>>:
                           $interleaved);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`dims` $dims^)? `domain` $domain (`where` $where^)?
    `reads` `` custom<Accesses>($reads, type($reads), $read_maps)
    `writes` `` custom<Accesses>($writes, type($writes), $write_maps)
    (`reduction` $reduction^ (`atomic` $atomic^)?)? (`combiner` $combiner^)? (`interleaved` $interleaved^)?
    attr-dict-with-keyword $body
  }];
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<::mlir::IntegerSet>":$domain,
      "::llvm::ArrayRef<ComputeAccess>":$reads,
      "::llvm::ArrayRef<ComputeAccess>":$writes,
      "::std::optional<Reduction>":$reduction,
      "::llvm::function_ref<void(::mlir::OpBuilder &, ::mlir::Location, "
          "::mlir::ValueRange)>":$buildBody)>];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDeclaration = pointsDeclaration # [{
    /// Whether `where` depends on the value of read `number`.
    bool isConditionedOn(unsigned number);
    ::llvm::SmallVector<ComputeAccess> getReadAccesses();
    ::llvm::SmallVector<ComputeAccess> getWriteAccesses();
    YieldOp getYield();
    /// What combines the elements that it updates, or null.
    CombinerOp getCombinerOp();
    /// Whether its updates of an element may run in any order.
    bool hasAnyOrder();
  }];
}

def Poly_IndexOp : Poly_Op<"index", [Pure, ParentOneOf<["ComputeOp"]>]> {
  let summary = "a coordinate of the point that is computed";
  let description = [{
    Constraints:
    - (C1) `dim` is a dimension of the computation.

    Example:
    ```mlir
    %i = poly.index 0
    ```
  }];
  let arguments = (ins ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs Index:$result);
  let assemblyFormat = "$dim attr-dict";
  let hasVerifier = 1;
}

def Poly_YieldOp : Poly_Op<"yield", [
    Pure, Terminator, ParentOneOf<["ComputeOp", "CombinerOp"]>]> {
  let summary = "the values that a computation stores, or a combiner makes";
  let description = [{
    Example:
    ```mlir
    poly.yield %a, %b : f32, i64
    ```
  }];
  let arguments = (ins Variadic<Poly_ElementType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

def Poly_CombinerOp : Poly_Op<"combiner", [
    HasParent<"KernelOp">, Symbol, SingleBlock]> {
  let summary = "how two partial results of a reduction become one";
  let description = [{
    A reduction to several values at once, such as the largest element and where
    it is, updates them by a body of its own. The combiner says what becomes of
    two partial results: its block has the values of the first, then those of the
    second, and yields theirs together. `neutral` are the values that a partial
    result starts from.

    With it, updates may be grouped: `rfactor` gives each iteration of a loop a
    partial result. With `commutative`, they may also run in any order; without,
    the order of the updates of an element stays, and so does that of its parts.

    Nobody believes it: it is proved, for numbers that are the real ones and
    integers as they are. Values that a law does not hold for are an error.

    Constraints:
    - (C1) there are neutral values; the block has two arguments for each, of its
      type, and yields one of its type.
    - (C2) the block holds operations of `arith` and `math` on numbers, and uses
      no values from outside of it.
    - (C3) combine(a, neutral) = a; and combine(neutral, neutral) is neutral, bit
      by bit, as it is computed.
    - (C4) combine(combine(a, b), c) = combine(a, combine(b, c)).
    - (C5) with `commutative`, combine(a, b) = combine(b, a).

    Example:
    ```mlir
    poly.combiner @first_max commutative neutral [0xFF800000 : f32, 0x7FFFFFFF : i32] {
    ^bb0(%v: f32, %i: i32, %w: f32, %j: i32):
      %more = arith.cmpf ogt, %w, %v : f32
      %equal = arith.cmpf oeq, %w, %v : f32
      %before = arith.cmpi slt, %j, %i : i32
      %first = arith.andi %equal, %before : i1
      %second = arith.ori %more, %first : i1
      %value = arith.select %second, %w, %v : f32
      %index = arith.select %second, %j, %i : i32
      poly.yield %value, %index : f32, i32
    }
    ```
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, UnitAttr:$commutative,
                       ArrayAttr:$neutral);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name (`commutative` $commutative^)? `neutral` $neutral attr-dict-with-keyword $body
  }];
  let hasRegionVerifier = 1;
  let extraClassDeclaration = [{
    unsigned getNumValues() { return getNeutral().size(); }
    YieldOp getYield();
    /// Emits the combination of two partial results.
    ::llvm::SmallVector<::mlir::Value>
    combine(::mlir::OpBuilder &builder, ::mlir::ValueRange first,
            ::mlir::ValueRange second);
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYCOMPUTEOPS_TD
