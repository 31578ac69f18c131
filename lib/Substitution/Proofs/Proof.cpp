//===- Proof.cpp - What a proof consists of, as text ----------------------===//

#include "Proof.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Normal forms
//===----------------------------------------------------------------------===//

/// n0, n1.. for sizes and i0, i1.. for indices.
static std::string getName(Var var) {
  bool isSize = var < kFirstIndex;
  return (isSize ? "n" : "i") + llvm::utostr(isSize ? var : var - kFirstIndex);
}

namespace {
/// Prints sums in the index notation.
class FormPrinter {
public:
  FormPrinter(const Instances &instances, llvm::raw_ostream &os)
      : instances(instances), os(os) {}

  void print(const Sum &sum) {
    if (sum.empty())
      os << '0';
    llvm::interleave(sum, os, [&](const Term &term) { print(term); }, " + ");
  }

private:
  void print(const Linear &linear) {
    bool isFirst = true;
    for (auto [var, coefficient] : linear.getTerms()) {
      os << (isFirst ? "" : " + ");
      if (coefficient != 1)
        os << coefficient << ' ';
      os << getName(var);
      isFirst = false;
    }
    if (linear.getConstant() != 0 || isFirst)
      os << (isFirst ? "" : " + ") << linear.getConstant();
  }

  void printDomain(llvm::ArrayRef<Var> bound, const Constraints &constraints) {
    os << '(';
    llvm::interleave(bound, os, [&](Var var) { os << getName(var); }, ", ");
    os << " | ";
    llvm::interleave(
        constraints, os,
        [&](const Constraint &constraint) {
          print(constraint.expr);
          os << (constraint.isEquality ? " == 0" : " >= 0");
        },
        " and ");
    os << ") ";
  }

  void print(const Atom &atom) {
    switch (atom.kind) {
    case Atom::Kind::Read:
      os << instances.list[atom.leaf].name << '[';
      llvm::interleave(
          atom.indices, os, [&](const Linear &index) { print(index); }, ", ");
      os << ']';
      return;
    case Atom::Kind::Relu:
      os << "relu(";
      break;
    case Atom::Kind::Function:
      os << espalier::definition::getName(atom.fn) << '(';
      break;
    case Atom::Kind::Max:
      os << "max";
      printDomain(atom.bound, atom.constraints);
      os << '(';
      break;
    }
    llvm::interleave(atom.args, os, [&](const Sum &arg) { print(arg); }, ", ");
    os << ')';
  }

  void print(const Term &term) {
    os << term.coefficient.numerator;
    if (term.coefficient.denominator != 1)
      os << '/' << term.coefficient.denominator;
    if (!term.bound.empty() || !term.constraints.empty()) {
      os << " sum";
      printDomain(term.bound, term.constraints);
    }
    for (const Atom &atom : term.factors) {
      os << ' ';
      print(atom);
    }
    for (const Base &base : term.bases) {
      os << " where " << getName(base.var) << " = floor((";
      print(base.argument);
      os << ") / (";
      print(base.size);
      os << ")) * (";
      print(base.scale);
      os << ')';
    }
  }

  const Instances &instances;
  llvm::raw_ostream &os;
};
} // namespace

void Proof::accept() {
  accepted.forms += current.forms;
  llvm::append_range(accepted.questions, current.questions);
  llvm::append_range(accepted.claims, current.claims);
  current = Part();
}

void Proof::addZero(const Sum &sum, const Instances &instances) {
  llvm::raw_string_ostream os(current.forms);
  os << "; 0 = ";
  FormPrinter(instances, os).print(sum);
  os << '\n';
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

static void printNumber(int64_t value, llvm::raw_ostream &os) {
  if (value < 0)
    os << "(- " << -value << ')';
  else
    os << value;
}

static void printConstraint(const Constraint &constraint,
                            llvm::raw_ostream &os) {
  os << '(' << (constraint.isEquality ? "=" : "<=") << " 0 (+ ";
  printNumber(constraint.expr.getConstant(), os);
  for (auto [var, coefficient] : constraint.expr.getTerms()) {
    os << " (* ";
    printNumber(coefficient, os);
    os << ' ' << getName(var) << ')';
  }
  os << "))";
}

void Proof::addQuestion(llvm::ArrayRef<Constraint> constraints) {
  addCovered(constraints, {});
}

void Proof::addCovered(llvm::ArrayRef<Constraint> constraints,
                       llvm::ArrayRef<Points> pieces) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::SmallVector<Constraint, 16> all(constraints);
  llvm::SmallVector<Var> bound;
  for (const Points &piece : pieces) {
    llvm::append_range(all, piece.constraints);
    llvm::append_range(bound, piece.bound);
  }
  for (Var var : getVars(all))
    if (!llvm::is_contained(bound, var))
      os << "(declare-const " << getName(var) << " Int)\n";
  for (const Constraint &constraint : constraints) {
    os << "(assert ";
    printConstraint(constraint, os);
    os << ")\n";
  }
  for (const Points &piece : pieces) {
    os << "(assert (not ";
    if (!piece.bound.empty()) {
      os << "(exists (";
      for (Var var : piece.bound)
        os << '(' << getName(var) << " Int)";
      os << ") ";
    }
    os << "(and true";
    for (const Constraint &constraint : piece.constraints) {
      os << ' ';
      printConstraint(constraint, os);
    }
    os << ')' << (piece.bound.empty() ? "" : ")") << "))\n";
  }
  current.questions.push_back(std::move(text));
}

void Proof::addReals(llvm::StringRef question) {
  current.questions.push_back(question.str());
}

std::string Proof::str(const Rule &rule, llvm::StringRef verdict) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  std::string block;
  llvm::raw_string_ostream blockStream(block);
  print(rule, blockStream);
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(block).rtrim().split(lines, '\n');
  os << "; espalier proof 1\n";
  for (llvm::StringRef line : lines)
    os << "; " << line << '\n';
  os << "; " << verdict << "\n;\n"
     << "; What was shown to be zero, in each case and for each output:\n"
     << accepted.forms
     << ";\n; What relies on numbers; every answer must be unsat:\n";
  llvm::StringSet<> known;
  for (const std::string &question : accepted.questions)
    if (known.insert(question).second)
      os << "(push 1)\n" << question << "(check-sat)\n(pop 1)\n";
  os << ";\n; That dst has a meaning, and outputs of equal shapes, wherever "
        "src "
        "has a meaning\n; and the condition holds:\n";
  for (const std::string &claim : accepted.claims)
    if (known.insert(claim).second)
      os << "(push 1)\n" << claim << "(pop 1)\n";
  return text;
}
