//===- ScanSchedule.cpp - From schedule trees to loops --------------------===//
//
// What is no tiling of boxes (Ast/ScanBoxes.h): builds isl's schedule tree for
// ours, lets isl scan it, and translates the result. Every band gets a mark in
// isl's tree, so that its loops can be told apart from those of other bands:
// isl names a loop only by its depth.
//
//===----------------------------------------------------------------------===//

#include "Ast/AstConversion.h"
#include "Ast/ExecutedPoints.h"
#include "Ast/ScanBoxes.h"
#include "FullTiles.h"
#include "Isl.h"
#include "Question.h"
#include "llvm/ADT/StringExtras.h"
#include <isl/ast_build.h>
#include <isl/id.h>
#include <isl/schedule.h>
#include <isl/schedule_node.h>

using namespace mlir;
using namespace espalier::polyhedral;

/// Loops for a whole kernel may take as much as so many questions, or as one
/// for each statement in each part of the schedule, if that is more and not too
/// many.
static constexpr unsigned kMinScanQuestions = 40;
static constexpr unsigned kMaxScanQuestions = 400;

namespace {
/// What loops look like, which costs more or less time to find.
enum class Form {
  AsScheduled,
  JoinedTiles, ///< Full tiles have no code of their own.
  OneLoopEach, ///< And loops are not cut where that saves conditions.
  SplitLoops,  ///< Loops are cut wherever their bounds have cases.
};

/// Inserts nodes below the root of an isl schedule.
class ScheduleBuilder {
public:
  ScheduleBuilder(const Context &context, const Program &program,
                  const ScheduleNode *root, Form form)
      : context(context), program(program), root(root), form(form) {}

  /// The domain of all statements.
  isl::UnionSet getDomain() const;
  /// Inserts `node` at the leaf `at`, below `depth` loops; returns the position
  /// of `at`, or null.
  isl_schedule_node *insert(isl_schedule_node *at, const ScheduleNode *node,
                            unsigned depth);
  llvm::ArrayRef<MarkInfo> getMarks() const { return marks; }

private:
  isl_schedule_node *insertMark(isl_schedule_node *at, const ScheduleNode *node,
                                unsigned depth);
  isl_schedule_node *insertBand(isl_schedule_node *at, const ScheduleNode &band,
                                unsigned depth);
  isl_schedule_node *insertSequence(isl_schedule_node *at,
                                    const ScheduleNode &sequence,
                                    unsigned depth);
  isl_multi_union_pw_aff *getPartialSchedule(const ScheduleNode &band) const;
  isl::UnionSet getFilter(const ScheduleNode &filter) const;
  isl::Space getSpace(unsigned statement) const {
    return isl::makeStatementSpace(context.get(), program, statement);
  }

  const Context &context;
  const Program &program;
  const ScheduleNode *root;
  const Form form;
  llvm::SmallVector<MarkInfo> marks;
};
} // namespace

isl::UnionSet ScheduleBuilder::getDomain() const {
  isl_union_set *result = isl_union_set_empty_ctx(context.get());
  for (unsigned i = 0; i < program.statements.size(); ++i) {
    isl::Space space = getSpace(i);
    isl_set *domain = isl::toDomain(space, program.statements[i]).take();
    domain =
        isl_set_intersect(domain, isl::getAssumptions(space, program).take());
    result = isl_union_set_union(result, isl_union_set_from_set(domain));
  }
  return isl::UnionSet(result);
}

isl::UnionSet ScheduleBuilder::getFilter(const ScheduleNode &filter) const {
  isl_union_set *result = isl_union_set_empty_ctx(context.get());
  for (FilterSet part : filter.filters) {
    isl::Space space = getSpace(part.statement);
    isl_set *points = part.set ? isl::toSet(space, part.set).take()
                               : isl_set_universe(space.copy());
    result = isl_union_set_union(result, isl_union_set_from_set(points));
  }
  return isl::UnionSet(result);
}

isl_multi_union_pw_aff *
ScheduleBuilder::getPartialSchedule(const ScheduleNode &band) const {
  isl::Space params = isl::makeSpace(context.get(), program.numParams, 0);
  isl_space *space = isl_space_set_from_params(isl_space_params(params.copy()));
  space = isl_space_add_dims(space, isl_dim_set, band.members.size());
  isl_union_pw_aff_list *list =
      isl_union_pw_aff_list_alloc(context.get(), band.members.size());
  for (unsigned member = 0; member < band.members.size(); ++member) {
    isl_union_pw_aff *function =
        isl_union_pw_aff_empty(isl_space_params(params.copy()));
    for (const BandMap &map : band.maps) {
      isl::Aff aff =
          isl::toAff(getSpace(map.statement), map.map.getResult(member));
      function = isl_union_pw_aff_add_pw_aff(function,
                                             isl_pw_aff_from_aff(aff.take()));
    }
    list = isl_union_pw_aff_list_add(list, function);
  }
  return isl_multi_union_pw_aff_from_union_pw_aff_list(space, list);
}

