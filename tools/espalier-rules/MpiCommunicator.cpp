//===- MpiCommunicator.cpp - The ranks of an MPI program ------------------===//

#include "Commands.h"
#include <cstdlib>

#ifdef ESPALIER_HAS_MPI
#include <algorithm>
#include <cstdint>
#include <mpi.h>
#endif

using namespace espalier;
using namespace espalier::substitution;

/// Whether a launcher of MPI processes started this one: it says so to each.
static bool isStartedByLauncher() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name))
      return true;
  return false;
}

#ifdef ESPALIER_HAS_MPI
namespace {
class MpiCommunicator : public Communicator {
public:
  MpiCommunicator() { MPI_Init(nullptr, nullptr); }
  ~MpiCommunicator() override { MPI_Finalize(); }

  unsigned getRank() const override {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
  }
  unsigned getSize() const override {
    int size = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return size;
  }
  std::vector<std::string> gather(const std::string &bytes) override;
  std::vector<std::string> exchange(std::vector<std::string> bytes) override;
};
} // namespace

/// Messages go in parts that MPI can count.
static constexpr uint64_t kPart = 1 << 30;

static void send(const std::string &bytes, int rank) {
  uint64_t size = bytes.size();
  MPI_Send(&size, 1, MPI_UINT64_T, rank, 0, MPI_COMM_WORLD);
  for (uint64_t at = 0; at < size; at += kPart)
    MPI_Send(bytes.data() + at, std::min(kPart, size - at), MPI_BYTE, rank, 0,
             MPI_COMM_WORLD);
}

static std::string receive(int rank) {
  uint64_t size = 0;
  MPI_Recv(&size, 1, MPI_UINT64_T, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  std::string bytes(size, 0);
  for (uint64_t at = 0; at < size; at += kPart)
    MPI_Recv(bytes.data() + at, std::min(kPart, size - at), MPI_BYTE, rank, 0,
             MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return bytes;
}

/// One message after the other.
std::vector<std::string> MpiCommunicator::gather(const std::string &bytes) {
  if (getRank() != 0) {
    send(bytes, 0);
    return {};
  }
  std::vector<std::string> all{bytes};
  for (unsigned rank = 1; rank < getSize(); ++rank)
    all.push_back(receive(rank));
  return all;
}

/// In step k, ranks whose numbers add up to k exchange; the one with the
/// smaller number sends first. A rank is in at most one pair of a step, so all
/// end.
std::vector<std::string>
MpiCommunicator::exchange(std::vector<std::string> bytes) {
  unsigned size = getSize(), own = getRank();
  std::vector<std::string> received(size);
  received[own] = std::move(bytes[own]);
  for (unsigned step = 0; step < size; ++step) {
    unsigned other = (step + size - own) % size;
    if (other == own)
      continue;
    if (own < other)
      send(bytes[other], other);
    received[other] = receive(other);
    if (own > other)
      send(bytes[other], other);
    bytes[other] = {};
  }
  return received;
}

std::unique_ptr<Communicator> rules::makeCommunicator() {
  if (!isStartedByLauncher())
    return std::make_unique<Communicator>();
  return std::make_unique<MpiCommunicator>();
}
#else
std::unique_ptr<Communicator> rules::makeCommunicator() {
  return isStartedByLauncher() ? nullptr : std::make_unique<Communicator>();
}
#endif
