//===- PolyToLoops.cpp - Code for scheduled kernels -----------------------===//

#include "ConstantData.h"
#include "KernelLoops.h"
#include "ProgramData.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "espalier/Polyhedral/Storage.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Threading.h"
#include "llvm/Support/DebugLog.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTPOLYTOLOOPSPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

#define DEBUG_TYPE "convert-poly-to-loops"

using namespace mlir;
using namespace espalier;

namespace {

struct ConvertPolyToLoopsPass
    : espalier::impl::ConvertPolyToLoopsPassBase<ConvertPolyToLoopsPass> {
  /// What a kernel's loops are made of.
  struct Scanned {
    polyhedral::Ast ast;
    polytoloops::PrivateLoops privateLoops;
  };

  /// Whether a CPU has all kinds of loops and memory spaces of a kernel.
  static LogicalResult checkTarget(poly::KernelOp kernel) {
    for (poly::ArrayOp array : kernel.getArrays())
      if (!isa<poly::PlacementAttr>(array.getPlacement()))
        return array.emitOpError("expects heap, stack or register memory, for "
                                 "code for a CPU, but got ")
               << array.getPlacement();
    poly::ScheduleOp schedule = kernel.getSchedule();
    WalkResult found = schedule ? schedule.walk([](poly::BandOp band) {
      for (poly::LoopKindAttrInterface kind : band.getLoopKinds())
        if (!isa<poly::LoopAttr>(kind)) {
          band.emitOpError("expects sequential, parallel, vector or unrolled "
                           "loops, for code for a CPU, but got ")
              << kind;
          return WalkResult::interrupt();
        }
      return WalkResult::advance();
    })
                                : WalkResult::advance();
    return failure(found.wasInterrupted());
  }

  static LogicalResult scan(poly::KernelOp kernel, Scanned &result) {
    if (failed(checkTarget(kernel)))
      return failure();
    poly::KernelModel model = poly::buildModel(kernel);
    polyhedral::ScheduleTree tree =
        poly::buildScheduleTree(model, kernel.getSchedule());
    auto ast = polyhedral::scanSchedule(model.program, tree.get());
    if (!ast) {
      std::string reason = llvm::toString(ast.takeError());
      for (poly::ComputeOp compute : kernel.getComputes())
        if (std::string fault = poly::checkDomain(compute, /*notEmpty=*/false);
            !fault.empty())
          return compute.emitOpError("expects ") << fault;
      return kernel.emitOpError("expects loops that scan it, but ") << reason;
    }
    auto loops = polyhedral::findPrivateLoops(model.program, tree.get());
    if (!loops)
      return kernel.emitError(llvm::toString(loops.takeError()));
    for (auto [storage, set] : llvm::zip_equal(model.program.storages, *loops))
      result.privateLoops[model.arrays[storage.array]] = set;
    result.ast = std::move(*ast);
    polytoloops::separateFullVectors(result.ast);
    return success();
  }

  /// Whether what `call`'s kernel relies on is checked: by the program, which
  /// sees to its own arguments, or here, where an operand is constant.
  static LogicalResult checkCall(poly::CallOp call) {
    auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
        call, call.getCalleeAttr());
    auto checked =
        call->getAttrOfType<DenseI64ArrayAttr>(polytoloops::kCheckedAttr);
    for (unsigned number = 0; number < call.getArguments().size(); ++number) {
      if (polytoloops::isConstantData(call.getArguments()[number])) {
        if (failed(polytoloops::evaluateProperties(call, kernel, number)))
          return failure();
        continue;
      }
      if (kernel.hasKnownValues(number) &&
          !polytoloops::isCheckedOfCallers(call, kernel, number) &&
          !(checked && llvm::is_contained(checked.asArrayRef(), number)))
        return call.emitOpError("expects an argument of the program whose "
                                "values are checked as operand #")
               << number << ", on whose values @" << kernel.getSymName()
               << " relies";
    }
    return success();
  }

  /// Moves arrays from registers to memory; false if there are none, or none
  /// that have a constant size.
  static bool leaveRegisters(poly::KernelOp kernel) {
    SmallVector<poly::ArrayOp> arrays =
        llvm::filter_to_vector(kernel.getArrays(), [](poly::ArrayOp array) {
          return array.isIn(poly::Placement::Register);
        });
    for (poly::ArrayOp array : arrays) {
      if (!array.getMemoryType().hasStaticShape())
        return false;
      array.setPlacementAttr(array.getPlacement().getFallback());
    }
    return !arrays.empty();
  }

  /// Emits the loops of a kernel. Where code cannot tell which element of an
  /// array in registers is meant, they are kept in memory.
  static LogicalResult emit(poly::KernelOp kernel, const Scanned &loops,
                            OpBuilder &builder) {
    std::vector<Diagnostic> errors;
    {
      ScopedDiagnosticHandler handler(
          kernel.getContext(), [&](Diagnostic &diagnostic) {
            if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
              return failure();
            errors.push_back(std::move(diagnostic));
            return success();
          });
      polytoloops::KernelLoops emitter(kernel, loops.privateLoops, builder);
      if (succeeded(emitter.emit(*loops.ast)))
        return success();
      emitter.getFunction().erase();
    }
    if (!leaveRegisters(kernel)) {
      for (Diagnostic &error : errors)
        kernel.getContext()->getDiagEngine().emit(std::move(error));
      return failure();
    }
    remark::missed(
        kernel.getLoc(),
        remark::RemarkOpts::name("KeptInMemory").category(DEBUG_TYPE))
        << errors.front().str();
    Scanned other;
    if (failed(scan(kernel, other)))
      return failure();
    return polytoloops::KernelLoops(kernel, other.privateLoops, builder)
        .emit(*other.ast);
  }

  void runOnOperation() override {
    ModuleOp module = getOperation();
    module->removeAttr(poly::kStageAttr);
    OpBuilder builder(&getContext());
    WalkResult checked = module.walk([](poly::CallOp call) {
      return failed(checkCall(call)) ? WalkResult::interrupt()
                                     : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    auto kernels = llvm::to_vector(module.getOps<poly::KernelOp>());
    // Scanning takes most of the time and changes nothing.
    std::vector<Scanned> scanned(kernels.size());
    if (failed(failableParallelForEachN(
            &getContext(), 0, kernels.size(), [&](size_t number) {
              return scan(kernels[number], scanned[number]);
            })))
      return signalPassFailure();
    for (auto [kernel, loops] : llvm::zip_equal(kernels, scanned)) {
      if (failed(emit(kernel, loops, builder)))
        return signalPassFailure();
      kernel.erase();
    }
    module.walk([&](poly::CallOp call) {
      builder.setInsertionPoint(call);
      func::CallOp::create(builder, call.getLoc(), call.getCallee(),
                           TypeRange(), call.getArguments());
      call.erase();
    });
  }
};

} // namespace
