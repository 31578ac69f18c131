//===- ShippedTrees.cpp - Models of costs that travel along ---------------===//

#include "espalier/Support/Embed.h"
#include "espalier/Tuning/TrainedTrees.h"

using namespace espalier;

ESPALIER_EMBED(espalierTrees256, ESPALIER_TREES_FOLDER "/vectors-256.json")
ESPALIER_EMBED(espalierTrees512, ESPALIER_TREES_FOLDER "/vectors-512.json")

llvm::StringRef tuning::getShippedTrees(unsigned vectorBits) {
  switch (vectorBits) {
  case 256:
    return {espalierTrees256, size_t(espalierTrees256_end - espalierTrees256)};
  case 512:
    return {espalierTrees512, size_t(espalierTrees512_end - espalierTrees512)};
  default:
    return "";
  }
}