isl_schedule_node *ScheduleBuilder::insertMark(isl_schedule_node *at,
                                               const ScheduleNode *node,
                                               unsigned depth) {
  std::string name = "m" + llvm::utostr(marks.size());
  marks.push_back({node, depth});
  return isl_schedule_node_insert_mark(
      at, isl_id_alloc(context.get(), name.c_str(), nullptr));
}

static isl_ast_loop_type toIsl(LoopShape shape, Form form) {
  switch (shape) {
  case LoopShape::Atomic:
    return form == Form::SplitLoops ? isl_ast_loop_default
                                    : isl_ast_loop_atomic;
  case LoopShape::Default:
    return form == Form::OneLoopEach ? isl_ast_loop_atomic
                                     : isl_ast_loop_default;
  case LoopShape::Separate:
    return isl_ast_loop_separate;
  case LoopShape::Unroll:
    return isl_ast_loop_unroll;
  }
  llvm_unreachable("unknown shape");
}

isl_schedule_node *ScheduleBuilder::insertBand(isl_schedule_node *at,
                                               const ScheduleNode &band,
                                               unsigned depth) {
  at = insertMark(at, &band, depth);
  at = isl_schedule_node_child(at, 0);
  at = isl_schedule_node_insert_partial_schedule(at, getPartialSchedule(band));
  if (form == Form::AsScheduled && band.separateFullTiles) {
    isl::SetPtr full =
        getFullTiles(context, program, getPaths(program, root), &band);
    if (full)
      at = isl_schedule_node_band_set_ast_build_options(
          at, isl_union_set_from_set(
                  isl_set_set_tuple_name(full.take(), "isolate")));
  }
  for (auto [number, member] : llvm::enumerate(band.members)) {
    isl_ast_loop_type type = toIsl(member.shape, form);
    at = isl_schedule_node_band_member_set_ast_loop_type(at, number, type);
    at = isl_schedule_node_band_member_set_isolate_ast_loop_type(at, number,
                                                                 type);
  }
  if (!band.children.empty()) {
    at = isl_schedule_node_child(at, 0);
    at = insert(at, band.children.front().get(), depth + band.members.size());
    at = isl_schedule_node_parent(at);
  }
  return isl_schedule_node_parent(at);
}

isl_schedule_node *ScheduleBuilder::insertSequence(isl_schedule_node *at,
                                                   const ScheduleNode &sequence,
                                                   unsigned depth) {
  isl_union_set_list *filters =
      isl_union_set_list_alloc(context.get(), sequence.children.size());
  for (const ScheduleTree &child : sequence.children)
    filters = isl_union_set_list_add(filters, getFilter(*child).take());
  at = isl_schedule_node_insert_sequence(at, filters);
  for (auto [number, child] : llvm::enumerate(sequence.children)) {
    if (child->children.empty())
      continue;
    at = isl_schedule_node_grandchild(at, number, 0);
    at = insert(at, child->children.front().get(), depth);
    at = isl_schedule_node_ancestor(at, 2);
  }
  return at;
}

isl_schedule_node *ScheduleBuilder::insert(isl_schedule_node *at,
                                           const ScheduleNode *node,
                                           unsigned depth) {
  switch (node->kind) {
  case ScheduleNode::Kind::Band:
    return insertBand(at, *node, depth);
  case ScheduleNode::Kind::Sequence:
    return insertSequence(at, *node, depth);
  case ScheduleNode::Kind::Mark:
    at = insertMark(at, node, depth);
    if (node->children.empty())
      return at;
    at = isl_schedule_node_child(at, 0);
    at = insert(at, node->children.front().get(), depth);
    return isl_schedule_node_parent(at);
  case ScheduleNode::Kind::Filter:
    isl_schedule_node_free(at);
    return nullptr;
  }
  llvm_unreachable("unknown kind");
}

/// Whether iterations of a parallel loop may have memory of their own.
static bool hasPrivateMemory(const Program &program, const ScheduleNode *node) {
  if (!node || program.storages.empty())
    return false;
  return llvm::any_of(node->members,
                      [](const BandMember &member) {
                        return member.concurrency == Concurrency::Parallel;
                      }) ||
         llvm::any_of(node->children, [&](const ScheduleTree &child) {
           return hasPrivateMemory(program, child.get());
         });
}

