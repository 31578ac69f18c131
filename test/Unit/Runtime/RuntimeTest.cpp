//===- RuntimeTest.cpp - Tests of the checks at the boundary --------------===//
//
// The program under test is written by hand: y = x + z for x: f32[n, 2] and
// z: f32[n, 2], flags: bool[m], y: f32[n, 2], with n floats in the arena.
//
//===----------------------------------------------------------------------===//

#include "espalier-c/Runtime.h"
#include "llvm/TargetParser/Host.h"
#include "gtest/gtest.h"
#include <atomic>
#include <limits>
#include <string>
#include <thread>
#include <vector>

static constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

/// What the plan of the program under test returns, if not the right result.
static int64_t planFailure = 0;
static int64_t planExtent = -2;
static std::atomic<int> threadsInRun = 0;
/// OpenMP's is one of each thread, too.
static thread_local int maxThreads = 7;
/// Makes the run call the context again.
static espalier_context *reenter = nullptr;
static espalier_status reenterStatus = ESPALIER_OK;

static void planSum(const int64_t *extents, int64_t *result) {
  result[0] = planExtent == -2 ? extents[0] : planExtent;
  result[1] = 2;
  result[2] = planFailure ? planFailure : 4 * extents[0];
  result[3] = extents[0];
  result[4] = -7;
}

static void runSum(void *const *data, const int64_t *extents, void *arena,
                   const void *constants) {
  threadsInRun = maxThreads;
  EXPECT_EQ(*static_cast<const float *>(constants), 1.0f);
  if (extents[0] > 0) {
    EXPECT_EQ(reinterpret_cast<uintptr_t>(arena) % 64, 0u);
  }
  auto *x = static_cast<const float *>(data[0]);
  auto *z = static_cast<const float *>(data[1]);
  auto *y = static_cast<float *>(data[3]);
  for (int64_t i = 0; i < 2 * extents[0]; ++i)
    y[i] = x[i] + z[i];
  if (reenter)
    reenterStatus = espalier_run(reenter, nullptr, 0, nullptr, 0);
}

static const int64_t kExtents[] = {-1, 2};
static const char *const kSymbols[] = {"n", nullptr};
static const int64_t kFlagExtents[] = {-1};
static const char *const kFlagSymbols[] = {nullptr};
static const espalier_tensor_info kInputs[] = {
    {"x", ESPALIER_F32, 2, kExtents, kSymbols},
    {"z", ESPALIER_F32, 2, kExtents, kSymbols},
    {"flags", ESPALIER_BOOL, 1, kFlagExtents, kFlagSymbols}};
static const espalier_tensor_info kOutputs[] = {
    {"y", ESPALIER_F32, 2, kExtents, kSymbols}};
static const float kConstants[] = {1.0f};
static const char *const kMessages[] = {"expects an even n",
                                        "expects 100%%: % is not %, nor %"};

static espalier_program makeProgram() {
  espalier_program program = {};
  program.abi_version = ESPALIER_ABI_VERSION;
  program.num_inputs = 3;
  program.num_outputs = 1;
  program.num_plan_messages = 2;
  program.name = "sum";
  program.cpu = "any";
  program.inputs = kInputs;
  program.outputs = kOutputs;
  program.plan = planSum;
  program.run = runSum;
  program.constants = kConstants;
  program.plan_messages = kMessages;
  program.get_max_threads = [] { return maxThreads; };
  program.set_num_threads = [](int count) { maxThreads = count; };
  return program;
}

namespace {
/// A context and arguments that are right; each test breaks one thing.
class RuntimeTest : public ::testing::Test {
protected:
  void SetUp() override {
    planFailure = 0;
    planExtent = -2;
    maxThreads = 7;
    reenter = nullptr;
    ASSERT_EQ(espalier_context_create(&program, &ctx), ESPALIER_OK);
  }
  void TearDown() override { espalier_context_destroy(ctx); }

