//===- Script.cpp - Transform scripts and their choices, for C ------------===//

#include "Script.h"
#include "espalier-c/Schedule.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::capi;

int capi::fail(espalier_module *module, const Twine &message) {
  if (module->error.empty())
    module->error = message.str();
  return -1;
}
transform::NamedSequenceOp capi::findSequence(ModuleOp script, StringRef name) {
  return script.lookupSymbol<transform::NamedSequenceOp>(name);
}

OwningOpRef<ModuleOp> capi::parseScript(espalier_module *module,
                                        const char *text, size_t size,
                                        bool mayChoose) {
  if (!text) {
    fail(module, "expects a script, but got a null pointer");
    return nullptr;
  }
  OwningOpRef<ModuleOp> script = parseSourceString<ModuleOp>(
      StringRef(text, size), &module->context, "script.mlir");
  if (!script)
    return nullptr;
  auto isSequence = [](transform::NamedSequenceOp sequence) {
    return sequence && !sequence.isExternal() &&
           sequence.getNumArguments() == 1;
  };
  transform::NamedSequenceOp choices =
      findSequence(*script, kStatementsSequence);
  if (choices && !isSequence(choices)) {
    fail(module, "expects @" + kStatementsSequence + " to have one argument");
    return nullptr;
  }
  if (isSequence(findSequence(*script)) ||
      (mayChoose && choices && !findSequence(*script)))
    return script;
  fail(module, "expects a script with a sequence @__transform_main that has "
               "one argument");
  return nullptr;
}

int capi::applySequence(espalier_module *module,
                        transform::NamedSequenceOp sequence) {
  Operation *edit = poly::findForeignEdit(sequence);
  if (edit && !module->module->getOps<poly::KernelOp>().empty()) {
    (void)poly::reportForeignEdit(edit);
    return fail(module, "expects a script that can be applied");
  }
  if (Operation *choice = poly::findOpenChoice(sequence)) {
    (void)poly::reportOpenChoice(choice);
    return fail(module, "expects a script that can be applied");
  }
  OwningOpRef<ModuleOp> trial(module->module->clone());
  if (failed(transform::applyTransformNamedSequence(
          *trial, sequence, ModuleOp(), transform::TransformOptions())))
    return fail(module, "expects a script that can be applied");
  module->function = {};
  module->module = std::move(trial);
  return 0;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// A number, a string or a boolean; any other attribute as MLIR text.
static llvm::json::Value toJson(Attribute value) {
  if (auto flag = dyn_cast<BoolAttr>(value))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(value);
      number && number.getValue().getSignificantBits() <= 64)
    return number.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static llvm::json::Value describeChoice(const poly::Choice &choice) {
  llvm::json::Value options = toJson(choice.options);
  if (auto list = dyn_cast<ArrayAttr>(choice.options)) {
    llvm::json::Array values;
    for (Attribute option : list)
      values.push_back(toJson(option));
    options = std::move(values);
  }
  return llvm::json::Object{{"name", choice.name},
                            {"options", std::move(options)},
                            {"selected", choice.selected
                                             ? toJson(choice.selected)
                                             : llvm::json::Value(nullptr)}};
}

/// Reads a script, and calls `use` with it and its choices, which is where
/// these are; `use` returns 0, or -1 after an error, and may print.
static int useChoices(espalier_module *module, const char *script, size_t size,
                      void (*write)(const char *text, size_t size, void *user),
                      void *user,
                      llvm::function_ref<int(ModuleOp, ArrayRef<poly::Choice>,
                                             llvm::raw_ostream &)>
                          use) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed =
      parseScript(module, script, size, /*mayChoose=*/true);
  if (!parsed)
    return -1;
  FailureOr<SmallVector<poly::Choice>> choices = poly::getChoices(*parsed);
  if (failed(choices))
    return fail(module, "expects a script with choices");
  std::string text;
  llvm::raw_string_ostream os(text);
  if (use(*parsed, *choices, os) < 0)
    return -1;
  write(text.data(), text.size(), user);
  return 0;
}

int espalier_module_describe_choices(
    espalier_module *module, const char *script, size_t size,
    void (*write)(const char *text, size_t size, void *user), void *user) {
  return useChoices(
      module, script, size, write, user,
      [](ModuleOp, ArrayRef<poly::Choice> choices, llvm::raw_ostream &os) {
        llvm::json::Array all;
        for (const poly::Choice &choice : choices)
          all.push_back(describeChoice(choice));
        os << llvm::json::Value(std::move(all));
        return 0;
      });
}

/// The value of `choice` that `json` stands for; null if there is none.
static Attribute findOption(const poly::Choice &choice,
                            const llvm::json::Value &json) {
  MLIRContext *context = choice.options.getContext();
  if (auto list = dyn_cast<ArrayAttr>(choice.options)) {
    for (Attribute option : list)
      if (toJson(option) == json)
        return option;
    return {};
  }
  Builder builder(context);
  if (std::optional<bool> flag = json.getAsBoolean())
    return builder.getBoolAttr(*flag);
  if (std::optional<int64_t> number = json.getAsInteger())
    return builder.getI64IntegerAttr(*number);
  if (std::optional<double> number = json.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (std::optional<StringRef> text = json.getAsString())
    return builder.getStringAttr(*text);
  return {};
}

/// Selects what `values` says, by the names of choices.
static int selectAll(espalier_module *module, ArrayRef<poly::Choice> choices,
                     const llvm::json::Object &values) {
  SmallVector<StringRef> unknown;
  for (const auto &entry : values)
    if (llvm::none_of(choices, [&](const poly::Choice &choice) {
          return choice.name == StringRef(entry.first);
        }))
      unknown.push_back(entry.first);
  if (!unknown.empty()) {
    llvm::sort(unknown);
    std::string names;
    llvm::raw_string_ostream os(names);
    llvm::interleaveComma(
        choices, os, [&](const poly::Choice &choice) { os << choice.name; });
    return fail(module, "expects one of the choices [" + names +
                            "], but got '" + unknown.front() + "'");
  }
  for (const poly::Choice &choice : choices) {
    const llvm::json::Value *value = values.get(choice.name);
    if (!value)
      continue;
    Attribute option = findOption(choice, *value);
    if (!option) {
      std::string text;
      llvm::raw_string_ostream(text)
          << *describeChoice(choice).getAsObject()->get("options")
          << " for the choice \"" << choice.name << "\", but got " << *value;
      return fail(module, "expects one of " + text);
    }
    if (failed(poly::select(choice, option)))
      return -1;
  }
  return 0;
}

int espalier_module_select(espalier_module *module, const char *script,
                           size_t size, const char *values, size_t values_size,
                           void (*write)(const char *text, size_t size,
                                         void *user),
                           void *user) {
  return useChoices(
      module, script, size, write, user,
      [&](ModuleOp parsed, ArrayRef<poly::Choice> choices,
          llvm::raw_ostream &os) {
        llvm::Expected<llvm::json::Value> json = llvm::json::parse(
            values ? StringRef(values, values_size) : StringRef());
        llvm::json::Object *object = json ? json->getAsObject() : nullptr;
        if (!json)
          llvm::consumeError(json.takeError());
        if (!object)
          return fail(module, "expects a JSON object with what is selected");
        if (selectAll(module, choices, *object) < 0)
          return -1;
        parsed.print(os);
        return 0;
      });
}
