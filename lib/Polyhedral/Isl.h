//===- Isl.h - Owning pointers to isl objects -------------------*- C++ -*-===//
//
// isl counts references by hand: a function takes or keeps each argument. `Ptr`
// owns one reference; `take()` gives it away and `copy()` makes another.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_POLYHEDRAL_ISL_H
#define ESPALIER_LIB_POLYHEDRAL_ISL_H

#include "espalier/Polyhedral/Program.h"
#include "espalier/Polyhedral/Set.h"
#include "mlir/IR/AffineExpr.h"
#include "llvm/Support/Error.h"
#include <isl/aff.h>
#include <isl/ctx.h>
#include <isl/id.h>
#include <isl/map.h>
#include <isl/options.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_map.h>
#include <isl/union_set.h>
#include <isl/val.h>
#include <utility>

namespace espalier::polyhedral::isl {

template <typename T, T *(*copyFn)(T *), T *(*freeFn)(T *)>
class Ptr {
public:
  Ptr() = default;
  explicit Ptr(T *owned) : object(owned) {}
  Ptr(const Ptr &other) : object(copyFn(other.object)) {}
  Ptr(Ptr &&other) noexcept : object(std::exchange(other.object, nullptr)) {}
  Ptr &operator=(Ptr other) {
    std::swap(object, other.object);
    return *this;
  }
  ~Ptr() { freeFn(object); }

  T *get() const { return object; }
  T *copy() const { return copyFn(object); }
  T *take() { return std::exchange(object, nullptr); }
  explicit operator bool() const { return object; }

private:
  T *object = nullptr;
};

using Aff = Ptr<isl_aff, isl_aff_copy, isl_aff_free>;
using BasicSet = Ptr<isl_basic_set, isl_basic_set_copy, isl_basic_set_free>;
using SetPtr = Ptr<isl_set, isl_set_copy, isl_set_free>;
using MapPtr = Ptr<isl_map, isl_map_copy, isl_map_free>;
using Space = Ptr<isl_space, isl_space_copy, isl_space_free>;
using UnionSet = Ptr<isl_union_set, isl_union_set_copy, isl_union_set_free>;
using Val = Ptr<isl_val, isl_val_copy, isl_val_free>;
using Id = Ptr<isl_id, isl_id_copy, isl_id_free>;

/// The name of statement `number` in isl's sets, and back.
std::string getStatementName(unsigned number);
unsigned getStatementNumber(llvm::StringRef name);

/// A set space with the parameters p0, p1, ...
Space makeSpace(isl_ctx *ctx, unsigned numParams, unsigned numDims);
/// The same, named after a statement.
Space makeStatementSpace(isl_ctx *ctx, const Program &program,
                         unsigned statement);

/// Translates `expr`: dimensions are those of `space`, symbols its parameters.
/// Null if it is not affine, or refers to symbols beyond the parameters.
Aff toAff(const Space &space, mlir::AffineExpr expr);
/// The inverse, rounded down where the value is a fraction; null for a null
/// one, or if it takes numbers beyond 64 bits.
mlir::AffineExpr toExpr(const Aff &aff, mlir::MLIRContext *context);
/// The same for a function of one case; null for others. Takes `function`.
mlir::AffineExpr toExpr(isl_pw_aff *function, mlir::MLIRContext *context);
/// Returns true if `toAff` will succeed with this many parameters.
bool isAffine(mlir::AffineExpr expr, unsigned numParams);

/// An expression that is 0, or at least 0, and whether it is the former.
using Constraint = std::pair<mlir::AffineExpr, bool>;

/// The points of `set`, in `space`, that satisfy `constraints`; null if one is
/// not affine.
BasicSet addConstraints(BasicSet set, const Space &space,
                        llvm::ArrayRef<Constraint> constraints);

/// The points of `space` that satisfy the constraints of `set`.
SetPtr toSet(const Space &space, mlir::IntegerSet set);

/// The domain of a statement, as a union over its sets, in `space`.
SetPtr toDomain(const Space &space, const Statement &statement);

/// The same points as fewer sets, if they can be joined. isl 0.25 alone would
/// join {0 <= i <= 1} and the even i from 0 to 5, which overlap, to
/// {0 <= i <= 5}.
SetPtr coalesce(SetPtr set);

/// What is known of the parameters, as a set in `space`.
SetPtr getAssumptions(const Space &space, const Program &program);

/// The error of `context` as an `llvm::Error`, after `what`.
llvm::Error makeError(const Context &context, const llvm::Twine &what);

/// A number as int64, if it is one.
std::optional<int64_t> toInt(Val value);

} // namespace espalier::polyhedral::isl

#endif // ESPALIER_LIB_POLYHEDRAL_ISL_H