  espalier_status run() { return espalier_run(ctx, inputs, 3, outputs, 1); }
  /// Runs and expects the given error.
  void expectError(const std::string &message) {
    EXPECT_EQ(run(), ESPALIER_INVALID_ARGUMENT);
    EXPECT_EQ(espalier_last_error(ctx), message);
  }

  espalier_program program = makeProgram();
  espalier_context *ctx = nullptr;
  int64_t extents[2] = {3, 2};
  int64_t otherExtents[2] = {3, 2};
  int64_t outExtents[2] = {3, 2};
  int64_t flagExtents[1] = {2};
  float x[8] = {1, 2, 3, 4, 5, 6};
  float z[8] = {10, 20, 30, 40, 50, 60};
  unsigned char flags[2] = {0, 1};
  float y[8] = {};
  espalier_tensor inputs[3] = {{x, ESPALIER_F32, 2, extents},
                               {z, ESPALIER_F32, 2, otherExtents},
                               {flags, ESPALIER_BOOL, 1, flagExtents}};
  espalier_tensor outputs[1] = {{y, ESPALIER_F32, 2, outExtents}};
};
} // namespace

TEST_F(RuntimeTest, runs) {
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(y[0], 11);
  EXPECT_EQ(y[5], 66);
  EXPECT_STREQ(espalier_last_error(ctx), "");
}

TEST_F(RuntimeTest, aRunAfterAnErrorClearsTheMessage) {
  inputs[0].rank = 1;
  run();
  inputs[0].rank = 2;
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_STREQ(espalier_last_error(ctx), "");
}

TEST_F(RuntimeTest, plansWithoutData) {
  int64_t planned[2] = {0, 0};
  inputs[0].data = nullptr;
  EXPECT_EQ(espalier_plan(ctx, inputs, 3, planned), ESPALIER_OK);
  EXPECT_EQ(planned[0], 3);
  EXPECT_EQ(planned[1], 2);
  EXPECT_EQ(espalier_plan(ctx, inputs, 3, nullptr), ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "expects a place for the extents, but got a null pointer");
}

TEST_F(RuntimeTest, emptyTensorsNeedNoData) {
  extents[0] = otherExtents[0] = outExtents[0] = flagExtents[0] = 0;
  inputs[0].data = inputs[1].data = inputs[2].data = nullptr;
  outputs[0].data = nullptr;
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, oneInputMayBeGivenTwice) {
  inputs[1].data = x;
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(y[0], 2);
}

