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
  std::optional<Placement> placement;
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
llvm::Expected<LocalCopy> cacheRead(ComputeOp compute, unsigned read,
                                    llvm::StringRef loop,
                                    const LocalOptions &options = {});

/// Keeps what one iteration of `loop` uses of an array, that of write `write`
/// of `compute`, in a local array, and copies it back at the end; before, it
/// copies in what is read before it is written. All computations in the loop
/// use the local array. If an element is used in several iterations, it has to
/// be by updates of a reduction: each iteration then starts with a neutral
/// element and combines its result with the array's. Refused as `cacheRead`, or
/// if elements are used outside of the loop before they are copied back.
llvm::Expected<LocalCopy> cacheWrite(ComputeOp compute, unsigned write,
                                     llvm::StringRef loop,
                                     const LocalOptions &options = {});

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
// Reductions
//===----------------------------------------------------------------------===//

/// Gives each iteration of `loop` partial results of its own: an array with the
/// loop as its first dimension. Refused if `compute` is not a reduction, or if
/// one iteration has all updates of an element.
llvm::Expected<LocalCopy> rfactor(ComputeOp compute, llvm::StringRef loop,
                                  const LocalOptions &options = {});

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

/// Says where an array lives. Refused for memory of dynamic size if that is not
/// the heap, and for arrays that one iteration of a parallel loop shares with
/// another if it is a register.
llvm::Error place(ArrayOp array, Placement placement);

/// Gives each element of an array that keeps several in one place a place of
/// its own, in memory of the box of all that are used. Refused if there is no
/// storage map, or no bounds that are affine in the parameters, from numbers on.
llvm::Error unfold(ArrayOp array);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_DATACOMMANDS_H
