//===- PrintLoops.cpp - The loops of a schedule as text -------------------===//

#include "LoopTags.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

llvm::Expected<polyhedral::Ast>
espalier::poly::scanWithNames(KernelOp kernel, const KernelModel &model) {
  BandNodes nodes;
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule(), &nodes);
  for (auto [op, node] : nodes) {
    auto band = cast<BandOp>(op);
    if (!band.getNames())
      continue;
    for (auto [member, kind, name] :
         llvm::zip(node->members, band.getLoops(), *band.getNames()))
      member.tag = ArrayAttr::get(band.getContext(), {kind, name});
  }
  return polyhedral::scanSchedule(model.program, tree.get());
}

std::pair<std::string, std::string>
espalier::poly::describeLoop(Attribute tag) {
  std::pair<std::string, std::string> text;
  auto pair = cast<ArrayAttr>(tag);
  text.first = cast<StringAttr>(pair[1]).str();
  auto kind = cast<LoopKindAttrInterface>(pair[0]);
  if (auto own = dyn_cast<LoopAttr>(kind); !own || !own.isSequential())
    text.second = toText(kind);
  return text;
}

llvm::Expected<std::string>
espalier::poly::printLoops(KernelOp kernel, ArrayRef<std::string> parameters) {
  KernelModel model = buildModel(kernel);
  llvm::Expected<polyhedral::Ast> ast = scanWithNames(kernel, model);
  if (!ast) {
    for (ComputeOp compute : kernel.getComputes())
      if (std::string fault = checkDomain(compute, /*notEmpty=*/false);
          !fault.empty()) {
        llvm::consumeError(ast.takeError());
        return llvm::createStringError("expects " + fault);
      }
    return ast.takeError();
  }
  polyhedral::AstNames names;
  names.parameters.assign(parameters.begin(), parameters.end());
  names.loop = [](Attribute tag) { return describeLoop(tag); };
  std::string text;
  llvm::raw_string_ostream os(text);
  polyhedral::print(model.program, **ast, os, names);
  return text;
}
