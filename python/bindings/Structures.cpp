//===- Structures.cpp - Numbering of structures, in Python ----------------===//

#include "espalier-c/Structures.h"
#include "Program.h"
#include "espalier-c/Recursive.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace espalier::python;

template <typename T>
using InputVector =
    nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using InputTable =
    nb::ndarray<const int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Numbers = nb::ndarray<nb::numpy, int32_t>;

namespace {

/// Structures of the caller, with the arrays.
struct StructureArrays {
  InputVector<int64_t> starts;
  std::optional<InputTable> children;
  std::optional<InputVector<int32_t>> parents, words;
  /// Rows of children of any length, in place of a table.
  std::optional<InputVector<int32_t>> entries;
  std::optional<InputVector<int64_t>> rows;

  /// What of them is to be numbered, and how. The arrays live as long.
  espalier_structures get(int32_t kind, int32_t arity, int64_t leafVocabulary,
                          int64_t interiorVocabulary, int32_t batching) const {
    espalier_structures in = {};
    in.kind = kind;
    in.arity = arity;
    in.num_structures = static_cast<int64_t>(starts.size()) - 1;
    in.starts = starts.data();
    int64_t nodes = starts.size() ? starts.data()[starts.size() - 1] : 0;
    // An array without elements may have no address.
    static const int32_t none = 0;
    if (children) {
      in.children = children->size() ? children->data() : &none;
      in.columns = static_cast<int64_t>(children->shape(1));
      checkRows(nodes, children->shape(0));
    }
    if (entries && rows) {
      in.children = entries->size() ? entries->data() : &none;
      in.rows = rows->data();
      checkRows(nodes, rows->size() - 1);
      if (rows->data()[rows->size() - 1] !=
          static_cast<int64_t>(entries->size()))
        throw nb::value_error("expects rows that end with the children");
    }
    if (parents) {
      in.parents = parents->size() ? parents->data() : &none;
      checkRows(nodes, parents->size());
    }
    if (words) {
      in.words = words->size() ? words->data() : &none;
      checkRows(nodes, words->size());
    }
    in.leaf_vocabulary = leafVocabulary;
    in.interior_vocabulary = interiorVocabulary;
    in.batching = batching;
    return in;
  }

private:
  static void checkRows(int64_t nodes, size_t rows) {
    if (nodes < 0 || rows != static_cast<size_t>(nodes))
      throw nb::value_error("expects a row for each node");
  }
};

/// A linearizer and its memory.
class Linearizer {
public:
  Linearizer()
      : handle(espalier_linearizer_create(), espalier_linearizer_destroy) {
    if (!handle)
      throw std::bad_alloc();
  }

  nb::tuple run(const StructureArrays &given, int32_t kind, int32_t arity,
                int64_t leafVocabulary, int64_t interiorVocabulary,
                int32_t batching) {
    espalier_linearization out = linearize(
        given.get(kind, arity, leafVocabulary, interiorVocabulary, batching));
    size_t interior = out.num_nodes - out.num_leaves;
    return nb::make_tuple(
        copy(out.arity, out.num_nodes),
        copy(out.children, interior, static_cast<size_t>(out.columns)),
        copy(out.levels, out.num_levels + 1), copy(out.roots, out.num_roots),
        copy(out.order, out.num_nodes),
        out.words ? nb::cast(copy(out.words, out.num_nodes)) : nb::none());
  }

