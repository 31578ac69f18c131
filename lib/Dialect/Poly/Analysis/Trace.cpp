//===- Trace.cpp - What a kernel does for given sizes ---------------------===//

#include "espalier/Dialect/Poly/Analysis/Trace.h"
#include "LoopTags.h"
#include <map>

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;
using polyhedral::DependenceKind;

namespace {
using Point = std::pair<unsigned, std::vector<int64_t>>;

/// Follows the elements of arrays through the points in program order.
class DependenceTracer {
public:
  DependenceTracer(const polyhedral::Program &program,
                   ArrayRef<int64_t> parameters,
                   const std::map<Point, unsigned> &numbers,
                   std::vector<TracedDependence> &dependences)
      : program(program), parameters(parameters), numbers(numbers),
        dependences(dependences) {}

  void visit(const polyhedral::AstInstance &instance);

private:
  /// Who touched an element last.
  struct Element {
    std::optional<unsigned> writer;
    std::vector<unsigned> readers; ///< Since then.
  };

  Element *find(const polyhedral::Access &access, ArrayRef<int64_t> point);
  void add(DependenceKind kind, unsigned source, unsigned sink,
           bool isReduction);

  const polyhedral::Program &program;
  ArrayRef<int64_t> parameters;
  const std::map<Point, unsigned> &numbers;
  std::vector<TracedDependence> &dependences;
  std::map<std::pair<unsigned, std::vector<int64_t>>, Element> elements;
  llvm::DenseMap<unsigned, unsigned> statements;
};
} // namespace

/// The element that an access touches; null if that depends on data.
DependenceTracer::Element *
DependenceTracer::find(const polyhedral::Access &access,
                       ArrayRef<int64_t> point) {
  std::vector<int64_t> index;
  for (AffineExpr expr : access.map.getResults()) {
    bool isKnown = true;
    expr.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      isKnown &= !symbol || symbol.getPosition() < program.numParams;
    });
    if (!isKnown)
      return nullptr;
    index.push_back(polyhedral::evaluate(expr, point, parameters));
  }
  return &elements[{access.array, index}];
}

void DependenceTracer::add(DependenceKind kind, unsigned source, unsigned sink,
                           bool isReduction) {
  if (source != sink)
    dependences.push_back({kind, source, sink, isReduction});
}

void DependenceTracer::visit(const polyhedral::AstInstance &instance) {
  const polyhedral::Statement &statement =
      program.statements[instance.statement];
  std::vector<int64_t> point(instance.point.begin(), instance.point.end());
  unsigned number = numbers.at({instance.statement, point});
  statements[number] = instance.statement;
  auto isUpdate = [&](const polyhedral::Access &access, unsigned other) {
    auto isSame = [&](const polyhedral::Access &write) {
      return write.isSameElement(access);
    };
    return statement.isReduction &&
           statements.lookup(other) == instance.statement &&
           llvm::any_of(statement.writes, isSame) &&
           llvm::any_of(statement.reads, isSame);
  };
  for (const polyhedral::Access &read : statement.reads)
    if (Element *element = find(read, point)) {
      if (element->writer)
        add(DependenceKind::Flow, *element->writer, number,
            isUpdate(read, *element->writer));
      element->readers.push_back(number);
    }
  for (const polyhedral::Access &write : statement.writes)
    if (Element *element = find(write, point)) {
      for (unsigned reader : element->readers)
        add(DependenceKind::Anti, reader, number, isUpdate(write, reader));
      if (element->writer && element->readers.empty())
        add(DependenceKind::Output, *element->writer, number,
            isUpdate(write, *element->writer));
      element->readers.clear();
      element->writer = number;
    }
}

llvm::Expected<KernelTrace>
espalier::poly::traceKernel(KernelOp kernel, ArrayRef<int64_t> parameters,
                            size_t maxPoints) {
  KernelModel model = buildModel(kernel);
  KernelTrace trace;
  trace.computations.assign(model.computes.begin(), model.computes.end());
  llvm::Expected<polyhedral::Ast> ast = scanWithNames(kernel, model);
  if (!ast)
    return ast.takeError();
  std::map<Point, unsigned> numbers;
  llvm::StringMap<unsigned> names;
  auto getLoop = [&](Attribute tag) {
    std::string name = isa<ArrayAttr>(tag) ? describeLoop(tag).first : "";
    auto [it, isNew] = names.try_emplace(name, trace.loops.size());
    if (isNew)
      trace.loops.push_back(name);
    return it->second;
  };
  bool isComplete = polyhedral::runAst(
      **ast, parameters, [&](const polyhedral::AstInstance &instance) {
        std::vector<int64_t> point(instance.point.begin(),
                                   instance.point.end());
        numbers[{instance.statement, point}] = trace.points.size();
        trace.points.push_back({instance.statement, instance.point, {}});
        for (auto [loop, value] : instance.loops)
          if (loop->tag)
            trace.points.back().iterations.push_back(
                {getLoop(loop->tag), value});
        return trace.points.size() <= maxPoints;
      });
  if (!isComplete)
    return llvm::createStringError("expects sizes with at most " +
                                   std::to_string(maxPoints) +
                                   " points, but got more");

  polyhedral::ScheduleTree order = polyhedral::makeProgramOrder(model.program);
  ast = polyhedral::scanSchedule(model.program, order.get());
  if (!ast)
    return ast.takeError();
  DependenceTracer tracer(model.program, parameters, numbers,
                          trace.dependences);
  polyhedral::runAst(**ast, parameters,
                     [&](const polyhedral::AstInstance &instance) {
                       tracer.visit(instance);
                       return true;
                     });
  llvm::sort(trace.dependences);
  trace.dependences.erase(
      std::unique(trace.dependences.begin(), trace.dependences.end(),
                  [](const TracedDependence &a, const TracedDependence &b) {
                    return !(a < b) && !(b < a);
                  }),
      trace.dependences.end());
  return trace;
}
