//===- Bindings.h - Shared by the parts of the extension --------*- C++ -*-===//
//
// The extension only translates: Python objects to the C API and back.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_PYTHON_BINDINGS_BINDINGS_H
#define ESPALIER_PYTHON_BINDINGS_BINDINGS_H

#include "espalier-c/Program.h"
#include <memory>
#include <nanobind/nanobind.h>
#include <stdexcept>
#include <string>
#include <unistd.h>

namespace espalier::python {

/// Becomes espalier.CompileError.
class CompileError : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Has the GIL taken by `take`. Python ends threads that ask for it while the
/// process ends, by unwinding, which frames of ours are not made for; as from
/// Python 3.14 on, they sleep instead.
template <typename Take>
void takeGil(Take take) {
  try {
    take();
  } catch (...) {
    // What they hold is not lost.
    nanobind::set_leak_warnings(false);
    while (true)
      pause();
  }
}

/// Has the GIL while it lives, in a thread that has not.
class WithGil {
public:
  WithGil() {
    takeGil([&] { state = PyGILState_Ensure(); });
  }
  ~WithGil() { PyGILState_Release(state); }
  WithGil(const WithGil &) = delete;
  WithGil &operator=(const WithGil &) = delete;

private:
  PyGILState_STATE state;
};

/// Leaves the GIL to others while it lives.
class WithoutGil {
public:
  WithoutGil() : state(PyEval_SaveThread()) {}
  ~WithoutGil() {
    takeGil([&] { PyEval_RestoreThread(state); });
  }
  WithoutGil(const WithoutGil &) = delete;
  WithoutGil &operator=(const WithoutGil &) = delete;

private:
  PyThreadState *state;
};

/// A module, owned together with the Python values that point into it. The GIL
/// protects it, but for work that goes on without.
class Module {
public:
  Module() : Module(espalier_module_create()) {}
  explicit Module(espalier_module *module)
      : state(std::make_shared<State>(module)) {}

  /// Throws if another thread works on the module.
  espalier_module *get() const {
    if (state->isInUse)
      throw CompileError("expects a module that no other thread works on, but "
                         "one compiles or interprets it");
    return state->handle.get();
  }
  /// The module for what may remove its values.
  espalier_module *edit() const {
    espalier_module *module = get();
    ++state->numEdits;
    return module;
  }
  unsigned getNumEdits() const { return state->numEdits; }
  bool operator!=(const Module &other) const { return state != other.state; }

private:
  friend class ModuleInUse;
  struct State {
    explicit State(espalier_module *module)
        : handle(module, espalier_module_destroy) {}

    std::unique_ptr<espalier_module, void (*)(espalier_module *)> handle;
    unsigned numEdits = 0;
    bool isInUse = false;
  };

  std::shared_ptr<State> state;
};

/// Keeps other threads from a module, for work without the GIL; `handle` is the
/// result of `get` or `edit`. It is made, and its life ends, with the GIL.
class ModuleInUse {
public:
  ModuleInUse(const Module &module, espalier_module *handle)
      : state(module.state), handle(handle) {
    state->isInUse = true;
  }
  ~ModuleInUse() { state->isInUse = false; }
  ModuleInUse(const ModuleInUse &) = delete;
  ModuleInUse &operator=(const ModuleInUse &) = delete;

  espalier_module *get() const { return handle; }

private:
  std::shared_ptr<Module::State> state;
  espalier_module *handle;
};

/// How to compile, with the texts that the C structure points to.
class CompileOptions {
public:
  std::string cpu, features, cache, optimize, kernelTimes, records;
  /// The rest; its texts are set by `get`.
  espalier_compile_options other = espalier_default_compile_options();

  /// The options as C has them; what they point to lives as long as this.
  espalier_compile_options get() const;
};

/// Collects what a C function writes; pass `&text` as its `user`.
inline void appendText(const char *text, size_t size, void *user) {
  static_cast<std::string *>(user)->append(text, size);
}

/// Adds the classes for building modules.
void bindIR(nanobind::module_ &extension);

/// Adds the reference interpreter.
void bindInterpreter(nanobind::module_ &extension);

/// Adds the class for how to compile.
void bindOptions(nanobind::module_ &extension);

/// Adds the classes for compiling and running them.
void bindProgram(nanobind::module_ &extension);

/// Adds the class for scheduling kernels.
void bindSchedule(nanobind::module_ &extension);

/// Adds the class for numbering structures.
void bindStructures(nanobind::module_ &extension);

/// Adds the search for schedules.
void bindTuning(nanobind::module_ &extension);

} // namespace espalier::python

#endif // ESPALIER_PYTHON_BINDINGS_BINDINGS_H