  /// Runs `program` on the numbers, those of `places` among its inputs: arity,
  /// children, levels, roots and words, or -1. Returns its results and the
  /// order of nodes, or None if the program does not take `values`, which are
  /// the other inputs by name.
  nb::object call(const StructureArrays &given, int32_t kind, int32_t arity,
                  int64_t leafVocabulary, int64_t interiorVocabulary,
                  int32_t batching, Program &program,
                  const std::array<int32_t, 5> &places, nb::dict values) {
    espalier_linearization out = linearize(
        given.get(kind, arity, leafVocabulary, interiorVocabulary, batching));
    const int32_t *data[] = {out.arity, out.children, out.levels, out.roots,
                             out.words};
    const int64_t extents[5][2] = {
        {out.num_nodes, 0},
        {out.num_nodes - out.num_leaves, out.columns},
        {out.num_levels + 1, 0},
        {out.num_roots, 0},
        {out.num_nodes, 0}};
    size_t count = program.description()->num_inputs;
    PlainInputs inputs(count);
    std::vector<bool> isGiven(count);
    for (size_t i = 0; i < places.size(); ++i) {
      if (places[i] < 0)
        continue;
      if (static_cast<size_t>(places[i]) >= count)
        throw nb::value_error("expects the place of an input");
      if (!data[i])
        return nb::none();
      isGiven[places[i]] = true;
      inputs.set(places[i], {const_cast<int32_t *>(data[i]), ESPALIER_I32,
                             data[i] == out.children ? 2 : 1, extents[i]});
    }
    if (!program.setInputs(inputs, values, isGiven))
      return nb::none();
    nb::object results = program.run(inputs);
    if (results.is_none())
      return results;
    return nb::make_tuple(results, copy(out.order, out.num_nodes));
  }

private:
  espalier_linearization linearize(const espalier_structures &in) {
    espalier_linearization out;
    if (espalier_linearize(handle.get(), &in, &out) != ESPALIER_OK)
      throw CompileError(espalier_linearizer_last_error(handle.get()));
    return out;
  }

  template <typename... Extents>
  static Numbers copy(const int32_t *data, Extents... extents) {
    size_t size = (static_cast<size_t>(extents) * ... * 1);
    auto *memory = new int32_t[size + 1];
    std::copy(data, data + size, memory);
    nb::capsule owner(
        memory, [](void *p) noexcept { delete[] static_cast<int32_t *>(p); });
    return Numbers(memory, {static_cast<size_t>(extents)...}, owner);
  }

  std::unique_ptr<espalier_linearizer, void (*)(espalier_linearizer *)> handle;
};

} // namespace

static std::string explainBatching(const Module &module) {
  std::string text;
  espalier_module_explain_batching(module.get(), appendText, &text);
  return text;
}

void espalier::python::bindStructures(nb::module_ &extension) {
  nb::class_<StructureArrays>(extension, "StructureArrays",
                              "Structures whose nodes are to be numbered.")
      .def(
          "__init__",
          [](StructureArrays *self, InputVector<int64_t> starts,
             std::optional<InputTable> children,
             std::optional<InputVector<int32_t>> parents,
             std::optional<InputVector<int32_t>> words,
             std::optional<InputVector<int32_t>> entries,
             std::optional<InputVector<int64_t>> rows) {
            new (self) StructureArrays{std::move(starts),  std::move(children),
                                       std::move(parents), std::move(words),
                                       std::move(entries), std::move(rows)};
          },
          nb::arg("starts"), nb::arg("children").none(),
          nb::arg("parents").none(), nb::arg("words").none(),
          nb::arg("entries").none() = nb::none(),
          nb::arg("rows").none() = nb::none());
  nb::class_<Linearizer>(extension, "Linearizer",
                         "Checks structures and numbers their nodes.")
      .def(nb::init<>())
      .def("run", &Linearizer::run, nb::arg("structures"), nb::arg("kind"),
           nb::arg("arity"), nb::arg("leaf_vocabulary"),
           nb::arg("interior_vocabulary"),
           nb::arg("batching") = static_cast<int32_t>(ESPALIER_SOONEST),
           "Return arity, children, levels, roots, order and words.")
      .def("call", &Linearizer::call, nb::arg("structures"), nb::arg("kind"),
           nb::arg("arity"), nb::arg("leaf_vocabulary"),
           nb::arg("interior_vocabulary"), nb::arg("batching"),
           nb::arg("program"), nb::arg("places"), nb::arg("values"),
           "Run a program on the numbers and on other arrays by name; return "
           "its results and the order of nodes, or None if it does not take "
           "these arrays as they are.");
  extension.def(
      "explain_batching", explainBatching, nb::arg("module"),
      "Say when operators of recursive models are computed, and why.");
}
