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
};
} // namespace

/// One message after the other, in parts that MPI can count.
std::vector<std::string> MpiCommunicator::gather(const std::string &bytes) {
  constexpr uint64_t kPart = 1 << 30;
  uint64_t size = bytes.size();
  if (getRank() != 0) {
    MPI_Send(&size, 1, MPI_UINT64_T, 0, 0, MPI_COMM_WORLD);
    for (uint64_t at = 0; at < size; at += kPart)
      MPI_Send(bytes.data() + at, std::min(kPart, size - at), MPI_BYTE, 0, 0,
               MPI_COMM_WORLD);
    return {};
  }
  std::vector<std::string> all{bytes};
  for (unsigned rank = 1; rank < getSize(); ++rank) {
    MPI_Recv(&size, 1, MPI_UINT64_T, rank, 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
    std::string received(size, 0);
    for (uint64_t at = 0; at < size; at += kPart)
      MPI_Recv(received.data() + at, std::min(kPart, size - at), MPI_BYTE, rank,
               0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    all.push_back(std::move(received));
  }
  return all;
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
