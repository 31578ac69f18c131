//===- OtherTargetTest.cpp - Loops and memories of another target ---------===//
//
// Its loops and memories are in legality, commands and text what our own are.
//
//===----------------------------------------------------------------------===//

#include "OtherTarget.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/Transforms/Passes.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/ScopedPrinter.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {

constexpr const char *kMaps = R"(
  #points = affine_set<(i, j) : (i >= 0, 511 - i >= 0, j >= 0, 63 - j >= 0)>
  #row = affine_map<(i, j) -> (i)>
  #place = affine_map<(i, j) -> (j)>
  #id = affine_map<(i, j) -> (i, j)>
  #turned = affine_map<(i, j) -> (i, 63 - j)>
)";

/// Copies rows to an array, of which one is alive at a time, and reads them
/// from their ends.
constexpr const char *kKernel = R"(
  poly.kernel @rows(%in: memref<512x64xf32>, %out: memref<512x64xf32>) {
    %row = poly.array SPACE : memref<512x64xf32>
        storage #place as memref<64xf32>
    poly.compute @load domain [#points] reads(%in[#id] : memref<512x64xf32>)
        writes(%row[#id] : memref<512x64xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.compute @turn domain [#points]
        reads(%row[#turned] : memref<512x64xf32>)
        writes(%out[#id] : memref<512x64xf32>) {
    ^bb0(%x: f32):
      poly.yield %x : f32
    }
    poly.schedule {
      poly.band [@load, @turn] maps [#row, #row] loops [ROWS] names ["i"] {
        poly.sequence {
          poly.filter [@load] {
            poly.band [@load] maps [#place] loops [ELEMENTS] names ["j"]
          }
          poly.filter [@turn] {
            poly.band [@turn] maps [#place] loops [ELEMENTS] names ["j"]
          }
        }
      }
    }
  }
)";

constexpr StringLiteral kBlock = "<#gpu.block<x>>",
                        kThread = "<#gpu.thread<x>>",
                        kMemory = "<#gpu.address_space<workgroup>>";

std::string makeKernel(StringRef rows, StringRef elements,
                       StringRef space = kMemory) {
  std::string text = kKernel;
  for (auto [word, value] : {std::pair("SPACE", space), std::pair("ROWS", rows),
                             std::pair("ELEMENTS", elements)})
    for (size_t at; (at = text.find(word)) != std::string::npos;)
      text.replace(at, strlen(word), value.str());
  return kMaps + text;
}

class OtherTargetTest : public ::testing::Test {
protected:
  OtherTargetTest() : context(MLIRContext::Threading::DISABLED) {
    DialectRegistry registry;
    registry
        .insert<PolyDialect, gpu::GPUDialect, transform::TransformDialect>();
    registerTransformExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    attachOtherTarget(context);
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    OwningOpRef<ModuleOp> module;
    messages = collect([&] {
      module = parseSourceString<ModuleOp>(text, ParserConfig(&context));
    });
    return module;
  }

  /// The messages of the check of the schedule.
  std::string check(const std::string &text) {
    OwningOpRef<ModuleOp> module = parse(text);
    return messages + collect([&] {
             for (KernelOp kernel : module->getOps<KernelOp>())
               (void)verifySchedule(kernel);
           });
  }

  std::string run(ModuleOp module, std::unique_ptr<Pass> pass) {
    PassManager manager(&context);
    manager.addPass(std::move(pass));
    return collect([&] { (void)manager.run(module); });
  }

  /// The messages of what `action` does.
  std::string collect(llvm::function_ref<void()> action) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
      text += diagnostic.str() + "\n";
      return success();
    });
    action();
    return text;
  }

  MLIRContext context;
  std::string messages; ///< Of the last `parse`.
};

bool contains(StringRef text, StringRef part) { return text.contains(part); }

TEST_F(OtherTargetTest, KindsArePrintedAsTheyAre) {
  OwningOpRef<ModuleOp> module = parse(makeKernel(kBlock, kThread));
  ASSERT_TRUE(bool(module)) << messages;
  std::string printed = llvm::to_string(*module);
  EXPECT_PRED2(contains, printed, "loops [<#gpu.block<x>>] names [\"i\"]");
  EXPECT_PRED2(contains, printed,
               "poly.array <#gpu.address_space<workgroup>> :");
  OwningOpRef<ModuleOp> again = parse(printed);
  ASSERT_TRUE(bool(again)) << messages;
  EXPECT_EQ(llvm::to_string(*again), printed);
  auto loops = printLoops(*module->getOps<KernelOp>().begin(), {});
  ASSERT_TRUE(bool(loops)) << llvm::toString(loops.takeError());
  EXPECT_PRED2(contains, *loops, "#gpu.thread<x>");
}

TEST_F(OtherTargetTest, OtherAttributesAreRefused) {
  EXPECT_FALSE(bool(parse(makeKernel("<#gpu.warp<x>>", kThread))));
  EXPECT_PRED2(contains, messages,
               "expects sequential, parallel, vector(W) or unroll, or a kind "
               "of loop of another target, but got #gpu.warp<x>");
  EXPECT_FALSE(bool(parse(makeKernel(kBlock, kThread, "<#gpu.warp<x>>"))));
  EXPECT_PRED2(contains, messages,
               "expects heap, stack, register, or the memory space of another "
               "target, but got #gpu.warp<x>");
}

TEST_F(OtherTargetTest, LegalityAsksTheKind) {
  EXPECT_EQ(check(makeKernel(kBlock, kThread)), "");
  EXPECT_EQ(check(makeKernel("sequential", kThread)), "");
  // Each block has memory of its own: elements do not reach another.
  EXPECT_PRED2(contains, check(makeKernel("sequential", kBlock)),
               "but iterations of a parallel loop share "
               "#gpu.address_space<workgroup>, in @load");
  // Threads share a row, but only one at a time.
  EXPECT_PRED2(contains, check(makeKernel(kThread, kBlock)),
               "but iterations of a parallel loop share ");
  EXPECT_EQ(check(makeKernel(kThread, "sequential")), "");
}

TEST_F(OtherTargetTest, MemoryHasACapacity) {
  std::string text = makeKernel(kBlock, kThread);
  size_t at = text.find("storage #place as memref<64xf32>");
  EXPECT_FALSE(bool(parse(text.replace(at, 32, ""))));
  EXPECT_PRED2(contains, messages,
               "expects arrays in #gpu.address_space<workgroup>, and others "
               "that may be in the same place, to take at most 49152 bytes");
}

TEST_F(OtherTargetTest, CommandsTakeThem) {
  std::string script = R"(
    module attributes {transform.with_named_sequence} {
      transform.named_sequence @__transform_main(%root: !transform.any_op) {
        %load = transform.poly.computation @rows::@load of %root
            : (!transform.any_op) -> !transform.any_op
        COMMANDS
        transform.yield
      }
    })";
  auto apply = [&](StringRef commands, StringRef space = kMemory) {
    std::string text = script;
    text.replace(text.find("COMMANDS"), 8, commands.str());
    OwningOpRef<ModuleOp> module =
        parse(kMaps + text.insert(text.rfind('}'),
                                  makeKernel("sequential", "sequential", space)
                                      .substr(strlen(kMaps))));
    if (!module)
      return messages;
    std::string fault = run(*module, transform::createInterpreterPass());
    return fault.empty() ? llvm::to_string(*module) : fault;
  };
  std::string parallel = apply(R"(
    transform.poly.parallelize %load loop "j" as <#gpu.thread<x>>
        : !transform.any_op
    transform.poly.parallelize %load loop "i" as <#gpu.block<x>>
        : !transform.any_op
    transform.poly.split %load loop "j" factors [8] : !transform.any_op)");
  EXPECT_PRED2(contains, parallel, "loops [<#gpu.block<x>>]");
  // The threads are those of the outer part.
  EXPECT_PRED2(contains, parallel, "loops [<#gpu.thread<x>>, sequential]");
  EXPECT_PRED2(contains, apply(R"(transform.poly.parallelize %load loop "j"
                   as <#gpu.block<x>> : !transform.any_op)"),
               "share #gpu.address_space<workgroup>");
  EXPECT_PRED2(contains, apply(R"(transform.poly.parallelize %load loop "i"
                   as vector(8) : !transform.any_op)"),
               "expects a kind of parallel loop, but got vector(8)");
  std::string placed = apply(R"(
    %row = transform.poly.written_array of %load
        : (!transform.any_op) -> !transform.any_op
    transform.poly.place %row <#gpu.address_space<workgroup>>
        : !transform.any_op)",
                             "heap");
  EXPECT_PRED2(contains, placed,
               "poly.array <#gpu.address_space<workgroup>> :");
}

TEST_F(OtherTargetTest, CodeForACpuNamesWhatItHasNot) {
  OwningOpRef<ModuleOp> module =
      parse(makeKernel("parallel", kThread, "stack"));
  EXPECT_PRED2(contains, run(*module, createConvertPolyToLoopsPass()),
               "expects sequential, parallel, vector or unrolled loops, for "
               "code for a CPU, but got #gpu.thread<x>");
  module = parse(makeKernel("parallel", "sequential"));
  EXPECT_PRED2(contains, run(*module, createConvertPolyToLoopsPass()),
               "expects heap, stack or register memory, for code for a CPU, "
               "but got #gpu.address_space<workgroup>");
}

} // namespace
