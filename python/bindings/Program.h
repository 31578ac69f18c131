//===- Program.h - Compiled programs and the arrays of a call ---*- C++ -*-===//

#ifndef ESPALIER_PYTHON_BINDINGS_PROGRAM_H
#define ESPALIER_PYTHON_BINDINGS_PROGRAM_H

#include "Bindings.h"
#include "espalier-c/Runtime.h"
#include <mutex>
#include <vector>

namespace espalier::python {

/// A vector that crosses a line of the cache takes twice as long to store.
inline constexpr size_t kCacheLine = 64;
/// Larger outputs are refused before anything is allocated.
inline constexpr int64_t kMaxBytes = int64_t(1) << 46;

/// The inputs of a call that needs no more than a look at each array. It keeps
/// the arrays as they are while it lives.
class PlainInputs {
public:
  explicit PlainInputs(size_t count) : tensors(count) { views.reserve(count); }
  ~PlainInputs();
  PlainInputs(const PlainInputs &) = delete;
  PlainInputs &operator=(const PlainInputs &) = delete;

  /// Sets input `i`. False if `value` is no array of NumPy whose elements are
  /// aligned, in the machine's order, and lie row by row without gaps.
  bool set(size_t i, nanobind::handle value);
  void set(size_t i, const espalier_tensor &tensor) { tensors[i] = tensor; }
  const std::vector<espalier_tensor> &get() const { return tensors; }

private:
  std::vector<espalier_tensor> tensors;
  std::vector<Py_buffer> views;
};

/// A program in this process with the context that it runs in. The context is
/// made when it is needed, since code for another machine can only be saved.
class Program {
public:
  explicit Program(espalier_executable *executable);

  espalier_executable *get() const { return executable.get(); }
  const espalier_program *description() const {
    return espalier_executable_program(executable.get());
  }

  /// Saves, one thread at a time; throws the message of what goes wrong.
  void save(const std::string &path);

  /// Calls a function of the runtime, one thread at a time, and throws the
  /// context's message if it fails.
  template <typename Call>
  void call(Call function) {
    std::string message;
    {
      WithoutGil release;
      std::lock_guard<std::mutex> lock(mutex);
      espalier_context *made = getContext();
      if (made && !function(made))
        return;
      message = espalier_last_error(made);
    }
    throw CompileError(message);
  }

  /// Sets those of `inputs` that `values` has by name, but no others; `isGiven`
  /// says which are set already. False if one of both has another one, or
  /// `PlainInputs` refuses a value.
  bool setInputs(PlainInputs &inputs, nanobind::dict values,
                 const std::vector<bool> &isGiven) const;

  /// Runs and returns new arrays, or None if anything is wrong with the inputs:
  /// whoever checks them one by one has a message for it.
  nanobind::object run(const PlainInputs &inputs);

private:
  /// The context, made if there is none; null if that fails.
  espalier_context *getContext();

  std::unique_ptr<espalier_executable, void (*)(espalier_executable *)>
      executable;
  std::unique_ptr<espalier_context, void (*)(espalier_context *)> context;
  std::mutex mutex;
  /// The names of inputs as Python has them.
  std::vector<nanobind::object> names;
};

} // namespace espalier::python

#endif // ESPALIER_PYTHON_BINDINGS_PROGRAM_H
