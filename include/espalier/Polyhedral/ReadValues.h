//===- ReadValues.h - What points read, and what is known of it -*- C++ -*-===//
//
// A value that a point reads in an array which nobody writes is a function of
// its subscripts, and beyond that unknown but for what is stated of it. Every
// proof about points takes such values as dimensions of its sets, behind those
// of the points, with constraints from one place: here.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_READVALUES_H
#define ESPALIER_POLYHEDRAL_READVALUES_H

#include "espalier/Polyhedral/Program.h"
#include "espalier/Polyhedral/Set.h"

namespace espalier::polyhedral {

/// A point of a statement, in a question about one or two of them.
struct PointUse {
  unsigned statement;
  /// What is asked of it, over the statement's dimensions, the parameters and
  /// its values: the subscripts of an access, say.
  llvm::ArrayRef<mlir::AffineExpr> exprs;
  /// It runs, and so satisfies the statement's `where`.
  bool runs = true;
};

/// A union of convex sets; of each, the constraints `expr` >= 0, over the
/// dimensions of the points, one after the other, then those of the values.
using ValueCases = llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>;

/// The values that one or two points read, as far as a question depends on them
/// or they decide whether the points run.
class ReadValues {
public:
  ReadValues(const Context &context, const Program &program,
             llvm::ArrayRef<PointUse> points);

  /// The number of dimensions for values.
  unsigned size() const { return values.size(); }
  /// Dimensions of the points and the values.
  unsigned getNumDims() const { return numPointDims + size(); }
  /// `expr`, over the dimensions of point `point`, over all dimensions. Values
  /// that are not known, as a statement writes them, stay symbols.
  mlir::AffineExpr get(mlir::AffineExpr expr, unsigned point) const;
  mlir::AffineMap get(mlir::AffineMap map, unsigned point) const;
  /// Which of its statement's reads finds value `number`.
  unsigned getRead(unsigned number) const { return values[number].read; }

  /// Sets whose union holds the points and what they read: equal subscripts
  /// find equal values, ordered ones ordered values where the array says so,
  /// and statements on data hold. At least one; without constraints, if nothing
  /// is known.
  ValueCases getCases() const;
  /// Those as sets that have the same dimensions; with more constraints, all of
  /// which hold. What is not affine is left out.
  Set getSet(llvm::ArrayRef<mlir::AffineExpr> more = {}) const;

  /// In a question about one point: from that, with its values, to points of
  /// statement `other` that run because it does: they have the same conditions,
  /// on values that are read at the same subscripts. Some may be missing, and
  /// some are outside of the statement's domain.
  Map getImplied(unsigned other) const;

  /// In a question about one point: functions from its dimensions to points of
  /// statement `other` that run because it does, on the values that it reads,
  /// and for which `there`, of `other`, is at the element that `here` is at.
  /// Some may be missing.
  llvm::SmallVector<mlir::AffineMap> findSources(unsigned other,
                                                 mlir::AffineMap there,
                                                 mlir::AffineMap here) const;

  /// The subscripts of value `number`.
  llvm::ArrayRef<mlir::AffineExpr> getIndices(unsigned number) const {
    return values[number].indices;
  }
  unsigned getArray(unsigned number) const { return values[number].array; }

private:
  struct Value {
    unsigned point;
    unsigned read; ///< Of its statement.
    unsigned array;
    llvm::SmallVector<mlir::AffineExpr, 2> indices; ///< Over all dimensions.
  };
  /// Two values of one array whose subscripts differ by an expression plus a
  /// constant: that of the second minus that of the first.
  struct Order {
    unsigned first, second;
    int64_t constant;
  };
  using Constraints = llvm::SmallVector<mlir::AffineExpr>;

  const Statement &getStatement(unsigned point) const {
    return program.statements[points[point].statement];
  }
  mlir::AffineExpr getDim(unsigned number) const {
    return mlir::getAffineDimExpr(numPointDims + number, program.context);
  }
  mlir::AffineExpr simplify(mlir::AffineExpr expr) const {
    return mlir::simplifyAffineExpr(expr, getNumDims(), program.numParams);
  }
  bool isAffine(mlir::AffineExpr expr) const;
  /// Adds those of the reads on which `expr` depends.
  void collect(mlir::AffineExpr expr, unsigned point);
  /// Adds the bounds of values, and what `where` says of a point.
  void addConditions(unsigned point, Constraints &constraints) const;

  // Order of values.

  ValueCases orderByIndex(llvm::ArrayRef<Order> orders,
                          mlir::AffineExpr rest) const;
  ValueCases orderByIndices(unsigned first, unsigned second) const;
  ValueCases orderByValue(unsigned first, unsigned second) const;
  void addCase(mlir::AffineExpr rest, llvm::ArrayRef<Order> orders,
               std::optional<int64_t> low, std::optional<int64_t> high,
               ValueCases &cases) const;
  void addOrder(unsigned first, unsigned second, int order,
                Constraints &constraints) const;
  void addOrders(ValueCases &cases) const;

  // What else runs.

  /// Adds the points of `other` at which its reads from `read` on find values
  /// of this point, as one of `sets`; `found` are those of the reads before.
  void addImplied(const Statement &other, unsigned read,
                  llvm::SmallVector<mlir::AffineExpr> &found, Constraints equal,
                  llvm::SmallVectorImpl<mlir::IntegerSet> &sets) const;

  // Statements on data.

  /// What makes a point run, each `expr` >= 0 over all dimensions: all of
  /// `always`, and all of one of `domains`.
  struct Premises {
    unsigned point;
    Constraints always;
    llvm::SmallVector<Constraints> domains;
  };
  Premises getPremises(unsigned point) const;
  /// Adds what the program's statements say at a point.
  void addGivens(unsigned point, Constraints &constraints) const;
  /// Values of a statement's dimensions, null for any.
  using Binding = llvm::SmallVector<mlir::AffineExpr>;
  /// How reads of the statement may be those of a point, each way once.
  std::vector<Binding> match(const Given &given, unsigned point) const;
  /// What symbols of the statement stand for at a point: parameters, then the
  /// values that the point reads, too; one more symbol for others.
  llvm::SmallVector<mlir::AffineExpr>
  getSymbols(const Given &given, unsigned point, const Binding &dims) const;
  /// Whether a point satisfies the statement's premise with these values of
  /// its dimensions and symbols.
  bool satisfies(const Given &given, const Premises &premises,
                 const Binding &dims,
                 llvm::ArrayRef<mlir::AffineExpr> symbols) const;
  /// Adds what the statement says with these values of its dimensions, if the
  /// point satisfies its premise.
  void addInstance(const Given &given, const Premises &premises,
                   const Binding &dims, Constraints &constraints) const;
  /// Whether `expr` >= 0 wherever the point runs.
  bool follows(mlir::AffineExpr expr, const Premises &premises) const;

  const Context &context;
  const Program &program;
  llvm::SmallVector<PointUse, 2> points;
  unsigned numPointDims = 0;
  llvm::SmallVector<Value> values;
};

/// Pairs of points of two statements that run and for which the two maps, from
/// the dimensions and values of each, agree. Null if it takes too long.
Map getMeetings(const Context &context, const Program &program, unsigned source,
                mlir::AffineMap sourceMap, unsigned sink,
                mlir::AffineMap sinkMap);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_READVALUES_H
