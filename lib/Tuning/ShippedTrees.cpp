//===- ShippedTrees.cpp - Models of costs that travel along ---------------===//

#include "espalier/Support/Embed.h"
#include "espalier/Tuning/TrainedTrees.h"

using namespace espalier;

ESPALIER_EMBED(espalierTrees256, ESPALIER_TREES_FOLDER "/vectors-256.json")

llvm::StringRef tuning::getShippedTrees(unsigned vectorBits) {
  if (vectorBits != 256)
    return "";
  return {espalierTrees256,
          static_cast<size_t>(espalierTrees256_end - espalierTrees256)};
}