/// The number of statements in all parts of a schedule.
static unsigned countStatements(const Program &program,
                                const ScheduleNode *node) {
  if (!node)
    return program.statements.size();
  if (node->kind != ScheduleNode::Kind::Sequence)
    return node->children.empty()
               ? node->maps.size()
               : countStatements(program, node->children.front().get());
  unsigned number = 0;
  for (const ScheduleTree &filter : node->children)
    number += filter->children.empty()
                  ? filter->filters.size()
                  : countStatements(program, filter->children.front().get());
  return number;
}

/// Lets isl find the loops of any schedule.
static llvm::Expected<Ast> scanByIsl(const Program &program,
                                     const ScheduleNode *schedule,
                                     const Limits &limits, Form form) {
  Context context(limits);
  unsigned numQuestions = std::clamp(countStatements(program, schedule),
                                     kMinScanQuestions, kMaxScanQuestions);
  std::optional<isl::Question> question(std::in_place, context.get(),
                                        numQuestions);
  ScheduleBuilder builder(context, program, schedule, form);
  isl::UnionSet domain = builder.getDomain();
  isl_bool isEmpty = isl_union_set_is_empty(domain.get());
  if (isEmpty == isl_bool_error)
    return isl::makeError(context, "a domain cannot be scanned");
  if (isEmpty == isl_bool_true)
    return std::make_unique<AstNode>(AstNode::Kind::Block);

  isl_schedule_node *root =
      isl_schedule_get_root(isl_schedule_from_domain(domain.copy()));
  if (schedule) {
    root = isl_schedule_node_child(root, 0);
    root = builder.insert(root, schedule, 0);
  }
  isl_schedule *tree = isl_schedule_node_get_schedule(root);
  isl_schedule_node_free(root);

  // What one iteration leaves in its own memory is used in the same loop, even
  // where it could run after all iterations.
  isl_options_set_ast_build_group_coscheduled(
      context.get(), hasPrivateMemory(program, schedule));
  isl::Space params = isl::makeSpace(context.get(), program.numParams, 0);
  isl_ast_build *build = isl_ast_build_from_context(
      isl_set_params(isl::getAssumptions(params, program).take()));
  isl_ast_node *node = isl_ast_build_node_from_schedule(build, tree);
  isl_ast_build_free(build);
  // isl gives up on some full tiles of several loops whose extents are open,
  // and on loops that it would have to cut often. `tree` may be null already.
  if (!node && form == Form::AsScheduled)
    if (Ast boxes = scanBoxes(program, schedule, /*joinsTiles=*/true,
                              /*asksParameters=*/true))
      return std::move(boxes);
  if (!node && form < Form::OneLoopEach)
    return scanByIsl(program, schedule, limits,
                     form == Form::AsScheduled ? Form::JoinedTiles
                                               : Form::OneLoopEach);
  if (!node)
    return isl::makeError(context, "the schedule cannot be scanned");
  llvm::Expected<Ast> ast = convertAst(program, node, builder.getMarks());
  isl_ast_node_free(node);
  if (!ast)
    return ast;
  question.emplace(context.get(), numQuestions);
  isl_bool isRight = executesOnce(program, **ast, domain);
  // Where nothing is known: only loops with steps are known to go wrong, as the
  // first value of an atomic one does not always have the step's remainder in
  // isl 0.25.
  if (isRight == isl_bool_true ||
      (isRight == isl_bool_error && !hasSteps(**ast)))
    return ast;
  if (form != Form::SplitLoops)
    return scanByIsl(program, schedule, limits, Form::SplitLoops);
  if (isRight == isl_bool_error)
    return isl::makeError(context, "the schedule cannot be scanned");
  return llvm::createStringError(
      "the schedule cannot be scanned: its loops would execute other points");
}

/// Whether a band below `node` has code of its own for full tiles.
static bool separatesTiles(const ScheduleNode *node) {
  return node && (node->separateFullTiles ||
                  llvm::any_of(node->children, [](const ScheduleTree &child) {
                    return separatesTiles(child.get());
                  }));
}

llvm::Expected<Ast>
espalier::polyhedral::scanSchedule(const Program &program,
                                   const ScheduleNode *schedule,
                                   const Limits &limits) {
  // Without code for full tiles, those of unknown extents are as any others.
  if (Ast boxes = scanBoxes(program, schedule,
                            /*joinsTiles=*/!separatesTiles(schedule)))
    return std::move(boxes);
  return scanByIsl(program, schedule, limits, Form::AsScheduled);
}
