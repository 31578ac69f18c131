//===- GraphBase.td - What all graph operators share -------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHBASE_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHBASE_TD

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "espalier/Dialect/Graph/IR/GraphInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::espalier::graph";
  let summary = "operators on tensors";
  let description = [{
    Operators on ranked tensors, without side effects and without control flow,
    so that substitutions may reorder, merge and delete them. Extents may be
    unknown (`?`).

    What an operator means is its `definition`: equations in the index notation
    of `espalier/Definition/Notation.h`, or the same object built in C++. Result
    types, reified result shapes, cost, the reference interpreter and the
    lowering to `poly` all come from it.

    An operation with one result may have an attribute `graph.layout`, a
    permutation of the result's dimensions: the order in memory that kernels are
    to store it in, outermost dimension first. It changes no value. What is
    reshaped or returned is stored in rows all the same.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"
  ];
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let extraClassDeclaration = [{
    static constexpr ::llvm::StringLiteral getLayoutAttrName() {
      return "graph.layout";
    }
  }];
}

//===----------------------------------------------------------------------===//
// Types of operands
//===----------------------------------------------------------------------===//

defvar Graph_Floats = [F16, BF16, F32, F64];
defvar Graph_Integers = [I8, I16, I32, I64, UI8, UI16, UI32, UI64];

def Graph_FloatTensor : RankedTensorOf<Graph_Floats>;
def Graph_IndexTensor : RankedTensorOf<[I32, I64]>;
def Graph_BoolTensor : RankedTensorOf<[I1]>;
def Graph_IntegerTensor : RankedTensorOf<!listconcat([I1], Graph_Integers)>;
def Graph_NumberTensor : RankedTensorOf<!listconcat(Graph_Floats, Graph_Integers)>;
def Graph_Tensor : RankedTensorOf<!listconcat([I1], Graph_Floats, Graph_Integers)>;

/// The body is computed often, see RepeatsBody.h.
def Graph_RepeatsBody : NativeOpTrait<"RepeatsBody"> {
  let cppNamespace = "::espalier::graph::OpTrait";
}

//===----------------------------------------------------------------------===//
// Base class
//===----------------------------------------------------------------------===//

/// An operator with a definition. It is given in the index notation by
/// `definition`; where that is empty, the C++ method `define` builds it.
class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic,
         !listconcat([Pure, DeclareOpInterfaceMethods<DefinedOpInterface>,
                      DeclareOpInterfaceMethods<InferTypeOpInterface>,
                      DeclareOpInterfaceMethods<
                          ReifyRankedShapedTypeOpInterface,
                          ["reifyResultShapes"]>],
                     traits)> {
  string definition = "";

  let assemblyFormat = [{
    operands attr-dict `:` functional-type(operands, results)
  }];

  // The names of the operands, for definitions and diagnostics.
  list<string> operandNames =
      !foldl([]<string>, !range(!size(arguments)), names, i,
             !if(!isa<TypeConstraint>(!getdagarg<Constraint>(arguments, i)),
                 !listconcat(names, [!getdagname(arguments, i)]), names));
  // How many of them are not a single value.
  int numVariadic =
      !foldl(0, !range(!size(arguments)), count, i,
             !if(!isa<Variadic>(!getdagarg<Constraint>(arguments, i)),
                 !add(count, 1), count));

  let extraClassDeclaration = [{
    /// Builds the definition from operands and attributes; tells `error` why it
    /// cannot.
    static ::mlir::FailureOr<::espalier::definition::Definition>
    define(Adaptor adaptor, ::espalier::graph::DefinitionError error);

    /// Unknown extents are compatible with known ones.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                        ::mlir::TypeRange actual);

    /// The names of the operands.
    static ::llvm::ArrayRef<::llvm::StringRef> getOperandNames() {
      static const ::llvm::StringRef names[] = {"}] #
      !interleave(operandNames, "\", \"") # [{", ""};
      return ::llvm::ArrayRef(names).drop_back(}] #
      !if(!empty(operandNames), "2", "1") # [{);
    }
    static constexpr unsigned numVariadicOperands = }] # numVariadic # [{;
  }];

  let extraClassDefinition = !if(!empty(definition), "", [{
    ::mlir::FailureOr<::espalier::definition::Definition>
    $cppClass::define(Adaptor adaptor,
                      ::espalier::graph::DefinitionError error) {
      return ::espalier::graph::detail::defineFromText<$cppClass>(
          R"definition(}] # definition # [{)definition", adaptor, error);
    }
  }]) # [{
    ::mlir::FailureOr<::espalier::definition::Definition>
    $cppClass::getDefinition(::espalier::graph::DefinitionError error) {
      return define(Adaptor(*this), error);
    }
    ::mlir::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context,
        ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return ::espalier::graph::detail::inferReturnTypes<$cppClass>(
          context, location, Adaptor(operands, attributes, properties, regions),
          inferred);
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred,
                                            ::mlir::TypeRange actual) {
      return ::espalier::graph::detail::areCompatible(inferred, actual);
    }
    ::mlir::LogicalResult $cppClass::reifyResultShapes(
        ::mlir::OpBuilder &builder,
        ::mlir::ReifiedRankedShapedTypeDims &shapes) {
      return ::espalier::graph::detail::reifyResultShapes(*this, builder,
                                                          shapes);
    }
  }];
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHBASE_TD
