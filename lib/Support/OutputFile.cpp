//===- OutputFile.cpp - Files that appear complete or not at all ----------===//
//
// llvm::writeToOutput ends the process when the disk is full, and replaces the
// process's signal handlers to remove its temporary files. A file without a
// name (O_TMPFILE) needs no handlers.
//
//===----------------------------------------------------------------------===//

#include "espalier/Support/OutputFile.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace espalier;

/// Files in memory ignore the mask, so that only this part of a mode is used.
static constexpr unsigned kUsualMask = 022;

static llvm::Error makeError(llvm::StringRef path, std::error_code code) {
  return llvm::createStringError(code, "cannot write '" + path +
                                           "': " + code.message());
}

static std::error_code lastError() {
  return std::error_code(errno, std::generic_category());
}

/// Writes what `print` prints to `descriptor`. An error that stays in a stream
/// ends the process when the stream is destroyed.
static std::error_code
printTo(int descriptor, llvm::function_ref<void(llvm::raw_ostream &)> print) {
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
  print(stream);
  stream.flush();
  std::error_code code = stream.error();
  stream.clear_error();
  return code;
}

llvm::Expected<OutputFile> OutputFile::create(llvm::StringRef folder,
                                              unsigned mode) {
  std::string name = folder.empty() ? "." : folder.str();
  int descriptor = open(name.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
  // What kernels and file systems say that do not know O_TMPFILE.
  if (descriptor < 0 && (errno == EOPNOTSUPP || errno == EISDIR)) {
    descriptor = memfd_create("espalier", MFD_CLOEXEC);
    if (descriptor >= 0)
      (void)fchmod(descriptor, mode & ~kUsualMask);
  }
  if (descriptor < 0)
    return llvm::errorCodeToError(lastError());
  return OutputFile(descriptor);
}

OutputFile::~OutputFile() {
  if (descriptor >= 0)
    close(descriptor);
}

std::string OutputFile::getPath() const {
  return "/proc/" + std::to_string(getpid()) + "/fd/" +
         std::to_string(descriptor);
}

llvm::Error
OutputFile::write(llvm::function_ref<void(llvm::raw_ostream &)> print) const {
  return llvm::errorCodeToError(printTo(descriptor, print));
}

/// Copies `source` to the new file `path`.
static std::error_code copyTo(const char *path, int source) {
  struct stat status;
  if (fstat(source, &status) != 0)
    return lastError();
  int target = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC,
                    status.st_mode & 0777);
  if (target < 0)
    return lastError();
  std::error_code code;
  for (off_t done = 0; done < status.st_size && !code;) {
    ssize_t count = sendfile(target, source, &done, status.st_size - done);
    if (count < 0 && errno != EINTR)
      code = lastError();
    if (count == 0)
      code = std::make_error_code(std::errc::io_error);
  }
  // Some file systems report only here that the disk is full.
  if (close(target) != 0 && !code)
    code = lastError();
  return code;
}

llvm::Error OutputFile::publish(llvm::StringRef path) const {
  std::string source = getPath(), target = path.str();
  auto link = [&](const char *name) {
    return linkat(AT_FDCWD, source.c_str(), AT_FDCWD, name,
                  AT_SYMLINK_FOLLOW) == 0;
  };
  if (link(target.c_str()))
    return llvm::Error::success();
  // Only a rename replaces a file.
  llvm::SmallString<128> temporary;
  llvm::sys::fs::createUniquePath(path + ".%%%%%%%%", temporary,
                                  /*MakeAbsolute=*/false);
  std::error_code code;
  if (!link(temporary.c_str()))
    code = copyTo(temporary.c_str(), descriptor);
  if (!code && rename(temporary.c_str(), target.c_str()) != 0)
    code = lastError();
  if (!code)
    return llvm::Error::success();
  unlink(temporary.c_str());
  return makeError(path, code);
}

llvm::Error
espalier::writeFile(llvm::StringRef path,
                    llvm::function_ref<void(llvm::raw_ostream &)> print) {
  struct stat status;
  if (stat(path.str().c_str(), &status) == 0 && !S_ISREG(status.st_mode)) {
    int descriptor = open(path.str().c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0)
      return makeError(path, lastError());
    std::error_code code = printTo(descriptor, print);
    if (close(descriptor) != 0 && !code)
      code = lastError();
    return code ? makeError(path, code) : llvm::Error::success();
  }
  llvm::Expected<OutputFile> file =
      OutputFile::create(llvm::sys::path::parent_path(path));
  if (!file)
    return makeError(path, llvm::errorToErrorCode(file.takeError()));
  if (llvm::Error error = file->write(print))
    return makeError(path, llvm::errorToErrorCode(std::move(error)));
  return file->publish(path);
}
