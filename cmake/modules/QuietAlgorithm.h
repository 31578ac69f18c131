//===- QuietAlgorithm.h - <algorithm> without its own warnings --*- C++ -*-===//
//
// std::stable_sort of libstdc++ 12 calls a function that it declares
// deprecated, and clang says so at every use.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_QUIETALGORITHM_H
#define ESPALIER_QUIETALGORITHM_H

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
#include <algorithm>
#pragma clang diagnostic pop

#endif // ESPALIER_QUIETALGORITHM_H
