//===- PlaceEntries.h - How an image's filters are stored -------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PLACEENTRIES_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PLACEENTRIES_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

/// What entries read of an image whose last dimensions are one.
struct ImagePlaces {
  /// Of each entry, the first of its places: its channel.
  std::vector<int32_t> channels;
  int64_t numChannels = 0;
  /// Bytes of a channel, and how many rows of a channel a filter reads at one
  /// point, at most.
  int64_t channelBytes = 0, filterRows = 1;
};

/// Gives the sum over entries `number` one place for each of its entries: how
/// far from the first point of an image it is, in memory. Returns what is known
/// then; nothing if it reads no image whose planes are of constant size, or one
/// that its kernel has `written`.
std::optional<ImagePlaces>
combinePlaces(StatementList &program, unsigned number,
              const llvm::DenseSet<ArrayId> &written);

/// Whether what a tile of the result reads of all channels is more than the
/// first-level cache holds.
bool leavesFirstLevelCache(const StatementList &program,
                           const ImagePlaces &places);

/// Stores the entries of the sum `number` in blocks of channels, of which a
/// tile of the result reads so little that it stays in the first-level cache,
/// if its rows alone are enough for that. Whether it did.
bool blockEntries(StatementList &program, unsigned number,
                  const ImagePlaces &places);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PLACEENTRIES_H
