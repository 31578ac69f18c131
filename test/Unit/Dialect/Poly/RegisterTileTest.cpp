//===- RegisterTileTest.cpp - Tiles of results in registers ---------------===//

#include "RegisterTile.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include <gtest/gtest.h>

using namespace espalier::poly;

namespace {
constexpr int64_t kLanes = 16;

class RegisterTileTest : public ::testing::Test {
protected:
  RegisterTileTest() { context.loadDialect<PolyDialect>(); }

  /// A contraction: the last dimension is vectorized, the others are rows.
  TileProblem makeProblem(llvm::ArrayRef<std::optional<int64_t>> extents) {
    TileProblem problem{
        getNamedTarget(&context, "znver4"), kLanes, llvm::to_vector(extents),
        unsigned(extents.size() - 1),       {},
        /*broadcastVectors=*/kAnyVectors};
    for (unsigned dim = 0; dim + 1 < extents.size(); ++dim)
      problem.rowDims.push_back(dim);
    return problem;
  }

  static int64_t countRows(const RegisterTile &tile) {
    int64_t rows = 1;
    for (int64_t extent : tile.rows)
      rows *= extent;
    return rows;
  }

  mlir::MLIRContext context;
};

TEST_F(RegisterTileTest, ALargeProductFillsTheRegisters) {
  TileProblem problem = makeProblem({512, 512});
  RegisterTile tile = chooseRegisterTile(problem);
  int64_t accumulators = countRows(tile) * tile.vectors;
  // Beside them, a row of the panel and one broadcast element.
  EXPECT_LE(accumulators + tile.vectors + 1, problem.target.getRegisters());
  EXPECT_GE(accumulators, 20);
  EXPECT_EQ(tile.rows[1], 1);
}

TEST_F(RegisterTileTest, TilesAreNoLargerThanTheResult) {
  for (int64_t rows : {1, 2, 7, 31})
    for (int64_t width : {1, 16, 17, 40}) {
      RegisterTile tile = chooseRegisterTile(makeProblem({rows, width}));
      EXPECT_LE(tile.rows[0], rows);
      EXPECT_LT((tile.vectors - 1) * kLanes, width);
    }
}

TEST_F(RegisterTileTest, RowsDivideTheExtentWhereThatIsFree) {
  // 7 x 7 pixels of a convolution: whole rows of the image, no rest.
  RegisterTile tile = chooseRegisterTile(makeProblem({1, 7, 7, 512}));
  EXPECT_EQ(7 % tile.rows[2], 0);
  EXPECT_EQ(tile.rows[0], 1);
}

TEST_F(RegisterTileTest, UnknownExtentsCountAsLarge) {
  RegisterTile tile = chooseRegisterTile(makeProblem({std::nullopt, 64}));
  EXPECT_GE(tile.rows[0] * tile.vectors, 20);
}

TEST_F(RegisterTileTest, LoadedRowsTakeARegisterEach) {
  TileProblem problem = makeProblem({512, 512});
  problem.broadcastVectors = 0;
  RegisterTile tile = chooseRegisterTile(problem);
  EXPECT_LE(2 * countRows(tile) * tile.vectors, problem.target.getRegisters());
}

TEST_F(RegisterTileTest, ThreeVectorsFillFewRegisters) {
  TileProblem problem = makeProblem({784, 96});
  for (auto [cpu, lanes, vectors] :
       {std::tuple("znver3", 8, 3), std::tuple("znver4", 16, 2)}) {
    problem.target = getNamedTarget(&context, cpu);
    problem.lanes = lanes;
    RegisterTile tile = chooseRegisterTile(problem);
    EXPECT_EQ(tile.vectors, vectors);
    EXPECT_EQ(countRows(tile), vectors == 3 ? 4 : 14);
  }
  // What neighbours share takes registers, too.
  problem.target = getNamedTarget(&context, "znver3");
  problem.lanes = 8;
  problem.sharesScalars = true;
  EXPECT_EQ(chooseRegisterTile(problem).vectors, 2);
  problem.sharesScalars = false;
  // Groups of 32 features have four vectors, of 24 three.
  problem.broadcastVectors = 4;
  EXPECT_NE(chooseRegisterTile(problem).vectors, 3);
  problem.broadcastVectors = 3;
  EXPECT_EQ(chooseRegisterTile(problem).vectors, 3);
}

TEST_F(RegisterTileTest, AGroupOfOneVectorHasRowsBesideIt) {
  // 9 groups of 8 features, with 16 registers.
  TileProblem problem = makeProblem({512, 72});
  problem.target = getNamedTarget(&context, "znver3");
  problem.lanes = 8;
  problem.broadcastVectors = 1;
  RegisterTile tile = chooseRegisterTile(problem);
  EXPECT_EQ(tile.vectors, 1);
  EXPECT_EQ(countRows(tile), 8);
}

TEST_F(RegisterTileTest, FewRowsWhereTheirLinesMeetInACacheSet) {
  // 7 x 7 pixels of 2048 channels: all rows begin in the same set, of 8 ways.
  TileProblem problem = makeProblem({1, 7, 7, 512});
  problem.target = getNamedTarget(&context, "znver3");
  problem.lanes = 8;
  problem.innerRowBytes = 8192;
  problem.outerRowBytes = 7 * 8192;
  RegisterTile tile = chooseRegisterTile(problem);
  EXPECT_LE(countRows(tile), 6);
  EXPECT_GE(countRows(tile) * tile.vectors, 8);
}

TEST_F(RegisterTileTest, WithoutRowsThereAreOnlyVectors) {
  TileProblem problem = makeProblem({512, 512});
  problem.rowDims.clear();
  RegisterTile tile = chooseRegisterTile(problem);
  EXPECT_EQ(countRows(tile), 1);
  EXPECT_GE(tile.vectors, 1);
}
} // namespace