TEST_F(RuntimeTest, countsAreChecked) {
  EXPECT_EQ(espalier_run(ctx, inputs, 2, outputs, 1),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects 3 inputs, but got 2");
  EXPECT_EQ(espalier_run(ctx, inputs, 3, outputs, 0),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects 1 outputs, but got 0");
  EXPECT_EQ(espalier_run(ctx, nullptr, 3, outputs, 1),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects inputs, but got a null pointer");
  EXPECT_EQ(espalier_run(ctx, inputs, 3, nullptr, 1),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects outputs, but got a null pointer");
}

TEST_F(RuntimeTest, typeIsChecked) {
  inputs[0].dtype = ESPALIER_F64;
  expectError("input 'x' expects elements of type f32, but got f64");
  inputs[0].dtype = 1000;
  expectError("input 'x' expects elements of type f32, but got ?");
}

TEST_F(RuntimeTest, rankIsChecked) {
  inputs[0].rank = 1;
  expectError("input 'x' expects rank 2 with extents [n, 2], but got rank 1");
  inputs[0].rank = -1;
  expectError("input 'x' expects rank 2 with extents [n, 2], but got rank -1");
}

TEST_F(RuntimeTest, extentsAreChecked) {
  inputs[0].extents = nullptr;
  expectError("input 'x' expects extents, but got a null pointer");
  inputs[0].extents = extents;
  extents[0] = -1;
  expectError("input 'x' expects extents [n, 2], but got -1 in dimension 0");
  extents[0] = 3;
  extents[1] = 5;
  expectError("input 'x' expects extents [n, 2], but got 5 in dimension 1");
  extents[1] = 2;
  flagExtents[0] = -7;
  expectError("input 'flags' expects extents [?], but got -7 in dimension 0");
}

TEST_F(RuntimeTest, productsAreChecked) {
  extents[0] = kMax;
  expectError("input 'x' expects fewer than 2^63 bytes, but got extents whose "
              "product is larger");
}

TEST_F(RuntimeTest, namedExtentsAreEqual) {
  otherExtents[0] = 4;
  expectError("input 'z' expects n = 3 in dimension 0 as in input 'x', but got "
              "4");
}

TEST_F(RuntimeTest, dataIsChecked) {
  inputs[0].data = nullptr;
  expectError("input 'x' expects 24 bytes of data, but got a null pointer");
  inputs[0].data = reinterpret_cast<char *>(x) + 1;
  EXPECT_EQ(run(), ESPALIER_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(espalier_last_error(ctx))
                .rfind("input 'x' expects data at a multiple of 4 bytes, but "
                       "got address 0x",
                       0),
            0u);
  inputs[0].data = reinterpret_cast<void *>(~uintptr_t(7));
  EXPECT_EQ(run(), ESPALIER_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(espalier_last_error(ctx))
                .rfind("input 'x' expects data inside the address space, but "
                       "got 24 bytes at 0x",
                       0),
            0u);
}

TEST_F(RuntimeTest, truthValuesAreChecked) {
  flags[1] = 3;
  expectError("input 'flags' expects truth values 0 and 1, but got 3 in "
              "element 1");
}

TEST_F(RuntimeTest, valuesAreChecked) {
  espalier_tensor_info infos[3] = {kInputs[0], kInputs[1], kInputs[2]};
  infos[2].dtype = ESPALIER_I32;
  infos[2].properties = ESPALIER_BOUNDED | ESPALIER_INJECTIVE;
  infos[2].bound_symbol = "n";
  program.inputs = infos;
  int32_t places[3] = {2, 0, 1};
  flagExtents[0] = 3;
  inputs[2] = {places, ESPALIER_I32, 1, flagExtents};
  EXPECT_EQ(run(), ESPALIER_OK);
  places[1] = 2;
  expectError("input 'flags' expects different values, but got 2 once more in "
              "element 1");
  places[1] = 3;
  expectError("input 'flags' expects values from 0 to less than 3, but got 3 "
              "in element 1");
  places[1] = -1;
  expectError("input 'flags' expects values from 0 to less than 3, but got -1 "
              "in element 1");
  // A bound of a name and a number.
  infos[2].bound = 1;
  places[1] = 3;
  EXPECT_EQ(run(), ESPALIER_OK);
  places[1] = 4;
  expectError("input 'flags' expects values from 0 to less than 4, but got 4 "
              "in element 1");
  places[1] = -1;
  infos[2].properties = ESPALIER_BOUNDED;
  infos[2].bound_symbol = nullptr;
  infos[2].bound = 2;
  expectError("input 'flags' expects values from 0 to less than 2, but got 2 "
              "in element 0");
  places[0] = places[1] = places[2];
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, orderedValuesAreChecked) {
  espalier_tensor_info infos[3] = {kInputs[0], kInputs[1], kInputs[2]};
  infos[2].dtype = ESPALIER_I32;
  infos[2].properties = ESPALIER_MONOTONIC;
  program.inputs = infos;
  int32_t starts[3] = {-2, 0, 0};
  flagExtents[0] = 3;
  inputs[2] = {starts, ESPALIER_I32, 1, flagExtents};
  EXPECT_EQ(run(), ESPALIER_OK);
  starts[2] = -1;
  expectError("input 'flags' expects values that do not decrease, but got -1 "
              "after 0 in element 2");
  // As unsigned numbers, these do not.
  infos[2].dtype = inputs[2].dtype = ESPALIER_U64;
  uint64_t large[3] = {1, uint64_t(1) << 63, (uint64_t(1) << 63) + 1};
  inputs[2].data = large;
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, longListsAreCheckedAlike) {
  espalier_tensor_info infos[3] = {kInputs[0], kInputs[1], kInputs[2]};
  infos[2].properties = ESPALIER_BOUNDED | ESPALIER_MONOTONIC;
  infos[2].bound_symbol = nullptr;
  infos[2].bound = 70;
  program.inputs = infos;
  flagExtents[0] = 70;
  // In vectors of the program's machine, if this one has them, and in others.
  static const char *const wide[] = {"avx2", nullptr};
  bool isWide = llvm::sys::getHostCPUFeatures().lookup("avx2");
  auto check = [&](auto number, int32_t dtype) {
    using T = decltype(number);
    std::vector<T> values(70);
    infos[2].dtype = dtype;
    inputs[2] = {values.data(), dtype, 1, flagExtents};
    for (int place = 0; place < 70; ++place) {
      for (T i = 0; i < 70; ++i)
        values[i] = i;
      EXPECT_EQ(run(), ESPALIER_OK);
      for (T wrong : {T(-1), T(70), std::numeric_limits<T>::min()}) {
        values[place] = wrong;
        EXPECT_EQ(run(), ESPALIER_INVALID_ARGUMENT);
      }
      // Those behind are less, but for the last one.
      values[place] = 69;
      EXPECT_EQ(run(), place >= 68 ? ESPALIER_OK : ESPALIER_INVALID_ARGUMENT);
    }
  };
  for (bool own : {isWide, false}) {
    program.features = own ? wide : nullptr;
    check(int32_t(), ESPALIER_I32);
    check(int64_t(), ESPALIER_I64);
  }
}

TEST_F(RuntimeTest, outputsFollowThePlan) {
  outExtents[0] = 2;
  expectError(
      "output 'y' expects extent 3 in dimension 0 for these inputs, but "
      "got 2");
  EXPECT_EQ(y[0], 0);
}

TEST_F(RuntimeTest, outputsHaveMemoryOfTheirOwn) {
  outputs[0].data = z + 5;
  expectError("output 'y' expects memory of its own, but got memory that "
              "overlaps input 'z'");
  outputs[0].data = nullptr;
  expectError("output 'y' expects 24 bytes of data, but got a null pointer");
}

TEST_F(RuntimeTest, dataIsCheckedBeforeTheRun) {
  static const char *const messages[] = {"expects less", "but got x[%] = %"};
  program.check_messages = messages;
  program.check = [](void *const *data, const int64_t *extents,
                     int64_t *record) {
    record[0] = 2;
    record[1] = extents[0];
    record[2] = -int64_t(static_cast<const float *>(data[0])[0]);
  };
  expectError("program 'sum' but got x[3] = -1");
  EXPECT_EQ(y[0], 0);
  program.check = [](void *const *, const int64_t *, int64_t *) {};
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, aRunReportsWhatItFindsInItsOwnData) {
  static const char *const messages[] = {"expects one, but got %"};
  program.check_messages = messages;
  program.run = [](void *const *data, const int64_t *, void *, const void *) {
    auto *record = static_cast<int64_t *>(data[4]);
    EXPECT_EQ(record[0], 0);
    record[0] = 1;
    record[1] = -7;
  };
  for (int i = 0; i < 2; ++i)
    expectError("program 'sum' expects one, but got -7");
  program.run = runSum;
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, aMessageHasNoMoreNumbersThanTheRecord) {
  static std::string places = "but got";
  for (int64_t i = 0; i < ESPALIER_RECORD_SIZE + 1; ++i)
    places += " %";
  static const char *const messages[] = {places.c_str()};
  program.check_messages = messages;
  program.check = [](void *const *, const int64_t *, int64_t *record) {
    for (int64_t i = 0; i < ESPALIER_RECORD_SIZE; ++i)
      record[i] = i == 0 ? 1 : i + 100;
  };
  std::string expected = "program 'sum' but got";
  for (int64_t i = 1; i < ESPALIER_RECORD_SIZE; ++i)
    expected += " " + std::to_string(i + 100);
  expectError(expected + " % %");
}

TEST_F(RuntimeTest, aLongMessageIsCut) {
  static std::string text = "but got % and " + std::string(1000, 'x');
  static const char *const messages[] = {text.c_str()};
  program.check_messages = messages;
  program.check = [](void *const *, const int64_t *, int64_t *record) {
    record[0] = 1;
    record[1] = std::numeric_limits<int64_t>::min();
  };
  EXPECT_EQ(run(), ESPALIER_INVALID_ARGUMENT);
  std::string message = espalier_last_error(ctx);
  EXPECT_EQ(message.find("program 'sum' but got -9223372036854775808 and xxx"),
            0u);
  EXPECT_LT(message.size(), 512u);
}

TEST_F(RuntimeTest, planMessagesReachTheCaller) {
  planFailure = -1;
  expectError("program 'sum' expects an even n; got x: 3x2, z: 3x2, "
              "flags: 2");
  planFailure = -2;
  expectError("program 'sum' expects 100%: 3 is not -7, nor %; got x: 3x2, z: "
              "3x2, flags: 2");
  planFailure = std::numeric_limits<int64_t>::min();
  expectError("program 'sum' expects sizes that fit into 63 bits; got x: "
              "3x2, z: 3x2, flags: 2");
  planFailure = 0;
  planExtent = -5;
  expectError("output 'y' expects inputs that give it an extent of at least 0 "
              "in dimension 0, but got -5");
}

TEST_F(RuntimeTest, anArenaThatDoesNotExistIsAnError) {
  planFailure = kMax - 63;
  EXPECT_EQ(run(), ESPALIER_OUT_OF_MEMORY);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects 9223372036854775744 bytes for "
               "intermediate tensors, but got none");
  planFailure = 0;
  EXPECT_EQ(run(), ESPALIER_OK);
}

TEST_F(RuntimeTest, threadsAreSetForTheRunOnly) {
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(threadsInRun, 7);
  EXPECT_EQ(espalier_set_num_threads(ctx, 2), ESPALIER_OK);
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(threadsInRun, 2);
  EXPECT_EQ(maxThreads, 7);
  EXPECT_EQ(espalier_set_num_threads(ctx, 0), ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(ctx),
               "expects 1 to 1024 threads, but got 0");
}

TEST_F(RuntimeTest, aProgramWithoutThreadsTakesOne) {
  program.set_num_threads = nullptr;
  EXPECT_EQ(espalier_set_num_threads(ctx, 1), ESPALIER_OK);
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(espalier_set_num_threads(ctx, 2), ESPALIER_UNSUPPORTED);
  EXPECT_STREQ(espalier_last_error(ctx),
               "program 'sum' expects 1 thread, for which it was compiled, but "
               "got 2");
}

TEST_F(RuntimeTest, aContextServesOneCallAtATime) {
  reenter = ctx;
  EXPECT_EQ(run(), ESPALIER_OK);
  EXPECT_EQ(reenterStatus, ESPALIER_BUSY);
}

TEST_F(RuntimeTest, contextsOfOneProgramRunAtOnce) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this] {
      espalier_context *own;
      ASSERT_EQ(espalier_context_create(&program, &own), ESPALIER_OK);
      float result[6];
      espalier_tensor output = {result, ESPALIER_F32, 2, outExtents};
      for (int round = 0; round < 100; ++round)
        EXPECT_EQ(espalier_run(own, inputs, 3, &output, 1), ESPALIER_OK);
      EXPECT_EQ(result[5], 66);
      espalier_context_destroy(own);
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST_F(RuntimeTest, callsOfOneContextAtOnceAreBusyOrRight) {
  std::vector<std::thread> threads;
  std::atomic<int> numRuns = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([this, &numRuns, i] {
      auto expectAnswer = [](espalier_status status) {
        EXPECT_TRUE(status == ESPALIER_OK || status == ESPALIER_BUSY) << status;
        return status == ESPALIER_OK;
      };
      float result[6] = {};
      espalier_tensor output = {result, ESPALIER_F32, 2, outExtents};
      for (int round = 0; round < 100; ++round) {
        int64_t planned[2];
        if (expectAnswer(espalier_run(ctx, inputs, 3, &output, 1))) {
          ++numRuns;
          EXPECT_EQ(result[5], 66);
        }
        expectAnswer(espalier_set_num_threads(ctx, 1 + i));
        if (expectAnswer(espalier_plan(ctx, inputs, 3, planned)))
          EXPECT_EQ(planned[0], 3);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_GT(numRuns, 0);
}

TEST(Runtime, creationIsChecked) {
  espalier_context *ctx = nullptr;
  espalier_program program = makeProgram();
  EXPECT_EQ(espalier_context_create(nullptr, &ctx), ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(nullptr),
               "expects a program, but got a null pointer");
  EXPECT_EQ(espalier_context_create(&program, nullptr),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_STREQ(espalier_last_error(nullptr),
               "expects a place for the context, but got a null pointer");
  program.abi_version = 99;
  EXPECT_EQ(espalier_context_create(&program, &ctx), ESPALIER_UNSUPPORTED);
  EXPECT_EQ(ctx, nullptr);
  EXPECT_EQ(espalier_last_error(nullptr),
            "expects a program with ABI version " +
                std::to_string(ESPALIER_ABI_VERSION) + ", but got version 99");
  EXPECT_EQ(espalier_run(nullptr, nullptr, 0, nullptr, 0),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_EQ(espalier_plan(nullptr, nullptr, 0, nullptr),
            ESPALIER_INVALID_ARGUMENT);
  EXPECT_EQ(espalier_set_num_threads(nullptr, 1), ESPALIER_INVALID_ARGUMENT);
  espalier_context_destroy(nullptr);
}

/// Makes a context for code that needs `features`, and frees it again.
static espalier_status createFor(std::vector<const char *> features) {
  espalier_context *ctx = nullptr;
  espalier_program program = makeProgram();
  features.push_back(nullptr);
  program.features = features.data();
  espalier_status status = espalier_context_create(&program, &ctx);
  EXPECT_EQ(ctx == nullptr, status != ESPALIER_OK);
  espalier_context_destroy(ctx);
  return status;
}

TEST(Runtime, extensionsAreChecked) {
  EXPECT_EQ(createFor({"an extension of the future"}), ESPALIER_OK);
#if defined(__x86_64__)
  // No machine has the extensions of both makers.
  EXPECT_EQ(createFor({"sse4a", "amx-tile"}), ESPALIER_UNSUPPORTED);
  // LLVM looks at the same machine.
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const char *name : {
#define X86_FEATURE(name, leaf, subleaf, register, bit, state) name,
#include "espalier-c/CpuFeatures.def"
       }) {
    auto known = host.find(name);
    if (known != host.end()) {
      EXPECT_EQ(createFor({name}) == ESPALIER_OK, known->second) << name;
    }
  }
#endif
}

TEST(Runtime, dtypesHaveSizesAndNames) {
  EXPECT_EQ(espalier_dtype_size(ESPALIER_BF16), 2u);
  EXPECT_STREQ(espalier_dtype_name(ESPALIER_U64), "u64");
  EXPECT_EQ(espalier_dtype_size(-1), 0u);
  EXPECT_STREQ(espalier_dtype_name(ESPALIER_NUM_DTYPES), "?");
}
