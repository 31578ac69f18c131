//===- Structures.cpp - Numbering of structures, in Python ----------------===//

#include "espalier-c/Structures.h"
#include "Bindings.h"
#include "espalier-c/Recursive.h"
#include <nanobind/ndarray.h>
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

/// A linearizer and its memory.
class Linearizer {
public:
  Linearizer()
      : handle(espalier_linearizer_create(), espalier_linearizer_destroy) {
    if (!handle)
      throw std::bad_alloc();
  }

  nb::tuple run(int32_t kind, int32_t arity, InputVector<int64_t> starts,
                std::optional<InputTable> children,
                std::optional<InputVector<int32_t>> parents,
                std::optional<InputVector<int32_t>> words,
                int64_t leafVocabulary, int64_t interiorVocabulary,
                int32_t batching) {
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
    espalier_linearization out;
    if (espalier_linearize(handle.get(), &in, &out) != ESPALIER_OK)
      throw CompileError(espalier_linearizer_last_error(handle.get()));
    size_t interior = out.num_nodes - out.num_leaves;
    return nb::make_tuple(
        copy(out.arity, out.num_nodes),
        copy(out.children, interior, static_cast<size_t>(out.columns)),
        copy(out.levels, out.num_levels + 1), copy(out.roots, out.num_roots),
        copy(out.order, out.num_nodes),
        out.words ? nb::cast(copy(out.words, out.num_nodes)) : nb::none());
  }

private:
  static void checkRows(int64_t nodes, size_t rows) {
    if (nodes < 0 || rows != static_cast<size_t>(nodes))
      throw nb::value_error("expects a row for each node");
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
  nb::class_<Linearizer>(extension, "Linearizer",
                         "Checks structures and numbers their nodes.")
      .def(nb::init<>())
      .def("run", &Linearizer::run, nb::arg("kind"), nb::arg("arity"),
           nb::arg("starts"), nb::arg("children").none(),
           nb::arg("parents").none(), nb::arg("words").none(),
           nb::arg("leaf_vocabulary"), nb::arg("interior_vocabulary"),
           nb::arg("batching") = static_cast<int32_t>(ESPALIER_SOONEST),
           "Return arity, children, levels, roots, order and words.");
  extension.def(
      "explain_batching", explainBatching, nb::arg("module"),
      "Say when operators of recursive models are computed, and why.");
}
