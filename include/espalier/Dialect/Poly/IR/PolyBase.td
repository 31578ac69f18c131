//===- PolyBase.td - The poly dialect ----------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_POLYBASE_TD
#define ESPALIER_DIALECT_POLY_IR_POLYBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

def Poly_Dialect : Dialect {
  let name = "poly";
  let cppNamespace = "::espalier::poly";
  let summary = "computations over integer sets, and their schedules";
  let description = [{
    A kernel is a list of computations, each with an integer domain, accesses to
    memory and a scalar body, and a schedule tree that says in which order their
    points run. The computations say what is computed and never change; the
    schedule is edited freely, and checked against exact dependences.

    Distinct memrefs of one kernel denote disjoint memory.
  }];
  let dependentDialects = ["::mlir::memref::MemRefDialect"];
  let useDefaultAttributePrinterParser = 1;
  let extraClassDeclaration = [{
    /// What `find` answers to a question that costs more than to keep the
    /// answer. A question is its text; the answer depends on nothing else.
    ::std::string ask(::llvm::StringRef question,
                      ::llvm::function_ref<::std::string()> find);

  private:
    ::std::mutex mutex;
    ::llvm::StringMap<::std::string> answers;

  public:
  }];
}

class Poly_Op<string mnemonic, list<Trait> traits = []>
    : Op<Poly_Dialect, mnemonic, traits>;

/// What is said at each point of a domain.
class Poly_PointsOp<string mnemonic, list<Trait> traits = []>
    : Poly_Op<mnemonic, !listconcat([HasParent<"KernelOp">, Symbol], traits)> {
  code pointsDeclaration = [{
    KernelOp getKernel();
    /// Dimensions of the domain.
    unsigned getNumDims();
    /// The name of a dimension; `d0`, `d1` and so on if they have none.
    ::mlir::StringAttr getDimName(unsigned dim);
    ::llvm::SmallVector<::mlir::IntegerSet> getDomainSets();
  }];
  let extraClassDefinition = [{
    KernelOp $cppClass::getKernel() {
      return ::llvm::cast<KernelOp>(getOperation()->getParentOp());
    }
    unsigned $cppClass::getNumDims() {
      return getDomainSets().front().getNumDims();
    }
    ::mlir::StringAttr $cppClass::getDimName(unsigned dim) {
      if (::std::optional<::mlir::ArrayAttr> dims = getDims())
        return ::llvm::cast<::mlir::StringAttr>((*dims)[dim]);
      return ::mlir::StringAttr::get(getContext(), "d" + ::llvm::Twine(dim));
    }
    ::llvm::SmallVector<::mlir::IntegerSet> $cppClass::getDomainSets() {
      return ::llvm::map_to_vector(
          getDomain().getAsRange<::mlir::IntegerSetAttr>(),
          [](::mlir::IntegerSetAttr set) { return set.getValue(); });
    }
  }];
}

#endif // ESPALIER_DIALECT_POLY_IR_POLYBASE_TD
