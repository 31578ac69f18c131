//===- Descriptor.cpp - The constant that describes a program -------------===//

#include "Codegen.h"
#include "espalier-c/Runtime.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalVariable.h"

using namespace espalier;

std::string espalier::getDescriptorSymbol(llvm::StringRef name) {
  return (name + "_program").str();
}

std::string espalier::getUniqueSymbol(llvm::StringRef name, uint64_t hash) {
  return getDescriptorSymbol(name) + "_" + llvm::utohexstr(hash);
}

void espalier::addUniqueSymbol(llvm::Module &module, llvm::StringRef name,
                               uint64_t hash) {
  llvm::GlobalAlias::create(getUniqueSymbol(name, hash),
                            module.getNamedGlobal(getDescriptorSymbol(name)));
}

namespace {
/// Builds constants that match the structures of espalier-c/Runtime.h.
class DescriptorBuilder {
public:
  explicit DescriptorBuilder(llvm::Module &module)
      : module(module), context(module.getContext()),
        pointer(llvm::PointerType::get(context, 0)),
        i32(llvm::Type::getInt32Ty(context)),
        i64(llvm::Type::getInt64Ty(context)) {}

  llvm::Constant *makeNumber(llvm::Type *type, int64_t value) {
    return llvm::ConstantInt::getSigned(type, value);
  }
  llvm::Constant *makeString(llvm::StringRef text);
  llvm::Constant *makeArray(llvm::Type *type,
                            llvm::ArrayRef<llvm::Constant *> elements);
  llvm::Constant *makeStruct(llvm::ArrayRef<llvm::Constant *> fields);
  llvm::Constant *makeTensors(llvm::ArrayRef<TensorSignature> tensors);
  llvm::Constant *makeStrings(llvm::ArrayRef<std::string> strings);
  llvm::Constant *makeFeatures(const TargetCPU &target);
  llvm::Constant *declareFunction(llvm::StringRef name);
  void build(const ProgramSignature &signature, const TargetCPU &target,
             bool withThreads);

private:
  llvm::Constant *makeGlobal(llvm::Constant *value);

  llvm::Module &module;
  llvm::LLVMContext &context;
  llvm::PointerType *pointer;
  llvm::Type *i32;
  llvm::Type *i64;
};
} // namespace

llvm::Constant *DescriptorBuilder::makeGlobal(llvm::Constant *value) {
  return new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                                  llvm::GlobalValue::PrivateLinkage, value);
}

llvm::Constant *DescriptorBuilder::makeString(llvm::StringRef text) {
  return makeGlobal(llvm::ConstantDataArray::getString(context, text));
}

llvm::Constant *
DescriptorBuilder::makeArray(llvm::Type *type,
                             llvm::ArrayRef<llvm::Constant *> elements) {
  return makeGlobal(llvm::ConstantArray::get(
      llvm::ArrayType::get(type, elements.size()), elements));
}

llvm::Constant *
DescriptorBuilder::makeStruct(llvm::ArrayRef<llvm::Constant *> fields) {
  return llvm::ConstantStruct::getAnon(context, fields);
}

llvm::Constant *
DescriptorBuilder::makeStrings(llvm::ArrayRef<std::string> strings) {
  std::vector<llvm::Constant *> elements;
  for (const std::string &string : strings)
    elements.push_back(makeString(string));
  return makeArray(pointer, elements);
}

llvm::Constant *
DescriptorBuilder::makeTensors(llvm::ArrayRef<TensorSignature> tensors) {
  std::vector<llvm::Constant *> infos;
  for (const TensorSignature &tensor : tensors) {
    std::vector<llvm::Constant *> extents, symbols;
    for (int64_t extent : tensor.extents)
      extents.push_back(makeNumber(i64, extent));
    for (const std::string &symbol : tensor.symbols)
      symbols.push_back(symbol.empty() ? llvm::ConstantPointerNull::get(pointer)
                                       : makeString(symbol));
    int64_t properties = (tensor.isBounded ? ESPALIER_BOUNDED : 0) |
                         (tensor.isInjective ? ESPALIER_INJECTIVE : 0) |
                         (tensor.isMonotonic ? ESPALIER_MONOTONIC : 0);
    infos.push_back(makeStruct(
        {makeString(tensor.name), makeNumber(i32, tensor.dtype),
         makeNumber(i32, tensor.extents.size()), makeArray(i64, extents),
         makeArray(pointer, symbols), makeNumber(i64, properties),
         makeNumber(i64, tensor.bound),
         tensor.boundSymbol.empty() ? llvm::ConstantPointerNull::get(pointer)
                                    : makeString(tensor.boundSymbol)}));
  }
  auto *type = llvm::StructType::get(
      context, {pointer, i32, i32, pointer, pointer, i64, i64, pointer});
  return makeArray(type, infos);
}

/// Lists what the runtime can check of what `target` has.
llvm::Constant *DescriptorBuilder::makeFeatures(const TargetCPU &target) {
  std::vector<llvm::Constant *> names;
  for (const std::string &feature : getCheckedFeatures(target))
    names.push_back(makeString(feature));
  names.push_back(llvm::ConstantPointerNull::get(pointer));
  return makeArray(pointer, names);
}

llvm::Constant *DescriptorBuilder::declareFunction(llvm::StringRef name) {
  // The type does not matter to an address.
  return llvm::cast<llvm::Constant>(
      module
          .getOrInsertFunction(
              name, llvm::FunctionType::get(llvm::Type::getVoidTy(context),
                                            /*isVarArg=*/false))
          .getCallee());
}

void DescriptorBuilder::build(const ProgramSignature &signature,
                              const TargetCPU &target, bool withThreads) {
  const std::string &name = signature.name;
  llvm::Constant *null = llvm::ConstantPointerNull::get(pointer);
  auto *constants = new llvm::GlobalVariable(
      module, llvm::Type::getInt8Ty(context), /*isConstant=*/true,
      llvm::GlobalValue::ExternalLinkage, nullptr, getConstantsSymbol(name));
  // It may lie farther away than the code model says.
  constants->setCodeModel(llvm::CodeModel::Large);
  llvm::Constant *value = makeStruct(
      {makeNumber(i32, ESPALIER_ABI_VERSION),
       makeNumber(i32, signature.inputs.size()),
       makeNumber(i32, signature.outputs.size()),
       makeNumber(i32, signature.planMessages.size()), makeString(name),
       makeString(target.cpu), makeFeatures(target),
       makeTensors(signature.inputs), makeTensors(signature.outputs),
       declareFunction(getPlanSymbol(name)),
       declareFunction(getRunSymbol(name)), constants,
       makeStrings(signature.planMessages),
       withThreads ? declareFunction("omp_get_max_threads") : null,
       withThreads ? declareFunction("omp_set_num_threads") : null,
       withThreads ? declareFunction("kmp_get_stacksize_s") : null,
       withThreads ? declareFunction("__kmpc_fork_call") : null,
       signature.checkMessages.empty() ? null
                                       : declareFunction(getCheckSymbol(name)),
       makeStrings(signature.checkMessages)});
  new llvm::GlobalVariable(module, value->getType(), /*isConstant=*/true,
                           llvm::GlobalValue::ExternalLinkage, value,
                           getDescriptorSymbol(name));
}

void espalier::addDescriptor(llvm::Module &module,
                             const ProgramSignature &signature,
                             const TargetCPU &target, bool withThreads) {
  DescriptorBuilder(module).build(signature, target, withThreads);
}
