//===- DataCommands.h - Commands on data and reductions ---------*- C++ -*-===//
//
// Commands that change where values are kept, or which computation makes them.
// They add arrays and computations, and redirect accesses: the kernel still
// says what it computes, in a new program order that gives the same results.
// That is proved for each command from exact dependences; then the schedule is
// checked as after every command.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_DATACOMMANDS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_DATACOMMANDS_H

#include "espalier/Dialect/Poly/Transforms/Commands.h"

namespace espalier::poly {

//===----------------------------------------------------------------------===//
// Local copies
//===----------------------------------------------------------------------===//

/// What a local array is to be like.
struct LocalOptions {
  /// Where it lives; on the stack if it is small.
  MemorySpaceAttrInterface placement;
  /// From the indices of a tile's box to those of the memory: one to one.
  std::optional<mlir::AffineMap> layout;
};

/// A local array and the computations that fill and empty it.
struct LocalCopy {
  ArrayOp array;
  ComputeOp in;  ///< Copies in, or makes neutral; null if that is not needed.
  ComputeOp out; ///< Copies or combines back; null if that is not needed.
};

/// Copies what one iteration of `loop` reads of an array, that of read `read`
/// of `compute`, to a local array, and lets all computations in the loop read
/// that. The box of elements has a size over the parameters. An empty `loop` is
/// the whole kernel. Refused if the array is written between the copy and the
/// uses, in program order, or if the elements are not affine functions of the
/// points.
llvm::Expected<LocalCopy> cacheRead(ComputeOp compute, uint64_t read,
                                    llvm::StringRef loop,
                                    const LocalOptions &options = {});

/// Keeps what one iteration of `loop` uses of an array, that of write `write`
/// of `compute`, in a local array, and copies it back at the end; before, it
/// copies in what is read before it is written. All computations in the loop
/// use the local array. If an element is used in several iterations, it has to
/// be by updates of a reduction: each iteration then starts with a neutral
/// element and combines its result with the array's. Refused as `cacheRead`, or
/// if elements are used outside of the loop before they are copied back.
llvm::Expected<LocalCopy> cacheWrite(ComputeOp compute, uint64_t write,
                                     llvm::StringRef loop,
                                     const LocalOptions &options = {});

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

/// Gives sizes in each of `conditions`, sets without dimensions over the
/// kernel's parameters, copies of all computations and arrays of the kernel,
/// called `s.few` for `s` and the name `few`; the first condition that holds
/// counts. Others keep what there is. Copies run as their originals do.
llvm::Error branchOnSizes(ComputeTarget compute,
                          llvm::ArrayRef<mlir::IntegerSet> conditions,
                          llvm::ArrayRef<llvm::StringRef> names);

//===----------------------------------------------------------------------===//
// Producers
//===----------------------------------------------------------------------===//

/// Computes what `producer` writes where it is used, in the bodies of all
/// computations that read it, and removes it with its array by `erase`. Refused
/// unless it is the only one to write a `poly.array`, each element once, the
/// point that made an element is an affine function of the point that uses it,
/// and what it reads is the same there.
llvm::Error inlineProducer(ComputeOp producer,
                           llvm::function_ref<void(mlir::Operation *)> erase);

/// Computes what one iteration of a loop of `consumer` reads of the array that
/// `producer` writes in that iteration, directly before its uses. All
/// computations that write the array go there; their first dimensions are then
/// the loops, and each iteration has an array of its own, for the box of what
/// it reads. So elements that several iterations read are computed several
/// times. An array that is an argument, or is read outside of the loop, or
/// which the consumer writes too, stays as it is: then `producer` alone moves,
/// and each element has to be used in exactly one iteration. The loops inside
/// are the producer's dimensions, in program order. Refused if what the writers
/// read changes before the uses, if they read elements that the iteration does
/// not make, or are interleaved with others.
llvm::Error computeAt(ComputeOp producer, ComputeOp consumer,
                      llvm::StringRef loop, const LocalOptions &options = {});

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Counts a loop, over one dimension of each of its computations, from the
/// lower bound that `where` gives it by values which are read: the dimension is
/// 0 there, and subscripts add the bound. So tiles and lanes begin where a row
/// does. Refused if there is no such bound, or not where the dimensions before
/// it decide; if its values have no `poly.bounded_by`; if other computations
/// are interleaved in the dimension; and for uses of the dimension in which the
/// value of the bound is missing.
llvm::Error rebase(ComputeOp compute, llvm::StringRef loop);

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Gives each iteration of `loop` partial results of its own: an array with the
/// loop as its first dimension. Refused if `compute` is not a reduction, or if
/// one iteration has all updates of an element.
llvm::Expected<LocalCopy> rfactor(ComputeOp compute, llvm::StringRef loop,
                                  const LocalOptions &options = {});

/// Runs the initialization of the elements that a reduction updates, the last
/// computation before it that writes them without reading them, directly before
/// `loop`, in each iteration of the loops around it: for the elements that are
/// updated in it. Refused if there is no such computation, or if an element is
/// updated in several iterations of those loops of which none is the first.
llvm::Error decompose(ComputeOp compute, llvm::StringRef loop);

/// Keeps what a reduction accumulates in blocks of registers: `sizes[k]`
/// iterations of `loops[k]`, those of the last in lanes of `width` (1: no
/// lanes). All other loops of the nest, from the first of these on, run inside
/// the loops over the blocks and around the blocks, which are unrolled; blocks
/// that no domain cuts get code of their own. For a loop `i`, `i.0` runs over
/// blocks and `i.1` in them.
llvm::Expected<LocalCopy> registerBlock(ComputeOp compute,
                                        llvm::ArrayRef<llvm::StringRef> loops,
                                        llvm::ArrayRef<int64_t> sizes,
                                        int64_t width);

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Says where an array lives. Refused for memory of dynamic size if that is not
/// the heap, and for arrays that one iteration of a parallel loop shares with
/// another if it is a register.
llvm::Error place(ArrayTarget array, MemorySpaceAttrInterface space);

/// Gives each element of an array that keeps several in one place a place of
/// its own, in memory of the box of all that are used. Refused if there is no
/// storage map, or no bounds that are affine in the parameters, from numbers
/// on.
llvm::Error unfold(ArrayTarget array);

/// Moves the elements of an array: what lies at `x` of its memory, or of its
/// indices if it has no storage, then lies at `layout(x)`. The memory has the
/// extents that this takes, each `padding` larger and then rounded up to one of
/// `multiples`, if these are not empty; memory starts at a multiple of 64
/// bytes. Refused if two elements would lie at one place, or some at negative
/// ones.
llvm::Error changeLayout(ArrayTarget array, mlir::AffineMap layout,
                         llvm::ArrayRef<int64_t> padding = {},
                         llvm::ArrayRef<int64_t> multiples = {});

/// Keeps at most `places` elements along an index of an array's memory: what
/// lies at `x` then lies at `x mod places` in it, so that elements take turns.
/// Refused if two of one place are in use at the same time.
llvm::Error foldStorage(ArrayTarget array, int64_t index, int64_t places);

/// Copies what one iteration of `loop` reads of an array to blocks: `cacheRead`
/// with a layout of the indices of blocks, of `blocks[k]` elements along index
/// k or one if that is 0, followed by the indices in blocks. `order` gives the
/// places of these, if it is not empty.
llvm::Expected<LocalCopy> pack(ComputeOp compute, uint64_t read,
                               llvm::StringRef loop,
                               llvm::ArrayRef<int64_t> blocks,
                               llvm::ArrayRef<int64_t> order = {},
                               MemorySpaceAttrInterface placement = {});

/// Gives each iteration of `loop` an array of its own, for the box of what it
/// uses, in place of the `poly.array` of write `write`. Refused if the array is
/// used elsewhere, or if an iteration reads what another wrote.
llvm::Error privatize(ComputeOp compute, uint64_t write, llvm::StringRef loop,
                      const LocalOptions &options = {});

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_DATACOMMANDS_H
