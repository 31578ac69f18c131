//===- Extents.cpp - Unknown extents as variables -------------------------===//

#include "Extents.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::substitution;

/// Names of the extents of a function's argument, empty where there is none.
static constexpr llvm::StringLiteral kDimsAttr = "espalier.dims";

static StringRef getName(Value value, unsigned dim) {
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast_or_null<FunctionOpInterface>(
                                 argument.getOwner()->getParentOp())
                           : FunctionOpInterface();
  if (!function || !argument.getOwner()->isEntryBlock())
    return "";
  auto names =
      function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimsAttr);
  if (!names || dim >= names.size())
    return "";
  auto name = dyn_cast<StringAttr>(names[dim]);
  return name ? name.getValue() : "";
}

Linear ExtentTable::add(ExtentInfo info) {
  infos.push_back(std::move(info));
  return Linear::var(infos.size() - 1);
}

Linear ExtentTable::getEntry(Value value, unsigned dim) {
  StringRef name = getName(value, dim);
  for (auto [var, info] : llvm::enumerate(infos))
    if (info.isEntry() &&
        ((info.value == value && info.dim == dim) ||
         (!name.empty() && getName(info.value, info.dim) == name)))
      return Linear::var(var);
  ExtentInfo info;
  info.value = value;
  info.dim = dim;
  return add(std::move(info));
}

Linear ExtentTable::getQuotient(const Linear &dividend, int64_t divisor) {
  if (divisor == 1)
    return dividend;
  if (std::optional<int64_t> value = dividend.getValue())
    return Linear(llvm::divideFloorSigned(*value, divisor));
  for (auto [var, info] : llvm::enumerate(infos))
    if (info.divisor == divisor && info.dividend == dividend)
      return Linear::var(var);
  ExtentInfo info;
  info.dividend = dividend;
  info.divisor = divisor;
  return add(std::move(info));
}

Linear ExtentTable::makeUnknown() { return add(ExtentInfo()); }

//===----------------------------------------------------------------------===//
// Overflow
//===----------------------------------------------------------------------===//

/// What absolute values cannot exceed, those of all partial sums too; nothing
/// if it is not known, or more than the half of what fits.
std::optional<int64_t> ExtentTable::getMagnitude(const Linear &form) const {
  if (form.isPoisoned() ||
      form.getConstant() == std::numeric_limits<int64_t>::min())
    return std::nullopt;
  int64_t sum = std::abs(form.getConstant());
  for (auto [var, coefficient] : form.getTerms()) {
    const ExtentInfo &info = infos[var];
    std::optional<int64_t> magnitude;
    if (info.isEntry())
      magnitude = kMaxExtent;
    else if (info.isQuotient())
      magnitude = getMagnitude(info.dividend);
    int64_t product;
    if (!magnitude || coefficient == std::numeric_limits<int64_t>::min() ||
        llvm::MulOverflow(std::abs(coefficient), *magnitude, product) ||
        llvm::AddOverflow(sum, product, sum))
      return std::nullopt;
  }
  if (sum > std::numeric_limits<int64_t>::max() / 2)
    return std::nullopt;
  return sum;
}

bool ExtentTable::isComputable(const Linear &form) const {
  return getMagnitude(form).has_value();
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints the terms that have this sign, without it.
void ExtentTable::printTerms(const Linear &form, int64_t sign,
                             llvm::raw_ostream &os) const {
  bool isFirst = true;
  auto separate = [&] {
    os << (isFirst ? "" : " + ");
    isFirst = false;
  };
  for (auto [var, coefficient] : form.getTerms()) {
    if ((coefficient < 0) != (sign < 0))
      continue;
    separate();
    if (sign * coefficient != 1)
      os << sign * coefficient << " * ";
    const ExtentInfo &info = infos[var];
    if (info.isQuotient()) {
      bool isVar = info.dividend.getVar().has_value();
      os << (isVar ? "floor(" : "floor((");
      print(info.dividend, os);
      os << (isVar ? " / " : ") / ") << info.divisor << ')';
    } else if (auto argument = dyn_cast_or_null<BlockArgument>(info.value)) {
      os << "dim(#" << argument.getArgNumber() << ", " << info.dim << ')';
    } else {
      os << '?';
    }
  }
  int64_t constant = sign * form.getConstant();
  if (constant > 0 || isFirst) {
    separate();
    os << std::max<int64_t>(constant, 0);
  }
}

void ExtentTable::print(const Linear &form, llvm::raw_ostream &os) const {
  printTerms(form, 1, os);
  auto isNegative = [](auto term) { return term.second < 0; };
  unsigned numNegative = llvm::count_if(form.getTerms(), isNegative) +
                         (form.getConstant() < 0 ? 1 : 0);
  if (numNegative == 0)
    return;
  os << (numNegative == 1 ? " - " : " - (");
  printTerms(form, -1, os);
  os << (numNegative == 1 ? "" : ")");
}

void ExtentTable::print(const Constraint &constraint,
                        llvm::raw_ostream &os) const {
  printTerms(constraint.expr, 1, os);
  os << (constraint.isEquality ? " == " : " >= ");
  printTerms(constraint.expr, -1, os);
}

std::string espalier::substitution::toString(const Clause &clause,
                                             const ExtentTable &extents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      clause, os,
      [&](const Constraints &alternative) {
        llvm::interleave(
            alternative, os,
            [&](const Constraint &constraint) {
              extents.print(constraint, os);
            },
            " and ");
      },
      " or ");
  return text;
}
